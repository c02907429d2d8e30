// What a reader marks in a document: mentions with type, canonical mention and link, and relations between them.
// Mentions have numbers that stay; the service is sent positions.

import type { Marks, TextDocument } from "./api";

export interface Mark { id: number; start: number; end: number; type: string; canonical: number; link: string }
export interface Stated { subject: number; predicate: string; object: number }
export interface Sheet { mentions: Mark[]; relations: Stated[] }

export function fromMarks(marks: Marks): Sheet {
  return {
    mentions: marks.mentions.map((each, id) => ({ id, start: each.start, end: each.end, type: each.type, canonical: each.canonical, link: each.link ?? "" })),
    relations: marks.relations.map((each) => ({ ...each })),
  };
}

export function toMarks(sheet: Sheet): Marks {
  const sorted = [...sheet.mentions].sort((a, b) => a.start - b.start || a.end - b.end);
  const place = new Map(sorted.map((each, number) => [each.id, number]));
  return {
    mentions: sorted.map((each) => ({ start: each.start, end: each.end, type: each.type, canonical: place.get(each.canonical)!, link: each.link.trim() || null })),
    relations: sheet.relations.map((each) => ({ subject: place.get(each.subject)!, predicate: each.predicate, object: place.get(each.object)! })),
  };
}

/** Mark a span, or change the type of one that is marked. */
export function mark(sheet: Sheet, start: number, end: number, type: string): [Sheet, Mark] {
  const known = sheet.mentions.find((each) => each.start === start && each.end === end);
  if (known !== undefined) {
    const changed = { ...known, type };
    return [{ ...sheet, mentions: sheet.mentions.map((each) => each.id === known.id ? changed : each) }, changed];
  }
  const id = 1 + Math.max(-1, ...sheet.mentions.map((each) => each.id));
  const added = { id, start, end, type, canonical: id, link: "" };
  return [{ ...sheet, mentions: [...sheet.mentions, added] }, added];
}

/** Remove a mention, its relations, and what stood for it. */
export function unmark(sheet: Sheet, id: number): Sheet {
  return {
    mentions: sheet.mentions.filter((each) => each.id !== id).map((each) => each.canonical === id ? { ...each, canonical: each.id } : each),
    relations: sheet.relations.filter((each) => each.subject !== id && each.object !== id),
  };
}

/** Let a mention stand for another; those that stood for it follow. */
export function standFor(sheet: Sheet, id: number, other: number): Sheet {
  const root = sheet.mentions.find((each) => each.id === other)?.canonical ?? id;
  const target = root === id ? id : root;
  return { ...sheet, mentions: sheet.mentions.map((each) => each.id === id || (each.canonical === id && target !== id) ? { ...each, canonical: target } : each) };
}

export function toggle(sheet: Sheet, stated: Stated): Sheet {
  const same = (each: Stated) => each.subject === stated.subject && each.object === stated.object && each.predicate === stated.predicate;
  return { ...sheet, relations: sheet.relations.some(same) ? sheet.relations.filter((each) => !same(each)) : [...sheet.relations, stated] };
}

/** Pairs of mentions that share a sentence, in the order of the text. */
export function pairsOf(document: TextDocument, sheet: Sheet): [Mark, Mark][] {
  const sorted = [...sheet.mentions].sort((a, b) => a.start - b.start || a.end - b.end);
  const found: [Mark, Mark][] = [], seen = new Set<string>();
  for (const [low, high] of document.sentences) {
    const inside = sorted.filter((each) => each.start < high && low < each.end);
    inside.forEach((first, place) => inside.slice(place + 1).forEach((second) => {
      const key = `${first.id} ${second.id}`;
      if (!seen.has(key)) { seen.add(key); found.push([first, second]); }
    }));
  }
  return found;
}
