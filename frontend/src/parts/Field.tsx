// A labelled input that says what is wrong with it.

import type { ComponentChildren } from "preact";

export interface Trouble { field: string | null; text: string }

export function Field({ name, label, hint, trouble, children }:
  { name: string; label: string; hint?: string; trouble: Trouble | null; children: ComponentChildren }) {
  const wrong = trouble?.field === name;
  return <label class={wrong ? "wrong" : undefined}><span>{label}</span>{children}
    {wrong && <span class="problem" role="alert">{trouble.text}</span>}
    {hint !== undefined && !wrong && <span class="hint">{hint}</span>}</label>;
}
