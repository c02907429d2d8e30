// The labelling screen: one key answers, saves and advances.

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { get, newRequest, post, Refusal, type Hand, type Option, type PastAnswer, type Project, type Task } from "../api";
import { Guidelines } from "../parts/Guidelines";
import { Item, show } from "../parts/Item";
import { KeysPanel } from "../parts/KeysPanel";
import { useAskAgain, Waiting } from "../parts/Waiting";
import { Queue } from "../queue";
import { me, messageOf } from "../state";

const AHEAD = 5;
const RETRY = 4000;

export function Label({ slug, user }: { slug: string; user: string }) {
  const queue = useMemo(() => new Queue(slug, user), [slug, user]);
  const project = useSignal<Project | null>(null);
  const tasks = useSignal<Task[]>([]);
  const hand = useSignal<Hand | null>(null);
  const problem = useSignal("");
  const note = useSignal(""), noting = useSignal(false);
  const panel = useSignal<"none" | "guidelines" | "history" | "help">(
    matchMedia("(min-width: 60rem)").matches ? "guidelines" : "none");
  const past = useSignal<PastAnswer[]>([]);
  const review = useSignal<PastAnswer | null>(null);
  const flash = useSignal("");
  const began = useRef(Date.now()), session = useSignal<number[]>([]);
  const noteBox = useRef<HTMLTextAreaElement>(null);

  const base = `/projects/${slug}`;
  // Read when a key comes, never remembered: the key belongs to the item that is on the screen by then.
  const currentNow = () => review.value ?? tasks.value[0] ?? null;
  const current = currentNow();
  const painted = useRef<number | null>(null);
  useLayoutEffect(() => { painted.current = current?.item ?? null; });

  const accept = (next: Hand | null, first?: number) => {
    if (next === null) return;
    const waiting = new Set(queue.waiting.value.map((entry) => entry.answer.item));
    const fresh = next.tasks.filter((task) => !waiting.has(task.item));
    const shown = first ?? tasks.value[0]?.item; // what stands on the screen stays there
    if (hand.value?.finished && fresh.length > 0 && first === undefined) flash.value = "There is more to judge";
    tasks.value = [...fresh.filter((task) => task.item === shown), ...fresh.filter((task) => task.item !== shown)];
    hand.value = next;
    problem.value = "";
  };
  const fail = (error: unknown) => {
    if (error instanceof Refusal && error.status === 401) me.value = null;
    else problem.value = messageOf(error);
  };
  const sync = async () => {
    try {
      const next = await queue.send(AHEAD);
      accept(next ?? (tasks.value.length < 2 ? await post<Hand>(`${base}/next`, { n: AHEAD }) : null));
      if (project.value === null || tasks.value.length === 0) project.value = await get<Project>(base); // it may be paused by now
    } catch (error) { fail(error); }
  };

  useEffect(() => {
    get<Project>(base).then((found) => { project.value = found; }, fail);
    void sync();
    const timer = setInterval(() => {
      const dry = tasks.value.length === 0 && hand.value?.finished !== true;
      if (queue.waiting.value.length > 0 || dry) void sync();
    }, RETRY);
    const online = () => void sync();
    const leave = () => { if (queue.waiting.value.length === 0) navigator.sendBeacon(`/api${base}/release`); };
    addEventListener("online", online);
    addEventListener("pagehide", leave);
    return () => { clearInterval(timer); removeEventListener("online", online); removeEventListener("pagehide", leave); leave(); };
  }, [slug]);
  useAskAgain(slug, () => tasks.value.length === 0 && hand.value?.for_good !== true, sync);
  // before the item is painted, or a key that comes early would be undone
  useLayoutEffect(() => { began.current = Date.now(); note.value = review.value?.note ?? ""; noting.value = note.value !== ""; }, [current?.item]);

  const answer = (option: Option) => {
    const current = currentNow();
    if (current === null || current.item !== painted.current) return; // nobody answers what they have not seen
    const seconds = Math.min((Date.now() - began.current) / 1000, 600);
    const task: Task = { item: current.item, fields: current.fields, score: null, rank: null, votes: null };
    queue.add({ task, answer: { item: current.item, value: option.value, request: newRequest(), note: note.value.trim() || null, seconds } });
    if (review.value === null) tasks.value = tasks.value.slice(1);
    review.value = null;
    session.value = [...session.value.slice(-49), Date.now()];
    flash.value = `${option.label} – saved`;
    void sync();
  };
  const undo = async () => {
    review.value = null;
    const unsent = queue.takeBack();
    if (unsent !== undefined) {
      tasks.value = [unsent.task, ...tasks.value];
      flash.value = "Taken back";
      return;
    }
    try {
      await queue.send(AHEAD);
      const undone = await post<{ item: number | null; hand: Hand }>(`${base}/undo`, { request: newRequest() });
      accept(undone.hand, undone.item ?? undefined);
      flash.value = undone.item === null ? "Nothing to take back" : "Taken back";
    } catch (error) { fail(error); }
  };
  const skip = async () => {
    const task = tasks.value[0];
    if (task === undefined || review.value !== null) { review.value = null; return; }
    if (task.item !== painted.current) return;
    try {
      await queue.send(AHEAD);
      const next = await post<Hand>(`${base}/skip`, { item: task.item, request: newRequest() });
      tasks.value = tasks.value.filter((other) => other.item !== task.item);
      accept(next);
      flash.value = "Skipped";
    } catch (error) { fail(error); }
  };
  const open = async (name: "guidelines" | "history" | "help") => {
    panel.value = panel.value === name ? "none" : name;
    if (panel.value === "history") {
      try { await queue.send(AHEAD).then(accept); past.value = await get<PastAnswer[]>(`${base}/history`); } catch (error) { fail(error); }
    }
  };
  const focusNote = useRef(false);
  const write = () => { noting.value = true; focusNote.current = true; if (noteBox.current !== null) focusWhenAsked(); };
  const focusWhenAsked = () => {
    if (focusNote.current && noteBox.current !== null) { focusNote.current = false; noteBox.current.focus(); }
  };
  useLayoutEffect(focusWhenAsked);

  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const inside = event.target instanceof HTMLTextAreaElement || event.target instanceof HTMLInputElement;
      if (event.key === "Escape") { review.value = null; if (inside) (event.target as HTMLElement).blur(); return; }
      if (inside || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      const key = event.key.toLowerCase();
      const option = project.value?.options.find((each) => each.key.toLowerCase() === key);
      const action = Object.entries(project.value?.keys ?? {}).find(([, own]) => own === key)?.[0];
      const actions: Record<string, () => void> = {
        undo: () => void undo(), skip: () => void skip(), note: write, back: () => void open("history"),
        guidelines: () => void open("guidelines"), keys: () => void open("help"),
      };
      if (option !== undefined) answer(option);
      else if (action !== undefined) actions[action]?.();
      else if (key === "z") void undo();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, [slug]); // all it reads are signals

  if (project.value === null) return <main><p role="status">{problem.value || "Loading…"}</p></main>;
  const { options, question, template, title, guidelines, keys } = project.value;
  const times = session.value;
  const minutes = times.length > 1 ? (times[times.length - 1]! - times[0]!) / 60_000 : 0;
  const waiting = queue.waiting.value.length;
  const status = queue.connection.value === "offline" ? `Offline – ${waiting} waiting to be sent`
    : queue.connection.value === "saving" ? "Saving…" : "All saved";
  return <main class={`label ${panel.value === "none" ? "" : "with-panel"}`}>
    <div class="work">
      <div class="bar">
        <h1>{title}</h1>
        <span class={`status ${queue.connection.value}`} role="status">{status}</span>
      </div>
      <div class="waiting" role="status">{current === null && <Waiting hand={hand.value} state={project.value.state} verb="judge" problem={problem.value} />}</div>
      {current !== null && <article class="task" aria-label="Item">
            <p class="question">{question}</p>
            {review.value !== null && <p class="note">You said “{options.find((o) => o.value === review.value?.value)?.label ?? "skip"}”. Answer again to change it.</p>}
            <Item fields={current.fields} template={template} />
            {"score" in current && current.score !== null && <p class="hint">rank {current.rank?.toLocaleString("en-US")} · score {current.score}</p>}
            {"votes" in current && current.votes !== null && current.votes.length > 0 && <p class="hint">votes so far: {current.votes.join(", ")}</p>}
            <div class="answers">
              {options.map((option) => <button key={option.value} class={`answer ${option.meaning}`} onClick={() => answer(option)}>
                {option.label}<kbd>{option.key}</kbd></button>)}
            </div>
            {noting.value && <label class="noting">Note
              <textarea ref={noteBox} rows={2} maxLength={5000} value={note.value} placeholder="Escape returns to the keys"
                onInput={(event) => { note.value = event.currentTarget.value; }} /></label>}
          </article>}
      <div class="tools" role="toolbar" aria-label="Tools">
        <button onClick={() => void undo()}>Undo<kbd>{keys["undo"]}</kbd></button>
        <button onClick={() => void open("history")} aria-expanded={panel.value === "history"}>Back<kbd>{keys["back"]}</kbd></button>
        <button onClick={() => void skip()} disabled={current === null}>Skip<kbd>{keys["skip"]}</kbd></button>
        <button onClick={write} disabled={current === null}>Note<kbd>{keys["note"]}</kbd></button>
        <button onClick={() => void open("guidelines")} aria-expanded={panel.value === "guidelines"}>Guidelines<kbd>{keys["guidelines"]}</kbd></button>
        <button onClick={() => void open("help")} aria-expanded={panel.value === "help"}>Keys<kbd>{keys["keys"]}</kbd></button>
      </div>
      <p class="pace hint"><span id="count">{((hand.value?.my_answers ?? project.value.my_answers) + waiting).toLocaleString("en-US")}</span> answers by you
        {minutes > 0.1 && ` · ${Math.round((times.length - 1) / minutes)} a minute`} <span aria-live="polite">{flash.value && `· ${flash.value}`}</span></p>
      {queue.refused.value !== null && <p class="problem" role="alert">An answer was not taken: {queue.refused.value}</p>}
      {problem.value !== "" && current !== null && <p class="problem" role="alert">{problem.value}</p>}
    </div>
    {panel.value !== "none" && <aside aria-label={panel.value}>
      {panel.value === "guidelines" && <><h2>Guidelines</h2>{guidelines.length > 0 ? <Guidelines nodes={guidelines} /> : <p class="hint">None were written.</p>}</>}
      {panel.value === "history" && <><h2>Your latest answers</h2><ol class="past">
        {past.value.map((entry) => <li key={entry.item}><button onClick={() => { review.value = entry; }}>
          <span>{entry.fields.map((field) => show(field.value)).join(" ")}</span>
          <strong>{options.find((option) => option.value === entry.value)?.label ?? "skipped"}</strong></button></li>)}
      </ol></>}
      {panel.value === "help" && <KeysPanel project={project.value} onChange={async () => { project.value = await get<Project>(base); }} />}
    </aside>}
  </main>;
}
