// What people see can be changed while they work; what their answers mean cannot.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call, get, post, Refusal, type Campaign, type Settings as Stored } from "../api";
import { CampaignForm } from "../parts/CampaignForm";
import { Field, type Trouble } from "../parts/Field";
import { messageOf } from "../state";

export function Settings({ slug }: { slug: string }) {
  const base = `/projects/${slug}`;
  const title = useSignal(""), state = useSignal(""), campaign = useSignal<Campaign | null>(null);
  const trouble = useSignal<Trouble | null>(null), said = useSignal("");
  const gold = useSignal<File | null>(null), truth = useSignal("label"), id = useSignal("");
  const fail = (error: unknown) => { said.value = ""; trouble.value = { field: error instanceof Refusal ? error.field : null, text: messageOf(error) }; };
  const accept = (found: Stored) => { title.value = found.title; state.value = found.state; campaign.value = found.settings; };
  useEffect(() => { get<Stored>(`${base}/settings`).then(accept, fail); }, [slug]);
  const save = async (event: Event) => {
    event.preventDefault();
    trouble.value = null;
    const { question, options, guidelines, template, price, currency, gold_share } = campaign.value!;
    try {
      accept(await call<Stored>("PATCH", `${base}/settings`,
        { title: title.value, state: state.value, settings: { question, options, guidelines, template, price, currency, gold_share } }));
      said.value = "Saved.";
    } catch (error) { fail(error); }
  };
  const addGold = async (event: Event) => {
    event.preventDefault();
    trouble.value = null;
    const file = gold.value;
    if (file === null) return;
    const query = new URLSearchParams({ name: file.name, truth: truth.value, ...(id.value === "" ? {} : { id: id.value }) });
    try {
      const { added } = await post<{ added: number }>(`${base}/gold?${query}`, file);
      said.value = `${added.toLocaleString("en-US")} gold questions added.`;
    } catch (error) { fail(error); }
  };
  if (campaign.value === null) return <main><p role="status">{trouble.value?.text ?? "Loading…"}</p></main>;
  const known = campaign.value;
  return <main class="form">
    <div class="bar"><h1>Settings</h1><a class="button" href={`#/p/${slug}`}>Back to the project</a></div>
    <form onSubmit={save}>
      <section class="card" aria-labelledby="see-title">
        <h2 id="see-title">What people see</h2>
        <Field name="title" label="Title" trouble={trouble.value}>
          <input required maxLength={200} value={title.value} onInput={(event) => { title.value = event.currentTarget.value; }} /></Field>
        <CampaignForm value={known} onChange={(value) => { campaign.value = value; }} trouble={trouble.value} begun />
        <div class="row">
          <Field name="state" label="The project is" trouble={trouble.value}>
            <select value={state.value} onChange={(event) => { state.value = event.currentTarget.value; }}>
              <option value="open">open</option><option value="paused">paused: nothing is handed out</option><option value="closed">closed: no answer is taken</option></select></Field>
          <Field name="gold_share" label="Share of gold questions" hint="0 to 0.5" trouble={trouble.value}>
            <input inputMode="decimal" value={known.gold_share} onChange={(event) => { campaign.value = { ...known, gold_share: Number(event.currentTarget.value) }; }} /></Field>
        </div>
        <p class="hint">{known.votes} {known.votes === 1 ? "person" : "people"} an item{known.extra > 0 && `, up to ${known.extra} more where they disagree`},
          labels by {known.rule}: these stay as the project began.</p>
        <p class="buttons"><button class="primary">Save</button></p>
      </section>
    </form>
    <form onSubmit={addGold}>
      <section class="card" aria-labelledby="gold-title">
        <h2 id="gold-title">Gold questions</h2>
        <p class="hint">A table of items whose answer you know, with the columns that people see. They come unnoticed among the others and show how well
          each person does; they are no part of the curve.</p>
        <label class="file"><span>Table</span><input type="file" required accept=".csv,.tsv,.jsonl,.ndjson,.parquet,.pq" onChange={(event) => { gold.value = event.currentTarget.files?.[0] ?? null; }} /></label>
        <div class="row">
          <Field name="truth" label="Column with the answers" trouble={trouble.value}><input required value={truth.value} onInput={(event) => { truth.value = event.currentTarget.value; }} /></Field>
          <Field name="id" label="Column with the ids" hint="Empty: none" trouble={trouble.value}><input value={id.value} onInput={(event) => { id.value = event.currentTarget.value; }} /></Field>
        </div>
        <p class="buttons"><button>Add them</button></p>
      </section>
    </form>
    <p role="status">{said.value}</p>
    {trouble.value !== null && <p class="problem" role="alert">{trouble.value.text}</p>}
  </main>;
}
