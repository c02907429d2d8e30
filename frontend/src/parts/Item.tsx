// An item laid out by template. Values are only ever put in as text.

import type { Cell } from "../api";
import { Instance } from "./Instance";
import { Spans } from "./Spans";

export function show(value: unknown): string {
  if (value === null || value === undefined) return "–";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function Rest({ fields }: { fields: Cell[] }) {
  if (fields.length === 0) return null;
  return <dl class="fields">{fields.map((field) => <div key={field.name}><dt>{field.name}</dt><dd>{show(field.value)}</dd></div>)}</dl>;
}

// Columns are taken by their names where these say what they are, else in their order.
function SearchResult({ fields }: { fields: Cell[] }) {
  const left = [...fields];
  const take = (name: string) => {
    const place = left.findIndex((field) => field.name.toLowerCase() === name);
    return left.splice(place < 0 ? 0 : place, 1)[0];
  };
  const named = ["query", "title", "snippet", "url"].every((name) => fields.some((field) => field.name.toLowerCase() === name));
  const [query, title, snippet, url] = named ? ["query", "title", "snippet", "url"].map(take) : left.splice(0, 4);
  return <div class="item search">
    <p class="query"><span class="hint">searched for</span> {show(query?.value)}</p>
    <div class="result">
      {title && <h3>{show(title.value)}</h3>}
      {url && <p class="url">{show(url.value)}</p>}
      {snippet && <p class="snippet">{show(snippet.value)}</p>}
    </div>
    <Rest fields={left} />
  </div>;
}

export function Item({ fields, template }: { fields: Cell[]; template: string }) {
  const [first, second, third] = fields;
  if (template === "triple" && first && second && third) {
    return <div class="item triple">
      <p><span class="term">{show(first.value)}</span> <span class="relation">{show(second.value)}</span>{" "}
        <span class="term">{show(third.value)}</span></p>
      <Rest fields={fields.slice(3)} />
    </div>;
  }
  if (template === "pair" && first && second) {
    return <div class="item pair">
      <div class="columns">
        {[first, second].map((field) => <section key={field.name}><h3>{field.name}</h3><p>{show(field.value)}</p></section>)}
      </div>
      <Rest fields={fields.slice(2)} />
    </div>;
  }
  if (template === "instance") return <Instance fields={fields} />;
  if (template === "search" && first && second) return <SearchResult fields={fields} />;
  if (template === "spans" && first && second) {
    return <div class="item text"><Spans text={show(first.value)} spans={second.value} /><Rest fields={fields.slice(2)} /></div>;
  }
  if (template === "text" && first) {
    return <div class="item text"><p>{show(first.value)}</p><Rest fields={fields.slice(1)} /></div>;
  }
  return <div class="item"><Rest fields={fields} /></div>;
}
