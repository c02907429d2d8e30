// The task: what to submit, who stands where, what it cost, and what the owner still has to decide.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import {
  call, get, newRequest, post, Refusal, type Dispute, type Evaluation as Task, type Leaderboard, type Project, type Submission,
} from "../api";
import { Disputes } from "../parts/Disputes";
import { Troubles, troubleOf, type Trouble } from "../parts/Field";
import { Guidelines } from "../parts/Guidelines";
import { Members } from "../parts/Members";
import { Publication } from "../parts/Publication";
import { Scores, type Metric } from "../parts/Scores";
import { Spent } from "../parts/Spent";
import { go, me } from "../state";
import { money, number, plural } from "../parts/numbers";

const EVERY = 4000;

function AllowanceForm({ task, busy, onSave }: { task: Task; busy: boolean; onSave: (each: number, inAll: number) => void }) {
  const each = useSignal(String(task.allowance.each)), inAll = useSignal(String(task.allowance.in_all));
  const worth = (labels: string) => task.label_price > 0 ? ` (${money(Number(labels) * task.label_price, task.currency)})` : "";
  return <section aria-labelledby="allow-title">
    <h2 id="allow-title">Accepted unasked</h2>
    <form class="inline" onSubmit={(event) => { event.preventDefault(); onSave(Number(each.value), Number(inAll.value)); }}>
      <label class="wide">Labels a submission may need{worth(each.value)}
        <input type="number" min={0} required value={each.value} onInput={(event) => { each.value = event.currentTarget.value; }} /></label>
      <label class="wide">Labels of all of them together{worth(inAll.value)}
        <input type="number" min={0} required value={inAll.value} onInput={(event) => { inAll.value = event.currentTarget.value; }} /></label>
      <button disabled={busy}>Save</button>
    </form>
    <p class="hint">0: you are asked about every submission. Each counts with the most that it may need; {plural(task.allowance.used, "label")} used so far{task.allowance.beyond > 0 && `, and ${number(task.allowance.beyond)} more that draws took beyond what submissions were said to need`}.</p>
  </section>;
}

function ReadingForm({ task, busy, onDraw }: { task: Task; busy: boolean; onDraw: (documents: number, law: string, votes: number) => void }) {
  const documents = useSignal("10"), law = useSignal("uniform"), votes = useSignal("3");
  return <section aria-labelledby="read-title">
    <h2 id="read-title">Documents to read, for recall</h2>
    <form class="inline" onSubmit={(event) => { event.preventDefault(); onDraw(Number(documents.value), law.value, Number(votes.value)); }}>
      <label>How many<input type="number" min={1} max={task.n_documents} required value={documents.value} onInput={(event) => { documents.value = event.currentTarget.value; }} /></label>
      <label>Readers of each<input type="number" min={1} max={25} required value={votes.value} onInput={(event) => { votes.value = event.currentTarget.value; }} /></label>
      <label>Drawn<select value={law.value} onChange={(event) => { law.value = event.currentTarget.value; }}>
        <option value="uniform">uniformly</option><option value="entity">by entity</option></select></label>
      <button disabled={busy}>Draw them</button>
    </form>
    <p class="hint">Until documents are read exhaustively, recall is against what the systems found together. They are drawn once; by entity needs known mentions in every document.</p>
  </section>;
}

export function Evaluation({ slug }: { slug: string }) {
  const base = `/projects/${slug}`;
  const task = useSignal<Task | null>(null), board = useSignal<Leaderboard | null>(null);
  const submissions = useSignal<Submission[]>([]), problem = useSignal<Trouble | null>(null), said = useSignal("");
  const metric = useSignal<Metric>("f1"), name = useSignal(""), busy = useSignal(false), leaving = useSignal<number | null>(null);
  const project = useSignal<Project | null>(null), disputes = useSignal<Dispute[]>([]);
  const owns = task.value?.role === "owner", submits = task.value !== null && task.value.role !== "annotator";

  const refresh = async () => {
    try {
      task.value = await get<Task>(`${base}/evaluation`);
      board.value = await get<Leaderboard>(`${base}/leaderboard?metric=${metric.value}`);
      if (task.value.role === "owner") {
        project.value ??= await get<Project>(base);
        disputes.value = await get<Dispute[]>(`${base}/disagreements`);
      }
      if (task.value.role !== "annotator") submissions.value = await get<Submission[]>(`${base}/submissions`);
    } catch (error) {
      if (error instanceof Refusal && error.status === 401) me.value = null;
      problem.value = troubleOf(error);
    }
  };
  const act = async (work: () => Promise<string>) => {
    busy.value = true;
    try { said.value = ""; problem.value = null; said.value = await work(); } catch (error) { problem.value = troubleOf(error); }
    busy.value = false;
    await refresh();
  };
  const rule = async (dispute: Dispute, value: string) => {
    try { await post(`${base}/adjudications`, { item: dispute.item, value, request: newRequest() }); } catch (error) { problem.value = troubleOf(error); }
    await refresh();
  };
  const submit = (event: Event) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const file = form.querySelector<HTMLInputElement>("input[type=file]")?.files?.[0];
    if (file === undefined) return;
    void act(async () => {
      const query = new URLSearchParams({ system: name.value, file: file.name });
      const found = await post<Submission>(`${base}/submissions?${query}`, file);
      name.value = "";
      form.reset();
      return `${found.system}: ${plural(found.n_predictions, "prediction")}, ${number(found.n_new)} of them new. ${price(found)} ${found.state === "accepted" ? "It is accepted." : "It waits for the owner."}${found.warnings.map((text) => ` ${text}`).join("")}`;
    });
  };
  const price = (each: Submission) => {
    const labels = each.first.labels === each.most.labels ? plural(each.most.labels, "label")
      : `${number(each.first.labels)} to ${plural(each.most.labels, "label")}`;
    return each.most.money > 0 ? `Needs ${labels}: ${money(each.first.money, "")} to ${money(each.most.money, each.most.currency)}.` : `Needs ${labels}.`;
  };
  useEffect(() => {
    void refresh();
    const timer = setInterval(() => { if (!document.hidden) void refresh(); }, EVERY);
    return () => clearInterval(timer);
  }, [slug]);

  const now = task.value, shown = board.value;
  if (now === null) return <main><p role="status">{problem.value?.text ?? "Loading…"}</p></main>;
  const mine = submissions.value.filter((each) => each.state === "checked" || each.state === "accepted");
  return <main class="dashboard evaluation">
    <div class="bar">
      <h1>{now.title}</h1>
      <p class="buttons">
        {now.role !== "viewer" && <a class="button primary" href={`#/p/${slug}/label`}>Label</a>}
        {now.reading !== null && owns && <a class="button" href={`#/r/${now.reading}/results`}>Documents</a>}
      </p>
    </div>
    {problem.value !== null && <Troubles trouble={problem.value} />}
    <p role="status" class="said">{said.value}</p>
    <dl class="tiles">
      <div class="tile"><dt>labels</dt><dd>{number(now.labelled)}{now.open > 0 && <small>{number(now.open)} to go</small>}</dd></div>
      <div class="tile"><dt>answers</dt><dd>{number(now.answers)}</dd></div>
      <Spent of={now} />
      {now.n_documents > 0 && <div class="tile"><dt>documents</dt><dd>{number(now.n_documents)}</dd></div>}
      <div class="tile"><dt>goal</dt><dd>± {now.half_width}<small>precision, {Math.round(100 * now.confidence_level)}% sure</small></dd></div>
    </dl>
    <Scores board={shown} role={now.role} metric={metric.value} onMetric={(chosen) => { metric.value = chosen; void refresh(); }}>
      {owns ? <Publication slug={slug} task={now} busy={busy.value} onChange={(audience, text) => void act(async () => {
        await call("PUT", `${base}/publication`, audience === "nobody" ? { published: false } : { published: true, audience });
        return text;
      })} /> : submits && !now.published && <p class="note">Not published: you see your own systems alone, without ranks.</p>}
    </Scores>
    {submits && <section aria-labelledby="submit-title">
      <h2 id="submit-title">Submit</h2>
      <form class="inline" onSubmit={submit}>
        <label class="wide">System<input required maxLength={100} value={name.value} onInput={(event) => { name.value = event.currentTarget.value; }} /></label>
        <label class="wide">Predictions<input type="file" required accept=".csv,.tsv,.jsonl,.parquet,.run" /></label>
        <button class="primary" disabled={busy.value}>Check</button>
      </form>
      <p>All or nothing: a file with any fault is refused as a whole, and a system is accepted, and scored, with all its predictions or not at all.</p>
      <p class="hint">{now.kind === "relations" ? "CSV, TSV or JSON lines; offsets count characters (Unicode code points) from 0, the end is not included. Columns:" : "CSV, TSV, JSON lines or Parquet with a column"}{" "}
        {now.columns.map((each, place) => <span key={each}>{place > 0 && ", "}<code>{each}</code></span>)}; perhaps {now.kind === "relations" && <><code>subject_link</code>, <code>object_link</code>, </>}<code>score</code>. {now.allowance.each > 0
          ? `What needs ${plural(now.allowance.each, "label")} or fewer is accepted at once, while ${plural(Math.max(now.allowance.in_all - now.allowance.used - now.allowance.beyond, 0), "label")} are left for that.`
          : "Nothing is spent before the owner accepts it."}</p>
    </section>}
    {owns && <AllowanceForm task={now} busy={busy.value} onSave={(each, inAll) => void act(async () => {
      await call("PUT", `${base}/allowance`, { each, in_all: inAll });
      return each > 0 ? `Submissions that need ${plural(each, "label")} or fewer are accepted unasked.` : "You are asked about every submission.";
    })} />}
    {owns && now.kind === "relations" && now.reading === null && <ReadingForm task={now} busy={busy.value} onDraw={(documents, law, votes) => void act(async () => {
      const made = await post<{ project: string }>(`${base}/reading`, { documents, law, votes });
      go(`/r/${made.project}/results`);
      return `${plural(documents, "document")} drawn.`;
    })} />}
    {mine.length > 0 && <section aria-labelledby="mine-title">
      <h2 id="mine-title">{owns ? "Submissions" : "Your submissions"}</h2>
      <ul class="cards submissions">{mine.map((each) => <li key={each.id} class="card">
        <h3><bdi>{each.system}</bdi>{each.version !== null && each.version > 1 && ` (version ${each.version})`}</h3>
        <p class="hint"><bdi>{each.file}</bdi>{owns && <> by <bdi>{each.user}</bdi></>}: {plural(each.n_predictions, "prediction")}, {number(each.n_new)} new.</p>
        <p>{each.state === "checked" ? price(each) : "Accepted."}</p>
        {each.warnings.map((text) => <p key={text} class="note">{text}</p>)}
        <p class="buttons">
          {owns && each.state === "checked" && <button class="primary" disabled={busy.value} onClick={() => void act(async () => {
            await post(`${base}/submissions/${each.id}/accept?most=${each.most.labels}`);
            return `${each.system} is accepted. What it needs is asked next, or once what is asked now is answered.`;
          })}>Accept and pay</button>}
          <button disabled={busy.value} onClick={() => leaving.value !== each.id ? void (leaving.value = each.id) : void act(async () => {
            await call("DELETE", `${base}/submissions/${each.id}`);
            return `${each.system} is retracted.`;
          })}>{leaving.value !== each.id ? "Retract" : each.state === "checked" ? "Take this submission back?" : "Take it off the leaderboard?"}</button>
        </p></li>)}</ul>
    </section>}
    {owns && project.value !== null && disputes.value.length > 0 && <Disputes disputes={disputes.value} project={project.value} onRule={rule} />}
    {now.guidelines.length > 0 && <section aria-labelledby="guide-title"><h2 id="guide-title">Guidelines</h2><Guidelines nodes={now.guidelines} /></section>}
    {owns && <Members slug={slug} roles={{ viewer: "participant", annotator: "annotator", owner: "owner" }} />}
    {(owns || now.published) && <section aria-labelledby="export-title">
      <h2 id="export-title">Take away</h2>
      <p class="buttons"><a class="button" href={`/api${base}/label-pool.csv`} download>Labels and their probabilities</a>
        {owns && <a class="button" href={`/api${base}/export/pool.zip`} download>The whole pool</a>}</p>
      {owns && <p class="hint">The pool gives the same numbers anywhere: <code>karat pool scores FOLDER</code>.</p>}
    </section>}
  </main>;
}
