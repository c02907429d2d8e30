// A relation instance: the statement in words, and its sentence in its document with both mentions marked.
// Offsets count code points, as the service does; a browser's strings count UTF-16 units.

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Cell } from "../api";

interface End { name: string; link: string | null; start: number; end: number }
interface Shown { subject: End; predicate: string; object: End; document: string; text: string; sentence: [number, number]; cut: [boolean, boolean] }

function read(fields: Cell[]): Shown | null {
  const found = Object.fromEntries(fields.map((field) => [field.name, field.value])) as unknown as Shown;
  return typeof found.text === "string" && found.subject && found.object && Array.isArray(found.sentence) ? found : null;
}

/** A link to a page is followed only if it is one; anything else is shown as text. */
function Link({ link }: { link: string | null }) {
  if (link === null || link === undefined) return <span class="hint">no page</span>;
  return /^https?:\/\//i.test(link)
    ? <a href={link} rel="noopener noreferrer nofollow" target="_blank">{link}</a> : <span>{link}</span>;
}

export function Instance({ fields }: { fields: Cell[] }) {
  const box = useRef<HTMLDivElement>(null);
  const shown = read(fields);
  useLayoutEffect(() => {
    const frame = box.current, sentence = frame?.querySelector<HTMLElement>(".sentence");
    if (frame && sentence) frame.scrollTop = sentence.offsetTop - frame.offsetTop - frame.clientHeight / 3;
  }, [shown?.text, shown?.subject.start, shown?.object.start]);
  if (shown === null) return <p class="problem">This item is no relation instance.</p>;
  const points = Array.from(shown.text);
  const { subject, object, sentence } = shown;
  const cuts = [...new Set([0, subject.start, subject.end, object.start, object.end, ...sentence, points.length])]
    .filter((place) => place >= 0 && place <= points.length).sort((a, b) => a - b);
  const within = (end: End, place: number) => end.start <= place && place < end.end;
  const pieces = cuts.slice(0, -1).map((start, number) => {
    const text = points.slice(start, cuts[number + 1]).join("");
    const kind = within(subject, start) ? "subject" : within(object, start) ? "object" : "";
    return { start, text, kind, inside: sentence[0] <= start && start < sentence[1] };
  });
  const draw = (piece: typeof pieces[number]) => piece.kind === "" ? piece.text : <mark key={piece.start} class={piece.kind}>{piece.text}</mark>;
  return <div class="item instance">
    <p class="statement" dir="auto"><mark class="subject"><bdi>{subject.name}</bdi></mark> <span class="relation">{shown.predicate}</span>{" "}
      <mark class="object"><bdi>{object.name}</bdi></mark></p>
    <dl class="links">
      {([["1", subject], ["2", object]] as const).map(([side, end]) => <div key={side}>
        <dt><span class={`dot ${side === "1" ? "subject" : "object"}`} />link {side}</dt>
        <dd><bdi>{end.name}</bdi> <span aria-hidden="true">→</span> <Link link={end.link} /></dd></div>)}
    </dl>
    <div class="provenance" ref={box} tabIndex={0} role="region" aria-label={`Document ${shown.document}`} dir="auto">
      {shown.cut?.[0] && "… "}
      {pieces.filter((piece) => piece.start < sentence[0]).map(draw)}
      <span class="sentence">{pieces.filter((piece) => piece.inside).map(draw)}</span>
      {pieces.filter((piece) => piece.start >= sentence[1]).map(draw)}
      {shown.cut?.[1] && " …"}
    </div>
    <p class="hint">from <bdi>{shown.document}</bdi></p>
  </div>;
}
