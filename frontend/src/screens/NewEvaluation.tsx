// From documents, or from nothing but a question, to an evaluation that others submit their systems to.

import { useSignal } from "@preact/signals";
import { zipSync, type Zippable } from "fflate";
import { post, type Documents } from "../api";
import { Field, Troubles, troubleOf, type Trouble } from "../parts/Field";
import { go } from "../state";
import { plural, typed } from "../parts/numbers";

const SHOWN_BY_FORM = new Set(["title", "kind", "question", "guidelines", "documents", "predicates", "types", "votes", "price", "currency", "half_width",
  "confidence_level", "read", "read_law", "token_price", "pair_price"]);

/** Lines such as "employer = works for" as an object; the words are the name itself where there are none. */
function readPredicates(text: string): Record<string, string> {
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  return Object.fromEntries(lines.map((line) => {
    const at = line.indexOf("=");
    const name = (at < 0 ? line : line.slice(0, at)).trim();
    return [name, at < 0 ? name : line.slice(at + 1).trim()];
  }));
}

/** Several files as one, which the service takes apart again. */
async function packed(files: File[]): Promise<File> {
  const inside: Zippable = {};
  for (const file of files) inside[file.name] = new Uint8Array(await file.arrayBuffer());
  return new File([zipSync(inside, { level: 1 }) as Uint8Array<ArrayBuffer>], "documents.zip"); // workers would need a laxer policy
}

export function NewEvaluation() {
  const kind = useSignal<"relations" | "items">("relations"), documents = useSignal<Documents | null>(null);
  const busy = useSignal(""), trouble = useSignal<Trouble | null>(null), badFile = useSignal<Trouble | null>(null);
  const title = useSignal(""), question = useSignal(""), guidelines = useSignal(""), predicates = useSignal("");
  const types = useSignal("person, organization, place"), votes = useSignal(3), price = useSignal("0"), currency = useSignal("");
  const halfWidth = useSignal("0.05"), level = useSignal("0.9"), read = useSignal(""), readLaw = useSignal("uniform");
  const tokenPrice = useSignal("0"), pairPrice = useSignal("0");

  const upload = async (event: Event) => {
    const chosen = Array.from((event.currentTarget as HTMLInputElement).files ?? []), first = chosen[0];
    if (first === undefined) return;
    busy.value = chosen.length === 1 ? `Reading ${first.name}…` : `Reading ${plural(chosen.length, "file")}…`;
    documents.value = badFile.value = trouble.value = null;
    try {
      const file = chosen.length === 1 ? first : await packed(chosen);
      documents.value = await post<Documents>(`/documents?name=${encodeURIComponent(file.name)}`, file);
      if (title.value === "" && chosen.length === 1) title.value = file.name.replace(/\.\w+$/, "");
    } catch (error) { badFile.value = troubleOf(error); }
    busy.value = "";
  };
  const begin = async (event: Event) => {
    event.preventDefault();
    const ofRelations = kind.value === "relations";
    if (ofRelations && documents.value === null) { badFile.value = { field: null, text: "Choose the documents first.", defects: [] }; return; }
    busy.value = "Making the evaluation…";
    trouble.value = null;
    try {
      const made = await post<{ project: string }>("/evaluations", {
        title: title.value, kind: kind.value, question: question.value, guidelines: guidelines.value, votes: votes.value,
        price: typed(price.value), currency: currency.value, half_width: typed(halfWidth.value), confidence_level: typed(level.value),
        ...ofRelations && {
          documents: documents.value!.source, predicates: readPredicates(predicates.value),
          types: types.value.split(",").map((each) => each.trim()).filter((each) => each !== ""),
          read: read.value === "" ? null : Number(read.value), read_law: readLaw.value,
          token_price: typed(tokenPrice.value), pair_price: typed(pairPrice.value),
        },
      });
      go(`/e/${made.project}`);
    } catch (error) { trouble.value = troubleOf(error); }
    busy.value = "";
  };

  const found = documents.value, wrong = trouble.value, blamed = Object.keys(wrong?.fields ?? {});
  const elsewhere = wrong !== null && !(blamed.length > 0 ? blamed : [wrong.field ?? ""]).every((name) => SHOWN_BY_FORM.has(name));
  return <main class="form">
    <h1>New evaluation</h1>
    <form onSubmit={begin}>
      <section class="card" aria-labelledby="what-title">
        <h2 id="what-title">What is evaluated</h2>
        <fieldset><legend>Systems find</legend>
          <label class="check"><input type="radio" name="kind" checked={kind.value === "relations"} onChange={() => { kind.value = "relations"; }} /> relations that documents state</label>
          <label class="check"><input type="radio" name="kind" checked={kind.value === "items"} onChange={() => { kind.value = "items"; }} /> items of any kind, each with an id</label>
        </fieldset>
        {kind.value === "relations" && <>
          <label class="file"><span>Documents</span><input type="file" multiple accept=".txt,.ann,.zip,.jsonl,.ndjson,.json" aria-describedby="documents-hint" onChange={upload} /></label>
          <p class="hint" id="documents-hint">JSON lines with <code>id</code> and <code>text</code>, an export of Label Studio, or text files, each with brat’s <code>.ann</code> file if mentions are known: choose all files of the folder, or a zip of it.</p>
          {badFile.value !== null && <Troubles trouble={badFile.value} />}
          {found !== null && <div class="sample" aria-label="The documents">
            <p><strong><bdi>{found.name}</bdi></strong>: {plural(found.n_documents, "document")}, {plural(found.n_tokens, "token")}{found.n_with_mentions > 0 && `, known mentions in ${found.n_with_mentions.toLocaleString("en-US")}`}.</p>
            {found.first.map((each) => <p key={each.name} class="hint beginning"><bdi>{each.name}</bdi>: <bdi>{each.text}</bdi></p>)}
          </div>}
        </>}
        <p role="status" class="hint">{busy.value}</p>
      </section>
      <section class="card" aria-labelledby="task-title">
        <h2 id="task-title">The task</h2>
        <Field name="title" label="Title" trouble={wrong}>
          <input required maxLength={200} value={title.value} onInput={(event) => { title.value = event.currentTarget.value; }} /></Field>
        <Field name="guidelines" label="Guidelines" hint="Markdown; participants and annotators see it." trouble={wrong}>
          <textarea rows={6} maxLength={100_000} value={guidelines.value} onInput={(event) => { guidelines.value = event.currentTarget.value; }} /></Field>
        <Field name="question" label="Question" hint="What people are asked about each item; a usual one if empty." trouble={wrong}>
          <input maxLength={2000} value={question.value} onInput={(event) => { question.value = event.currentTarget.value; }} /></Field>
        {kind.value === "relations" && <>
          <Field name="predicates" label="Predicates" hint="One a line, and how people read it: employer = works for. Any are taken if empty." trouble={wrong}>
            <textarea rows={4} value={predicates.value} onInput={(event) => { predicates.value = event.currentTarget.value; }} /></Field>
          <Field name="types" label="Kinds of mentions" hint="With commas between them." trouble={wrong}>
            <input required value={types.value} onInput={(event) => { types.value = event.currentTarget.value; }} /></Field>
        </>}
      </section>
      <section class="card" aria-labelledby="labels-title">
        <h2 id="labels-title">The labels</h2>
        <div class="row">
          <Field name="half_width" label="Precision known to within ±" trouble={wrong}>
            <input required inputMode="decimal" value={halfWidth.value} onInput={(event) => { halfWidth.value = event.currentTarget.value; }} /></Field>
          <Field name="confidence_level" label="Confidence level" trouble={wrong}>
            <input required inputMode="decimal" value={level.value} onInput={(event) => { level.value = event.currentTarget.value; }} /></Field>
        </div>
        <div class="row">
          <Field name="votes" label="People an item" hint="Three, five or more (an odd number) let the service correct for their errors." trouble={wrong}>
            <input type="number" min={1} max={25} required value={votes.value} onInput={(event) => { votes.value = event.currentTarget.valueAsNumber || 1; }} /></Field>
          <Field name="price" label="Price of an answer" trouble={wrong}>
            <input inputMode="decimal" value={price.value} onInput={(event) => { price.value = event.currentTarget.value; }} /></Field>
          <Field name="currency" label="Currency" trouble={wrong}>
            <input maxLength={8} value={currency.value} onInput={(event) => { currency.value = event.currentTarget.value; }} /></Field>
        </div>
      </section>
      {kind.value === "relations" && <section class="card" aria-labelledby="read-title">
        <h2 id="read-title">Documents to read, for recall</h2>
        <div class="row">
          <Field name="read" label="How many" hint="None if empty." trouble={wrong}>
            <input type="number" min={1} max={found?.n_documents} value={read.value} onInput={(event) => { read.value = event.currentTarget.value; }} /></Field>
          <Field name="read_law" label="Drawn" trouble={wrong}>
            <select value={readLaw.value} onChange={(event) => { readLaw.value = event.currentTarget.value; }}>
              <option value="uniform">uniformly</option><option value="entity">by entity</option></select></Field>
        </div>
        <div class="row">
          <Field name="token_price" label="Price of a token" trouble={wrong}>
            <input inputMode="decimal" value={tokenPrice.value} onInput={(event) => { tokenPrice.value = event.currentTarget.value; }} /></Field>
          <Field name="pair_price" label="Price of a pair of mentions" trouble={wrong}>
            <input inputMode="decimal" value={pairPrice.value} onInput={(event) => { pairPrice.value = event.currentTarget.value; }} /></Field>
        </div>
      </section>}
      {wrong !== null && elsewhere && <Troubles trouble={wrong} />}
      {wrong !== null && !elsewhere && <p class="problem">Something above needs a change.</p>}
      <p class="buttons"><button class="primary" disabled={busy.value !== ""}>Begin</button><a class="button" href="#/">Cancel</a></p>
    </form>
  </main>;
}
