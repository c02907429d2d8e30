// A labelled input that says what is wrong with it.

import type { ComponentChildren } from "preact";
import { Refusal } from "../api";
import { messageOf } from "../state";

export interface Trouble { field: string | null; text: string; defects: string[] }

const MOST = 20;
export const troubleOf = (error: unknown): Trouble => error instanceof Refusal
  ? { field: error.field, text: error.message, defects: error.defects } : { field: null, text: messageOf(error), defects: [] };

/** What is wrong, where no field is to blame: of a bad file, line by line. */
export function Troubles({ trouble }: { trouble: Trouble }) {
  const { defects } = trouble;
  return <div class="problem" role="alert">{defects.length < 2 ? trouble.text : <ul>
    {defects.slice(0, MOST).map((defect) => <li key={defect}>{defect}</li>)}
    {defects.length > MOST && <li>and {(defects.length - MOST).toLocaleString("en-US")} more</li>}</ul>}</div>;
}

export function Field({ name, label, hint, trouble, children }:
  { name: string; label: string; hint?: string; trouble: Trouble | null; children: ComponentChildren }) {
  const wrong = trouble?.field === name;
  return <label class={wrong ? "wrong" : undefined}><span>{label}</span>{children}
    {wrong && <span class="problem" role="alert">{trouble.text}</span>}
    {hint !== undefined && !wrong && <span class="hint">{hint}</span>}</label>;
}
