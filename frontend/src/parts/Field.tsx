// A labelled input that says what is wrong with it.

import type { ComponentChildren } from "preact";
import { Refusal } from "../api";
import { messageOf } from "../state";

/** What is wrong with a request; `fields` where several fields have something wrong, each in a sentence of its own. */
export interface Trouble { field: string | null; text: string; defects: string[]; fields?: Record<string, string> }

const MOST = 20;
export const troubleOf = (error: unknown): Trouble => error instanceof Refusal
  ? { field: error.field, text: error.message, defects: error.defects, fields: error.fields } : { field: null, text: messageOf(error), defects: [] };

/** What is wrong, where no field is to blame: of a bad file, line by line. */
export function Troubles({ trouble }: { trouble: Trouble }) {
  const { defects } = trouble;
  return <div class="problem" role="alert">{defects.length < 2 ? trouble.text : <ul>
    {defects.slice(0, MOST).map((defect) => <li key={defect}>{defect}</li>)}
    {defects.length > MOST && <li>and {(defects.length - MOST).toLocaleString("en-US")} more</li>}</ul>}</div>;
}

export function Field({ name, label, hint, trouble, children }:
  { name: string; label: string; hint?: string; trouble: Trouble | null; children: ComponentChildren }) {
  const said = trouble?.fields?.[name] ?? (trouble?.field === name ? trouble.text : undefined), wrong = said !== undefined;
  return <label class={wrong ? "wrong" : undefined}><span>{label}</span>{children}
    {wrong && <span class="problem" role="alert">{said.replace(`'${name}' must`, "Must")}</span>}
    {hint !== undefined && !wrong && <span class="hint">{hint}</span>}</label>;
}
