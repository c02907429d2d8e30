// A text with highlighted spans. Offsets count code points, as Python does, not the halves of which JavaScript makes emoji.

interface Span { start: number; end: number; label: string | null }

// Tables that have no lists hold them as JSON.
function parse(value: unknown): any { return typeof value !== "string" ? value : value.trim() === "" ? [] : JSON.parse(value); }

function readSpans(value: unknown, length: number): Span[] | null {
  let given;
  try { given = parse(value); } catch { return null; }
  if (given === null || given === undefined) return [];
  if (!Array.isArray(given)) return null;
  const found: Span[] = [];
  for (const each of given) {
    let entry;
    try { entry = parse(each); } catch { return null; }
    const [start, end, label] = Array.isArray(entry) ? entry : [entry?.start, entry?.end, entry?.label];
    if (!Number.isInteger(start) || !Number.isInteger(end) || start < 0 || end > length || start >= end) return null;
    found.push({ start, end, label: typeof label === "string" && label !== "" ? label : null });
  }
  found.sort((one, other) => one.start - other.start || other.end - one.end);
  return found;
}

export function Spans({ text, spans }: { text: string; spans: unknown }) {
  const points = Array.from(text);
  const found = readSpans(spans, points.length);
  const pieces = [];
  let place = 0;
  for (const span of found ?? []) {
    if (span.start < place) continue; // inside the one before
    if (span.start > place) pieces.push(points.slice(place, span.start).join(""));
    pieces.push(<mark key={span.start}>{points.slice(span.start, span.end).join("")}{span.label !== null && <small>{span.label}</small>}</mark>);
    place = span.end;
  }
  pieces.push(points.slice(place).join(""));
  return <>
    <p>{pieces}</p>
    {found === null && <p class="hint">The spans of this item cannot be shown: they are not pairs of whole numbers inside the text.</p>}
  </>;
}
