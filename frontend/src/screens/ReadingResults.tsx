// What came of reading documents: how far people agree, what they found, what it cost, and recall that follows.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, post, type Project, type ReadingSummary, type Told } from "../api";
import { Troubles, troubleOf, type Trouble } from "../parts/Field";
import { Members } from "../parts/Members";
import { money, number, plural } from "../parts/numbers";

const EVERY = 4000;
const KAPPAS: Record<string, string> = { spans: "typed mentions", canonical: "canonical mentions", links: "links" };
const NO_RELATIONS = "Recall can use what was read once a document is read by all its readers and most of them state the same relation.";
const share = (value: number) => `${Math.round(100 * value)}%`;

export function ReadingResults({ slug }: { slug: string }) {
  const base = `/projects/${slug}`, evaluation = `/projects/${slug.replace(/-documents$/, "")}`;
  const project = useSignal<Project | null>(null), found = useSignal<ReadingSummary | null>(null);
  const problem = useSignal<Trouble | null>(null), said = useSignal("");
  const refresh = async () => {
    try { project.value ??= await get<Project>(base); found.value = await get<ReadingSummary>(`${base}/reading`); }
    catch (error) { problem.value = troubleOf(error); }
  };
  const tell = async (counts?: File) => {
    said.value = "";
    problem.value = null;
    try {
      const told = await post<Told>(`${evaluation}/reading/${counts === undefined ? "truth" : `counted-truth?file=${encodeURIComponent(counts.name)}`}`, counts);
      const once = told.counted === 0 ? "" : told.uncounted === 0 ? ", each counted once" : ` (${number(told.uncounted)} with no count of their documents, as if one stated them)`;
      said.value = `${plural(told.relations, "true relation")} told${once}: recall on the leaderboard is against everything true. ${told.naming.sentence}`;
    } catch (error) { problem.value = troubleOf(error); }
  };
  useEffect(() => {
    void refresh();
    const timer = setInterval(() => { if (!document.hidden) void refresh(); }, EVERY);
    return () => clearInterval(timer);
  }, [slug]);
  const now = found.value;
  if (project.value === null || now === null) return <main><p role="status">{problem.value?.text ?? "Loading…"}</p></main>;
  const owns = project.value.role === "owner", without = now.linked.filter((each) => each.linked === 0);
  return <main class="dashboard">
    <div class="bar"><h1>{project.value.title}</h1><p class="buttons">
      {project.value.role !== "viewer" && <a class="button primary" href={`#/r/${slug}`}>Read</a>}
      <a class="button" href={`#/e/${slug.replace(/-documents$/, "")}`}>Leaderboard</a>
      {owns && <button disabled={now.relations === 0} title={now.relations === 0 ? NO_RELATIONS : undefined} aria-describedby={now.relations === 0 ? "no-relations" : undefined} onClick={() => void tell()}>Use for recall</button>}</p></div>
    {problem.value !== null && <Troubles trouble={problem.value} />}
    {owns && now.relations === 0 && <p id="no-relations" class="hint">{NO_RELATIONS}</p>}
    <p role="status" class="said">{said.value}</p>
    <dl class="tiles">
      <div class="tile"><dt>documents read</dt><dd>{number(now.read)}<small>of {number(now.documents)}, by {project.value.votes} each</small></dd></div>
      <div class="tile"><dt>readings</dt><dd>{number(now.readings)}</dd></div>
      <div class="tile"><dt>relations agreed</dt><dd>{number(now.relations)}</dd></div>
      <div class="tile"><dt>tokens</dt><dd>{number(now.tokens)}</dd></div>
      <div class="tile"><dt>pairs</dt><dd>{number(now.pairs)}</dd></div>
      <div class="tile"><dt>spent</dt><dd>{money(now.spent, now.currency)}</dd></div>
    </dl>
    {now.relations > 0 && <section aria-labelledby="naming-title"><h2 id="naming-title">How relations are named</h2>
      <p id="naming">{now.naming.sentence}</p>
      {now.naming.doubt !== null && <p class="note">{now.naming.doubt}</p>}
      <p class="hint">Relations are the same where their ends have the same link, or the same name where there is none. What readers
        left unlinked takes the link that most others give the same words; kappa is over what readers said themselves.</p></section>}
    <section aria-labelledby="kappa-title"><h2 id="kappa-title">How far readers agree</h2>
      <p class="hint">Fleiss’ kappa over the tokens: 1 is perfect, 0 as by chance.</p>
      <table id="kappa"><tbody>{Object.entries(now.agreement).map(([name, value]) => <tr key={name}><th scope="row">{KAPPAS[name] ?? name}</th>
        <td>{value === null || (name === "links" && without.length > 0) ? "–" : value.toFixed(2)}</td></tr>)}</tbody></table>
      {now.linked.length > 1 && <p id="linked" class="hint">Links may be left out. {now.linked.map((each, place) => <span key={each.reader}>{place > 0 && ", "}<bdi>{each.reader}</bdi> linked {number(each.linked)} of {plural(each.mentions, "mention")}</span>)}.
        {without.length > 0 && " Kappa of links is shown once every reader links some."}</p>}</section>
    {now.found !== null && <section aria-labelledby="found-title"><h2 id="found-title">Share of the {number(now.found.spans)} known mentions that readers find</h2>
      <table><tbody>{now.found.together.map((value, place) => <tr key={place}><th scope="row">{place === 0 ? "one reader" : `${place + 1} readers together`}</th><td>{share(value)}</td></tr>)}
        <tr><th scope="row">their majority</th><td>{share(now.found.majority)}</td></tr></tbody></table></section>}
    {owns && now.relations > 0 && <section aria-labelledby="count-title"><h2 id="count-title">Relations that several documents state</h2>
      <p class="hint">Such a relation is found more often than others. Take the table away, fill in how many documents state each relation
        (<code>stated_in</code>), and send it back: each then counts once. Do so again after more was read: what you filled in is still there.</p>
      <form class="inline" onSubmit={(event) => {
        event.preventDefault();
        const file = event.currentTarget.querySelector<HTMLInputElement>("input[type=file]")?.files?.[0];
        if (file !== undefined) void tell(file);
      }}>
        <a class="button" href={`/api${evaluation}/reading/relations.csv`} download>The relations</a>
        <label class="wide">Filled in<input type="file" required accept=".csv" /></label>
        <button>Use these counts</button>
      </form></section>}
    {owns && <Members slug={slug} roles={{ annotator: "reader", viewer: "viewer", owner: "owner" }} />}
  </main>;
}
