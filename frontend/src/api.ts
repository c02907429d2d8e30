// Talking to the service. Every failure becomes a Refusal (the service said no) or an Unreachable (nobody answered).

export type Meaning = "positive" | "negative" | "unsure";
export interface Option { value: string; label: string; key: string; meaning: Meaning }
export type Node = string | { tag: string; href?: string; children: Node[] };
export interface Project {
  slug: string; kind: "campaign" | "evaluation" | "reading"; title: string; state: string; role: string; question: string; options: Option[]; template: string;
  votes: number; guidelines: Node[]; my_answers: number; keys: Record<string, string>;
}
export interface Cell { name: string; value: unknown }
export interface Task { item: number; fields: Cell[]; score: number | null; rank: number | null; votes: string[] | null }
export interface Hand { tasks: Task[]; finished: boolean; for_good: boolean; retry_after: number | null; my_answers: number }
export interface Answer { item: number; value: string; request: string; note: string | null; seconds: number | null }
export interface Taken { answers: { request: string; accepted: boolean; detail: string | null }[]; hand: Hand | null }
export interface PastAnswer { item: number; kind: string; value: string | null; note: string | null; at: number; fields: Cell[] }
export interface Invitation { title: string; kind: Project["kind"]; role: string }
export interface Me { name: string; is_admin: boolean; has_password: boolean; keys: Record<string, string> }
export interface Token { id: number; name: string; scopes: string[]; created_at: number; used_at: number | null; secret: string | null }
export interface Progress {
  n_items: number; method: string; laid_out: number; labelled: number; unsure: number; open: number; answers: number;
  price: number; spent: number; currency: string; done: boolean; worst_over_target: number | null; target_met: boolean | null;
}
export interface Forecast { still_needed: number | null; answers: number | null; cost: number | null }
export interface Member { id: number; name: string; role: string }
export interface Bounds { estimate: number; low: number; high: number }
/** Of a curve: no estimate where nothing is labelled. */
export interface Range { estimate: number | null; low: number; high: number }
export interface Curve {
  headline: string; speaks_of: "the truth" | "the labels as given"; sentence: string; corrected: boolean; n_labels: number; confidence_level: number; guarantee: string; crossed: boolean;
  notes: string[];
  assumptions: { statement: string; verdict: string; finding: string }[];
  summary: Record<string, Range>;
  points: Record<string, (number | null)[]>;
  at: { rank: number; precision: Range; yield: Range }[];
}
export interface Annotator {
  name: string; answers: number; seconds: number | null; last_at: number | null; cost: number;
  on_gold: Accuracy | null; beside_others: Accuracy | null;
}
export interface Accuracy { right: number; answers: number; low: number; high: number }
export interface Pair { first: string; second: string; shared_items: number; agreed: number; kappa: number | null }
export interface People {
  agreement: number | null; shared_items: number; krippendorff_alpha: number | null; fleiss_kappa: number | null; pairs: Pair[];
  gold_questions: number; annotators: Annotator[];
}
export interface Preview {
  source: string; name: string; n_rows: number; columns: string[]; rows: Record<string, unknown>[]; numeric: string[];
  score: string | null; id: string | null; hidden: string[];
}
export interface Campaign {
  question: string; options: Option[]; guidelines: string; votes: number; extra: number; rule: string; tie: string;
  gold_share: number; template: string; fields: string[]; price: number; currency: string;
}
export interface Settings { title: string; state: string; settings: Campaign }
export interface Dispute {
  item: number; fields: Cell[]; label: number | null; adjudicated: string | null;
  votes: { user: string; value: string; note: string | null }[];
}
export interface Documents {
  source: string; name: string; n_documents: number; n_tokens: number; n_with_mentions: number; first: { name: string; text: string }[];
}
export interface Evaluation {
  title: string; role: string; kind: string; guidelines: Node[]; predicates: Record<string, string>; types: string[];
  columns: string[]; half_width: number; confidence_level: number; law: string; published: boolean; public: boolean; n_documents: number;
  n_tokens: number; labelled: number; open: number; answers: number; spent: number; spent_judging: number; spent_reading: number; price: number; currency: string;
  reading: string | null; allowance: { each: number; in_all: number; used: number; beyond: number }; label_price: number;
}
export interface Standing {
  rank: number | null; system: string; version: number; precision: Bounds; recall: Bounds; f1: Bounds;
  n_predictions: number; n_labels: number; missed: boolean;
}
export interface Leaderboard { rows: Standing[]; metric: string; notes: string[]; waiting?: string[]; doubt: string | null; hidden?: number }
export interface PublicBoard extends Leaderboard {
  title: string; guidelines: Node[]; assumptions: string[]; n_labels: number; confidence_level: number | null; guarantee: string | null;
  spent: number; spent_judging: number; spent_reading: number; currency: string;
}
export interface Cost { labels: number; answers: number; money: number; currency: string }
export interface Submission {
  id: number; system: string; version: number | null; state: "checked" | "accepted" | "replaced" | "retracted"; file: string; user: string;
  created_at: number; n_predictions: number; n_new: number; first: Cost; most: Cost; warnings: string[];
}
export interface Mention { start: number; end: number; type: string; canonical: number; link: string | null }
export interface Relation { subject: number; predicate: string; object: number }
export interface Marks { mentions: Mention[]; relations: Relation[] }
export interface TextDocument {
  item: number; name: string; text: string; sentences: [number, number][]; tokens: [number, number][]; annotation: Marks;
  types: string[]; predicates: Record<string, string>;
}
export interface Naming {
  ends: number; linked: number; taken: number; called: number; named: number; links: number; known: number; sentence: string; doubt: string | null;
}
export interface ReadingSummary {
  documents: number; read: number; readings: number; agreement: Record<string, number | null>; linked: { reader: string; linked: number; mentions: number }[];
  found: { together: number[]; majority: number; spans: number } | null; relations: number; naming: Naming; tokens: number; pairs: number;
  spent: number; currency: string;
}
export interface Told { relations: number; counted: number; uncounted: number; naming: Naming }

export class Refusal extends Error {
  constructor(readonly status: number, message: string, readonly field: string | null = null, readonly defects: string[] = [],
    readonly fields: Record<string, string> = {}) { super(message); }
}
export class Unreachable extends Error {}

export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  let response: Response;
  const file = body instanceof Blob ? body : undefined;
  try {
    const file = body instanceof Blob;
    response = await fetch(`/api${path}`, {
      method,
      headers: body === undefined ? {} : { "content-type": file ? "application/octet-stream" : "application/json" },
      body: body === undefined ? undefined : file ? body : JSON.stringify(body),
    });
  } catch {
    throw new Unreachable("The service cannot be reached.");
  }
  if (response.status >= 500) throw new Unreachable("The service has a problem.");
  if (response.status === 204) return undefined as T;
  const said = await response.json().catch(() => ({ detail: response.statusText }));
  if (!response.ok) throw new Refusal(response.status, String(said.detail), said.field ?? null,
    (said.defects ?? []).map((defect: { message: string }) => defect.message), said.fields ?? {});
  return said as T;
}

export const get = <T>(path: string) => call<T>("GET", path);
export const post = <T>(path: string, body: unknown = {}) => call<T>("POST", path, body);

export function newRequest(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16)); // randomUUID needs HTTPS
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
