// Reading a document exhaustively, by keyboard or mouse: mentions first, then relations between those of a sentence.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { get, newRequest, post, Refusal, type Hand, type Project, type TextDocument } from "../api";
import { Guidelines } from "../parts/Guidelines";
import { Line, type Piece } from "../parts/Line";
import { useAskAgain, Waiting } from "../parts/Waiting";
import { fromMarks, mark, pairsOf, standFor, toggle, toMarks, unmark, type Mark, type Sheet } from "../marks";
import { number } from "../parts/numbers";
import { me, messageOf } from "../state";

const BLOCK = 50;
const EMPTY: Sheet = { mentions: [], relations: [] };

/** The first token that ends after a place. */
function firstFrom(tokens: [number, number][], place: number): number {
  let low = 0, high = tokens.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tokens[middle]![1] <= place) low = middle + 1; else high = middle;
  }
  return low;
}

function inBlocks(lines: Piece[][]): Piece[][][] {
  return Array.from({ length: Math.ceil(lines.length / BLOCK) }, (_, number) => lines.slice(BLOCK * number, BLOCK * (number + 1)));
}

/** What looks like a slip in a sheet that is about to be saved for good. */
function doubtOf(document: TextDocument, sheet: Sheet): string {
  if (sheet.mentions.length === 0) return "You marked nothing in this document. Once more saves it so.";
  const missed = sheet.relations.length > 0 || Object.keys(document.predicates).length === 0 ? 0 : pairsOf(document, sheet).length;
  return missed === 0 ? "" : `You stated no relation between ${missed === 1 ? "the one pair" : `${number(missed)} pairs`}: press d again if there is none.`;
}

export function Read({ slug, user }: { slug: string; user: string }) {
  const base = `/projects/${slug}`;
  const project = useSignal<Project | null>(null), text = useSignal<TextDocument | null>(null), hand = useSignal<Hand | null>(null);
  const sheet = useSignal<Sheet>(EMPTY), phase = useSignal<"mentions" | "relations">("mentions");
  const anchor = useSignal(0), cursor = useSignal(0), pair = useSignal(0), flipped = useSignal(false);
  const problem = useSignal(""), said = useSignal(""), saving = useSignal(false);
  const began = useRef(Date.now()), dragging = useRef(false), sureOf = useRef<Sheet | null>(null), linkBox = useRef<HTMLInputElement>(null);
  const draft = (item: number) => `karat-draft:${user}:${slug}:${item}`;

  const fail = (error: unknown) => {
    if (error instanceof Refusal && error.status === 401) me.value = null; else problem.value = messageOf(error);
  };
  const load = async () => {
    try {
      const next = await post<Hand>(`${base}/next`, { n: 1 });
      const task = next.tasks[0];
      if (project.value === null || task === undefined) project.value = await get<Project>(base); // it may be paused by now
      problem.value = "";
      hand.value = next;
      if (task === undefined) { text.value = null; return; }
      const found = await get<TextDocument>(`${base}/documents/${task.item}`);
      let kept = fromMarks(found.annotation);
      try { kept = JSON.parse(localStorage.getItem(draft(task.item)) ?? "null") ?? kept; } catch { /* a damaged draft is no draft */ }
      sheet.value = kept; text.value = found; phase.value = "mentions";
      anchor.value = cursor.value = pair.value = 0; flipped.value = false; began.current = Date.now();
    } catch (error) { fail(error); }
  };
  useEffect(() => { void load(); }, [slug]);
  useAskAgain(slug, () => text.value === null && hand.value?.for_good !== true, load);

  const keep = (next: Sheet) => {
    sheet.value = next;
    try { if (text.value !== null) localStorage.setItem(draft(text.value.item), JSON.stringify(next)); } catch { /* it is still in memory */ }
  };
  const points = useMemo(() => Array.from(text.value?.text ?? ""), [text.value]);
  const words = (low: number, high: number) => points.slice(low, high).join("");
  // in blocks: the browser passes over those that are far away, and has few of them to think about
  const blocks = useMemo(() => inBlocks((text.value?.sentences ?? []).map(([low, high]) => {
    const tokens = text.value!.tokens, pieces: Piece[] = [];
    for (let place = firstFrom(tokens, low); place < tokens.length && tokens[place]![0] < high; place += 1) {
      const [start, end] = tokens[place]!, next = tokens[place + 1]?.[0] ?? end;
      pieces.push({ place, text: words(start, end), gap: next < high ? words(end, next) : "" });
    }
    return pieces;
  })), [text.value]);
  const nameOf = (each: Mark) => words(each.start, each.end);
  const chosen = (): [number, number] | null => {
    const tokens = text.value?.tokens ?? [];
    const [low, high] = [Math.min(anchor.value, cursor.value), Math.max(anchor.value, cursor.value)];
    return tokens[low] === undefined || tokens[high] === undefined ? null : [tokens[low]![0], tokens[high]![1]];
  };
  const current = (): Mark | undefined => {
    const span = chosen();
    if (span === null) return undefined;
    return sheet.value.mentions.find((each) => each.start === span[0] && each.end === span[1])
      ?? sheet.value.mentions.find((each) => each.start < span[1] && span[0] < each.end);
  };
  const put = (type: string) => {
    const span = chosen();
    if (span === null) return;
    const twin = sheet.value.mentions.find((each) => words(each.start, each.end) === words(...span) && each.type === type);
    const [next, added] = mark(sheet.value, span[0], span[1], type);
    // a name that came before most likely means the same: offered, and easily changed
    keep(twin !== undefined && twin.id !== added.id ? standFor(next, added.id, twin.id) : next);
    said.value = `${words(...span)}: ${type}`;
  };
  const cycle = () => {
    const mine = current();
    if (mine === undefined) return;
    const others = sheet.value.mentions.filter((each) => each.canonical === each.id && each.type === mine.type).sort((a, b) => a.start - b.start);
    const ring = [mine, ...others.filter((each) => each.id !== mine.id)];
    const at = ring.findIndex((each) => each.id === mine.canonical);
    const next = ring[(at + 1) % ring.length]!;
    keep(standFor(sheet.value, mine.id, next.id));
    said.value = `means ${nameOf(next)}`;
  };
  const drop = () => { const mine = current(); if (mine !== undefined) { keep(unmark(sheet.value, mine.id)); said.value = "removed"; } };
  const relink = (link: string) => {
    const mine = current();
    if (mine !== undefined) keep({ ...sheet.value, mentions: sheet.value.mentions.map((each) => each.id === mine.id ? { ...each, link } : each) });
  };
  const move = (step: number, extend: boolean) => {
    const last = (text.value?.tokens.length ?? 1) - 1;
    cursor.value = Math.max(0, Math.min(last, cursor.value + step));
    if (!extend) anchor.value = cursor.value;
    document.querySelector(`[data-token="${cursor.value}"]`)?.scrollIntoView({ block: "nearest" });
  };
  const jump = (step: number) => {
    const found = text.value;
    if (found === null) return;
    const place = found.tokens[cursor.value]?.[0] ?? 0;
    const at = found.sentences.findIndex(([low, high]) => low <= place && place < high);
    const next = found.sentences[Math.max(0, Math.min(found.sentences.length - 1, at + step))];
    if (next !== undefined) move(found.tokens.findIndex(([low]) => low >= next[0]) - cursor.value, false);
  };
  const pairs = text.value === null ? [] : pairsOf(text.value, sheet.value);
  const pairNow = (): [Mark, Mark] | undefined => {
    const found = text.value === null ? undefined : pairsOf(text.value, sheet.value)[pair.value];
    return found === undefined ? undefined : flipped.value ? [found[1], found[0]] : found;
  };
  const turnTo = (next: "mentions" | "relations") => { phase.value = next; pair.value = 0; flipped.value = false; said.value = ""; };
  const state = (predicate: string) => {
    const two = pairNow();
    if (two !== undefined) keep(toggle(sheet.value, { subject: two[0].id, predicate, object: two[1].id }));
  };
  const step = (by: number) => {
    const count = text.value === null ? 0 : pairsOf(text.value, sheet.value).length;
    pair.value = Math.max(0, Math.min(count - 1, pair.value + by)); flipped.value = false;
  };
  const finish = async () => {
    const found = text.value;
    if (found === null || saving.value) return;
    const doubt = doubtOf(found, sheet.value);
    if (doubt !== "" && sureOf.current !== sheet.value) { // any change of the sheet makes it a question again
      sureOf.current = sheet.value;
      said.value = doubt;
      return;
    }
    saving.value = true;
    try {
      const seconds = Math.min((Date.now() - began.current) / 1000, 100_000);
      await post(`${base}/annotations`, { item: found.item, annotation: toMarks(sheet.value), request: newRequest(), seconds });
      localStorage.removeItem(draft(found.item));
      said.value = "Saved. Thank you."; problem.value = "";
      await load();
    } catch (error) { fail(error); }
    saving.value = false;
  };

  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const inside = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
      if (inside) { if (event.key === "Escape" || event.key === "Enter") (event.target as HTMLElement).blur(); return; }
      if (event.ctrlKey || event.metaKey || event.altKey || text.value === null) return;
      const digit = /^[1-9]$/.test(event.key) ? Number(event.key) - 1 : -1;
      const predicates = Object.keys(text.value.predicates);
      const reading: Record<string, () => void> = {
        ArrowRight: () => move(1, event.shiftKey), ArrowLeft: () => move(-1, event.shiftKey), ArrowDown: () => jump(1), ArrowUp: () => jump(-1),
        c: cycle, x: drop, Delete: drop, l: () => linkBox.current?.focus(), r: () => turnTo("relations"),
      };
      const relating: Record<string, () => void> = {
        ArrowDown: () => step(1), ArrowUp: () => step(-1), ArrowRight: () => step(1), ArrowLeft: () => step(-1),
        f: () => { flipped.value = !flipped.value; }, m: () => turnTo("mentions"),
      };
      const action = (phase.value === "mentions" ? reading : relating)[event.key];
      if (digit >= 0 && phase.value === "mentions" && text.value.types[digit] !== undefined) put(text.value.types[digit]!);
      else if (digit >= 0 && phase.value === "relations" && predicates[digit] !== undefined) state(predicates[digit]!);
      else if (event.key === "d") { if (!event.repeat) void finish(); }
      else if (action !== undefined) action();
      else return;
      event.preventDefault();
    };
    const release = () => { dragging.current = false; };
    addEventListener("keydown", listen);
    addEventListener("pointerup", release);
    return () => { removeEventListener("keydown", listen); removeEventListener("pointerup", release); };
  }, [slug, text.value]);

  if (project.value === null || (text.value === null && hand.value === null)) return <main><p role="status">{problem.value || "Loading…"}</p></main>;
  if (text.value === null) return <main><h1>{project.value.title}</h1><div class="waiting" role="status">
    <Waiting hand={hand.value} state={project.value.state} verb="read" problem={problem.value} /></div></main>;
  const found = text.value, two = pairNow(), span = chosen(), mine = current();
  const typeNumber = (type: string) => 1 + found.types.indexOf(type) % 4;
  const looks = found.tokens.map(() => "token");
  const within = (low: number, high: number, add: (place: number) => void) => {
    for (let place = firstFrom(found.tokens, low); place < found.tokens.length && found.tokens[place]![0] < high; place += 1) add(place);
  };
  for (const each of sheet.value.mentions) {
    within(each.start, each.end, (place) => { looks[place] = `token mention kind-${typeNumber(each.type)}`; });
  }
  if (phase.value === "relations" && two !== undefined) ["subject", "object"].forEach((side, number) => {
    const { start, end } = two[number]!;
    within(start, end, (place) => { looks[place] += ` side ${side}`; });
    looks[firstFrom(found.tokens, start)] += " named"; // the word stands over the first token of the mention
  });
  if (phase.value === "mentions" && span !== null) {
    within(span[0], span[1], (place) => { looks[place] += " chosen"; });
    looks[cursor.value] += " cursor";
  }
  const predicates = Object.entries(found.predicates);
  const pick = (place: number, extend: boolean) => { cursor.value = place; if (!extend) anchor.value = place; };
  return <main class="label with-panel read">
    <div class="work">
      <div class="bar"><h1>{project.value.title}</h1><span class="status" role="status">{saving.value ? "Saving…" : said.value}</span></div>
      <p class="question">{phase.value === "mentions" ? "Mark every mention." : "Does the sentence state a relation between the two?"}</p>
      <div class="reader" role="group" aria-label={`Document ${found.name}`}>
        {blocks.map((block, number) => <div key={number} class="block">{block.map((pieces) => <Line key={pieces[0]?.place} pieces={pieces}
          looks={pieces.map(({ place }) => looks[place]!)}
          onPick={(place, extend) => { dragging.current = true; pick(place, extend); if (phase.value !== "mentions") turnTo("mentions"); }}
          onSweep={(place) => { if (dragging.current) pick(place, true); }} />)}</div>)}
      </div>
      {problem.value !== "" && <p class="problem" role="alert">{problem.value}</p>}
    </div>
    <aside aria-label="Marks">
      <p class="buttons phases">
        <button aria-pressed={phase.value === "mentions"} onClick={() => turnTo("mentions")}>Mentions ({sheet.value.mentions.length})<kbd>m</kbd></button>
        <button aria-pressed={phase.value === "relations"} onClick={() => turnTo("relations")}>Relations ({sheet.value.relations.length})<kbd>r</kbd></button>
      </p>
      {phase.value === "mentions" ? <>
        <p class="chosen-text" aria-live="polite"><bdi>{span === null ? "" : words(...span)}</bdi></p>
        <p class="buttons">{found.types.map((type, place) => <button key={type} class={`kind-${typeNumber(type)}`} aria-pressed={mine?.type === type} onClick={() => put(type)}>
          {type}{place < 9 && <kbd>{place + 1}</kbd>}</button>)}</p>
        {mine !== undefined && <div class="detail">
          <label>means the same as<select value={String(mine.canonical)} onChange={(event) => keep(standFor(sheet.value, mine.id, Number(event.currentTarget.value)))}>
            <option value={String(mine.id)}>itself</option>
            {sheet.value.mentions.filter((each) => each.id !== mine.id && each.canonical === each.id).map((each) => <option key={each.id} value={String(each.id)}>{nameOf(each)}</option>)}
          </select></label>
          <label>page (link)<input ref={linkBox} maxLength={300} value={mine.link} onInput={(event) => relink(event.currentTarget.value)} /></label>
          <p class="buttons"><button onClick={cycle}>Next meaning<kbd>c</kbd></button><button onClick={drop}>Remove<kbd>x</kbd></button></p>
        </div>}
      </> : <>
        {two === undefined ? <p class="hint">No sentence has two mentions.</p> : <>
          <p class="hint" role="status">pair {pair.value + 1} of {pairs.length}</p>
          <p class="statement" dir="auto">{two.map((each, number) => <span key={number}>{number > 0 && " … "}<mark class={`kind-${typeNumber(each.type)}`}><bdi>{nameOf(each)}</bdi></mark> <small>{number === 0 ? "subject" : "object"}</small></span>)}</p>
          <p class="buttons column">{predicates.map(([name, inWords], place) => {
            const on = sheet.value.relations.some((each) => each.subject === two[0].id && each.object === two[1].id && each.predicate === name);
            return <button key={name} aria-pressed={on} onClick={() => state(name)}>{on ? "✓ " : ""}{inWords}{place < 9 && <kbd>{place + 1}</kbd>}</button>;
          })}</p>
          <p class="buttons"><button onClick={() => { flipped.value = !flipped.value; }}>Turn round<kbd>f</kbd></button>
            <button onClick={() => step(-1)}>Back<kbd>↑</kbd></button><button onClick={() => step(1)}>Next<kbd>↓</kbd></button></p>
        </>}
        <ul class="past">{sheet.value.relations.map((each) => {
          const ends = [each.subject, each.object].map((id) => sheet.value.mentions.find((other) => other.id === id)!);
          return <li key={`${each.subject} ${each.predicate} ${each.object}`}><bdi>{nameOf(ends[0]!)}</bdi> <em>{found.predicates[each.predicate] ?? each.predicate}</em> <bdi>{nameOf(ends[1]!)}</bdi></li>;
        })}</ul>
      </>}
      <p class="buttons"><button class="primary" disabled={saving.value} onClick={() => void finish()}>Done with this document<kbd>d</kbd></button></p>
      <details><summary>Keys</summary><dl class="keys">
        {[["← →", "move; with Shift, widen"], ["↑ ↓", "sentence; pair"], ["1 – 9", "type; relation"], ["c", "means the same as the next one"], ["l", "link; Enter leaves it"], ["x", "remove"], ["r m", "relations, mentions"], ["f", "turn the pair round"], ["d", "done"]]
          .map(([key, text]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{text}</dd></div>)}</dl></details>
      {project.value.guidelines.length > 0 && <details><summary>Guidelines</summary><Guidelines nodes={project.value.guidelines} /></details>}
    </aside>
  </main>;
}
