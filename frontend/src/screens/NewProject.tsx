// From a table to a project: pick it, look at it, say what to ask.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, post, Refusal, type Campaign, type Preview, type Project } from "../api";
import { CampaignForm, EMPTY, VotesForm } from "../parts/CampaignForm";
import { Field, type Trouble } from "../parts/Field";
import { Item, show } from "../parts/Item";
import { MethodForm, startMethod, type Method } from "../parts/MethodForm";
import { go, messageOf } from "../state";

const SHOWN_BY_FORM = new Set(["title", "score", "id", "fields", "question", "options", "key", "label", "meaning", "value", "guidelines", "template",
  "price", "currency", "votes", "extra", "rule", "tie", "method", "absolute", "relative", "from_rank", "confidence_level", "budget", "epsilon",
  "window", "labels", "rank"]);
const troubleOf = (error: unknown): Trouble => ({ field: error instanceof Refusal ? error.field : null, text: messageOf(error) });

export function NewProject() {
  const files = useSignal<{ name: string; size: number }[] | null>(null);
  const table = useSignal<Preview | null>(null), busy = useSignal(""), trouble = useSignal<Trouble | null>(null);
  const title = useSignal(""), score = useSignal(""), id = useSignal(""), lower = useSignal(false);
  const campaign = useSignal<Campaign>(EMPTY), method = useSignal<Method>(startMethod("certify", 10_000));

  useEffect(() => {
    get<{ files: { name: string; size: number }[] | null }>("/files").then((found) => { files.value = found.files; }, (error) => { trouble.value = troubleOf(error); });
  }, []);
  const open = async (what: string, load: () => Promise<Preview>) => {
    busy.value = `Reading ${what}…`;
    trouble.value = null;
    try {
      const found = await load();
      table.value = found;
      title.value = found.name.replace(/^.*\//, "").replace(/\.\w+$/, "");
      score.value = found.score ?? "";
      id.value = found.id ?? "";
      campaign.value = { ...campaign.value, fields: found.columns.filter((column) => !found.hidden.includes(column)) };
      method.value = startMethod("certify", found.n_rows);
    } catch (error) { table.value = null; trouble.value = troubleOf(error); }
    busy.value = "";
  };
  const upload = (event: Event) => {
    const file = (event.currentTarget as HTMLInputElement).files?.[0];
    if (file !== undefined) void open(file.name, () => post<Preview>(`/uploads?name=${encodeURIComponent(file.name)}`, file));
  };
  const begin = async (event: Event) => {
    event.preventDefault();
    busy.value = "Ranking the items…";
    trouble.value = null;
    try {
      const made = await post<Project>("/projects", { title: title.value, source: table.value!.source, score: score.value, id: id.value || null,
        lower_is_better: lower.value, method: method.value, settings: campaign.value });
      go(`/p/${made.slug}`);
    } catch (error) { trouble.value = troubleOf(error); }
    busy.value = "";
  };

  const shown = table.value;
  const toggle = (column: string, on: boolean) => {
    const wanted = new Set(campaign.value.fields);
    if (on) wanted.add(column); else wanted.delete(column);
    campaign.value = { ...campaign.value, fields: shown!.columns.filter((each) => wanted.has(each)) };
  };
  return <main class="form">
    <h1>New project</h1>
    <section class="card" aria-labelledby="table-title">
      <h2 id="table-title">The table</h2>
      <p class="hint">One row an item, with a score to rank by: CSV, TSV, JSON lines or Parquet.</p>
      <label class="file"><span>Upload a file</span><input type="file" accept=".csv,.tsv,.jsonl,.ndjson,.parquet,.pq" onChange={upload} /></label>
      {files.value !== null && files.value.length > 0 && <label><span>or take one from the server's folder</span>
        <select onChange={(event) => { const name = event.currentTarget.value; if (name !== "") void open(name, () => get<Preview>(`/preview?source=${encodeURIComponent(`file:${name}`)}`)); }}>
          <option value="">–</option>{files.value.map((file) => <option key={file.name} value={file.name}>{file.name}</option>)}</select></label>}
      <p role="status" class="hint">{busy.value}</p>
      {trouble.value !== null && shown === null && <p class="problem" role="alert">{trouble.value.text}</p>}
    </section>
    {shown !== null && <form onSubmit={begin}>
      <section class="card" aria-labelledby="columns-title">
        <h2 id="columns-title">{shown.name}: {shown.n_rows.toLocaleString("en-US")} items</h2>
        <div class="scroll" tabIndex={0} role="region" aria-label="First rows"><table>
          <thead><tr>{shown.columns.map((column) => <th key={column} scope="col">{column}</th>)}</tr></thead>
          <tbody>{shown.rows.map((row, place) => <tr key={place}>{shown.columns.map((column) => <td key={column}>{show(row[column])}</td>)}</tr>)}</tbody>
        </table></div>
        <div class="row">
          <Field name="score" label="Ranked by" trouble={trouble.value}>
            <select required value={score.value} onChange={(event) => { score.value = event.currentTarget.value; }}>
              <option value="">–</option>{shown.columns.map((column) => <option key={column} value={column}>{column}</option>)}</select></Field>
          <Field name="id" label="Items are named by" hint="Must differ from row to row." trouble={trouble.value}>
            <select value={id.value} onChange={(event) => { id.value = event.currentTarget.value; }}>
              <option value="">their row number</option>{shown.columns.map((column) => <option key={column} value={column}>{column}</option>)}</select></Field>
        </div>
        <label class="check"><input type="checkbox" checked={lower.value} onChange={(event) => { lower.value = event.currentTarget.checked; }} /> The lowest score is the best</label>
        <fieldset class={trouble.value?.field === "fields" ? "wrong" : undefined}><legend>People see</legend>
          <div class="checks">{shown.columns.map((column) => <label key={column} class="check">
            <input type="checkbox" checked={campaign.value.fields.includes(column)} onChange={(event) => toggle(column, event.currentTarget.checked)} /> {column}</label>)}</div>
          <p class="hint">Not the score, and no answers that are known: they would lead people.</p>
          {trouble.value?.field === "fields" && <p class="problem" role="alert">{trouble.value.text}</p>}
        </fieldset>
      </section>
      <section class="card" aria-labelledby="question-title">
        <h2 id="question-title">The question</h2>
        <Field name="title" label="Title" trouble={trouble.value}>
          <input required maxLength={200} value={title.value} onInput={(event) => { title.value = event.currentTarget.value; }} /></Field>
        <CampaignForm value={campaign.value} onChange={(value) => { campaign.value = value; }} trouble={trouble.value} begun={false} />
        <div class="sample" aria-label="How an item looks"><p class="question">{campaign.value.question}</p>
          <Item fields={campaign.value.fields.map((name) => ({ name, value: shown.rows[0]?.[name] }))} template={campaign.value.template} /></div>
      </section>
      <section class="card" aria-labelledby="votes-title">
        <h2 id="votes-title">The people</h2>
        <VotesForm value={campaign.value} onChange={(value) => { campaign.value = value; }} trouble={trouble.value} />
      </section>
      <section class="card" aria-labelledby="target-title">
        <h2 id="target-title">The target</h2>
        <MethodForm value={method.value} onChange={(value) => { method.value = value; }} trouble={trouble.value} nItems={shown.n_rows} />
      </section>
      {trouble.value !== null && !SHOWN_BY_FORM.has(trouble.value.field ?? "") && <p class="problem" role="alert">{trouble.value.text}</p>}
      {trouble.value !== null && SHOWN_BY_FORM.has(trouble.value.field ?? "") && <p class="problem">Something above needs a change.</p>}
      <p class="buttons"><button class="primary" disabled={busy.value !== ""}>Begin</button><a class="button" href="#/">Cancel</a></p>
    </form>}
  </main>;
}
