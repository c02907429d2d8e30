// What the owner watches: the curve tighten, the money, the people, the disagreements.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call, get, newRequest, post, Refusal, type Curve, type Dispute, type Forecast, type People, type Progress, type Project } from "../api";
import { CurvePlot, VAGUE } from "../parts/Curve";
import { Disputes } from "../parts/Disputes";
import { Members } from "../parts/Members";
import { PeopleSection } from "../parts/PeopleSection";
import { me, messageOf } from "../state";
import { money, number } from "../parts/numbers";

const EVERY = 4000;
const share = (value: number | null | undefined) => value === null || value === undefined ? "–" : value.toFixed(3);

function Tile({ name, value, hint }: { name: string; value: string; hint?: string }) {
  return <div class="tile"><dt>{name}</dt><dd>{value}{hint !== undefined && <small>{hint}</small>}</dd></div>;
}

export function Dashboard({ slug }: { slug: string }) {
  const base = `/projects/${slug}`;
  const project = useSignal<Project | null>(null), progress = useSignal<Progress | null>(null);
  const curve = useSignal<Curve | null>(null), people = useSignal<People | null>(null);
  const disputes = useSignal<Dispute[]>([]), needed = useSignal<Forecast | null>(null);
  const of = useSignal<"truth" | "given">("truth"), corrected = useSignal(false);
  const problem = useSignal("");
  const target = useSignal("0.9"), kind = useSignal("precision");
  const found = useSignal<{ rank: number | null; sentence: string } | null>(null);
  const owns = project.value?.role === "owner";

  const refresh = async (force = false) => {
    try {
      project.value ??= await get<Project>(base);
      const now = await get<Progress>(`${base}/progress`);
      const changed = force || now.answers !== progress.value?.answers || now.labelled !== progress.value?.labelled
        || now.unsure !== progress.value?.unsure;
      progress.value = now;
      problem.value = "";
      if (!changed) return;
      [curve.value, people.value] = await Promise.all([get<Curve>(`${base}/curve?of=${of.value}`), get<People>(`${base}/people`)]);
      if (of.value === "truth") corrected.value = curve.value.corrected;
      if (project.value.role === "owner") disputes.value = await get<Dispute[]>(`${base}/disagreements`);
      if (found.value !== null) await cutoff();
      needed.value = await get<Forecast>(`${base}/forecast`);
    } catch (error) {
      if (error instanceof Refusal && error.status === 401) me.value = null;
      problem.value = messageOf(error);
    }
  };
  const cutoff = async (event?: Event) => {
    event?.preventDefault();
    try { found.value = await get(`${base}/cutoff?of=${of.value}&${kind.value}=${encodeURIComponent(target.value)}`); problem.value = ""; }
    catch (error) { problem.value = messageOf(error); }
  };
  const rule = async (dispute: Dispute, value: string) => {
    try { await post(`${base}/adjudications`, { item: dispute.item, value, request: newRequest() }); await refresh(true); }
    catch (error) { problem.value = messageOf(error); }
  };
  const look = async (at: "truth" | "given") => { of.value = at; await refresh(true); };
  const setState = async (state: string) => {
    try { await call("PATCH", `${base}/settings`, { state }); project.value = await get<Project>(base); } catch (error) { problem.value = messageOf(error); }
  };
  useEffect(() => {
    void refresh();
    const timer = setInterval(() => { if (!document.hidden) void refresh(); }, EVERY);
    return () => clearInterval(timer);
  }, [slug]);

  const shown = curve.value, now = progress.value;
  if (project.value === null || now === null) return <main><p role="status">{problem.value || "Loading…"}</p></main>;
  const whole = shown?.summary["positives in the list"];
  const left = needed.value?.still_needed ?? null;
  const price = (still: Forecast) => [project.value!.votes > 1 && `${number(still.answers!)} answers`, now.price > 0 && money(still.cost!, now.currency)].filter(Boolean).join(", ") || undefined;
  const begun = now.labelled + now.unsure > 0;
  const doubts = shown?.assumptions.filter((each) => each.verdict === "contradicted") ?? [];
  return <main class="dashboard">
    <div class="bar">
      <h1>{project.value.title}</h1>
      <p class="buttons">
        {project.value.role !== "viewer" && <a class="button primary" href={`#/p/${slug}/label`}>Label</a>}
        {owns && <a class="button" href={`#/p/${slug}/settings`}>Settings</a>}
        {owns && project.value.state === "open" && <button onClick={() => void setState("paused")}>Pause</button>}
        {owns && project.value.state === "paused" && <button onClick={() => void setState("open")}>Go on</button>}
      </p>
    </div>
    {problem.value !== "" && <p class="problem" role="alert">{problem.value}</p>}
    {shown !== null && <p class="headline" id="headline">{begun ? shown.headline
      : `${number(now.n_items)} items, none of them labelled yet. ${owns ? "Label some, or invite people below." : ""}`}</p>}
    {now.target_met && <p class="met" id="met">The target is met{corrected.value ? " for the labels as given" : ""}: you can stop paying.</p>}
    {now.done && now.target_met === false && <p class="note">Nothing more is asked for.
      {now.unsure > 0 && ` ${number(now.unsure)} unsure items widen the range: decide them below.`}</p>}
    <dl class="tiles">
      <Tile name="labels" value={number(now.labelled)} hint={now.unsure > 0 ? `and ${number(now.unsure)} unsure` : undefined} />
      <Tile name="still needed" value={now.done ? "0" : left === null ? "–" : `≈ ${number(left)}`} hint={now.done || left === null ? undefined : price(needed.value!)} />
      <Tile name="answers" value={number(now.answers)} hint={project.value.votes > 1 ? `${project.value.votes} an item` : undefined} />
      {now.price > 0 && <Tile name="spent" value={money(now.spent)} hint={now.currency} />}
      <Tile name="items in the list" value={number(now.n_items)} />
      <Tile name="width over target" value={!begun || now.worst_over_target === null ? "–" : now.worst_over_target.toFixed(2)} hint="1 or less: met" />
    </dl>
    {shown !== null && begun && <section aria-labelledby="curve-title">
      <div class="bar"><h2 id="curve-title">Precision, with its certain range</h2>
        {corrected.value && <p class="buttons" role="group" aria-label="The curve speaks of">
          <button aria-pressed={of.value === "truth"} onClick={() => void look("truth")}>The truth</button>
          <button aria-pressed={of.value === "given"} onClick={() => void look("given")}>Labels as given</button></p>}</div>
      <p class="hint" id="speaks-of">{shown.sentence}</p>
      <CurvePlot curve={shown} cutoff={found.value?.rank ?? null} />
      <div class="scroll" tabIndex={0} role="region" aria-label="Numbers of the curve"><table>
        <thead><tr><th scope="col">keep the top</th><th scope="col">precision</th><th scope="col">certain range</th><th scope="col">right items</th></tr></thead>
        <tbody>{shown.at.map((mark) => <tr key={mark.rank}>
          <th scope="row">{number(mark.rank)}</th><td>{mark.precision.high - mark.precision.low > VAGUE ? "–" : share(mark.precision.estimate)}</td>
          <td>{share(mark.precision.low)} – {share(mark.precision.high)}</td>
          <td>{number(Math.ceil(mark.yield.low))} – {number(Math.floor(mark.yield.high))}</td></tr>)}</tbody>
      </table></div>
      {whole !== undefined && <p class="hint">Right items in the whole list: {number(Math.ceil(whole.low))} – {number(Math.floor(whole.high))}.
        {shown.guarantee === "finite-sample" && ` All ranges hold at once at ${(100 * shown.confidence_level).toFixed(0)}% confidence.`}</p>}
      {doubts.map((doubt) => <p key={doubt.statement} class="problem">{doubt.statement}: contradicted. {doubt.finding}</p>)}
      {shown.notes.map((text) => <p key={text} class="hint">{text}</p>)}
    </section>}
    {begun && <section aria-labelledby="cutoff-title">
      <h2 id="cutoff-title">How many can I keep?</h2>
      <form class="inline" onSubmit={cutoff}>
        <label>At least<input inputMode="decimal" value={target.value} onInput={(event) => { target.value = event.currentTarget.value; }} /></label>
        <label>of<select value={kind.value} onChange={(event) => { kind.value = event.currentTarget.value; }}>
          <option value="precision">precision</option><option value="recall">recall</option></select></label>
        <button>Find</button>
      </form>
      <p role="status" id="cutoff">{found.value?.sentence}</p>
    </section>}
    {people.value !== null && people.value.annotators.length > 0 && <PeopleSection people={people.value} priced={now.price > 0} />}
    {owns && disputes.value.length > 0 && <Disputes disputes={disputes.value} project={project.value} onRule={rule} />}
    {owns && <Members slug={slug} roles={{ annotator: "annotator", viewer: "viewer", owner: "owner" }} />}
    {owns && begun && <section aria-labelledby="export-title">
      <h2 id="export-title">Take away</h2>
      <p class="buttons">{[["labels.csv", "Labels"], ["draw.json", "Draw"], ["ledger.csv", "Ledger"], ["items.jsonl", "Items"]].map(([file, name]) =>
        <a key={file} class="button" href={`/api${base}/export/${file}`} download>{name}</a>)}
        <a class="button" href={`/api${base}/report`} download>Report</a></p>
      <p class="hint">Draw and labels give the same numbers anywhere: <code>karat curve draw.json labels.csv</code>.</p>
    </section>}
  </main>;
}
