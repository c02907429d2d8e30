// What people are asked and how; used when a project begins and when it is changed.

import type { Campaign, Meaning, Option } from "../api";
import { Field, type Trouble } from "./Field";

export const EMPTY: Campaign = {
  question: "Is this right?", guidelines: "", votes: 1, extra: 0, rule: "majority", tie: "unsure", gold_share: 0, template: "fields",
  fields: [], price: 0, currency: "",
  options: [
    { value: "yes", label: "Right", key: "1", meaning: "positive" },
    { value: "no", label: "Wrong", key: "2", meaning: "negative" },
    { value: "unsure", label: "Unsure", key: "3", meaning: "unsure" },
  ],
};
const TEMPLATES: [string, string][] = [
  ["fields", "a list of columns"], ["triple", "a sentence of three columns"], ["pair", "two columns side by side"],
  ["text", "a long text"], ["spans", "a text with highlighted spans"], ["search", "a search result"],
];

interface Props { value: Campaign; onChange: (value: Campaign) => void; trouble: Trouble | null; begun: boolean }

export function CampaignForm({ value, onChange, trouble, begun }: Props) {
  const set = (change: Partial<Campaign>) => onChange({ ...value, ...change });
  const setOption = (place: number, change: Partial<Option>) =>
    set({ options: value.options.map((option, at) => at === place ? { ...option, ...change } : option) });
  const add = () => set({ options: [...value.options, { value: `answer-${value.options.length + 1}`, label: "", key: String(value.options.length + 1), meaning: "unsure" }] });
  return <>
    <Field name="question" label="Question" trouble={trouble}>
      <input required maxLength={2000} value={value.question} onInput={(event) => set({ question: event.currentTarget.value })} /></Field>
    <fieldset class={["options", "key", "label", "meaning", "value"].includes(trouble?.field ?? "") ? "wrong" : undefined}>
      <legend>Answers</legend>
      {value.options.map((option, place) => <div key={place} class="option">
        <label><span>Label</span><input required maxLength={64} value={option.label} onInput={(event) => setOption(place, { label: event.currentTarget.value })} /></label>
        <label><span>Key</span><input class="key" required maxLength={1} value={option.key} onInput={(event) => setOption(place, { key: event.currentTarget.value })} /></label>
        <label><span>means</span><select value={option.meaning} disabled={begun} onChange={(event) => setOption(place, { meaning: event.currentTarget.value as Meaning })}>
          <option value="positive">right</option><option value="negative">wrong</option><option value="unsure">unsure</option></select></label>
        {!begun && value.options.length > 2 && <button type="button" aria-label={`Remove ${option.label || "answer"}`}
          onClick={() => set({ options: value.options.filter((_, at) => at !== place) })}>×</button>}
      </div>)}
      {!begun && value.options.length < 9 && <button type="button" onClick={add}>Add an answer</button>}
      {["options", "key", "label", "meaning", "value"].includes(trouble?.field ?? "") && <p class="problem" role="alert">{trouble?.text}</p>}
    </fieldset>
    <Field name="guidelines" label="Guidelines" hint="Markdown; people see it beside the item." trouble={trouble}>
      <textarea rows={6} maxLength={100_000} value={value.guidelines} onInput={(event) => set({ guidelines: event.currentTarget.value })} /></Field>
    <Field name="template" label="An item looks like" trouble={trouble}>
      <select value={value.template} onChange={(event) => set({ template: event.currentTarget.value })}>
        {TEMPLATES.map(([name, text]) => <option key={name} value={name}>{text}</option>)}</select></Field>
    <div class="row">
      <Field name="price" label="Price of an answer" trouble={trouble}>
        <input inputMode="decimal" value={value.price} onChange={(event) => set({ price: Number(event.currentTarget.value) })} /></Field>
      <Field name="currency" label="Currency" trouble={trouble}>
        <input maxLength={8} value={value.currency} onInput={(event) => set({ currency: event.currentTarget.value })} /></Field>
    </div>
  </>;
}

export function VotesForm({ value, onChange, trouble }: Omit<Props, "begun">) {
  const set = (change: Partial<Campaign>) => onChange({ ...value, ...change });
  return <>
    <div class="row">
      <Field name="votes" label="People an item" trouble={trouble}>
        <input type="number" min={1} max={25} required value={value.votes}
          onInput={(event) => { const votes = event.currentTarget.valueAsNumber || 1; set({ votes, extra: votes === 1 ? 0 : value.extra }); }} /></Field>
      <Field name="extra" label="More where they disagree, up to" trouble={trouble}>
        <input type="number" min={0} max={25} required disabled={value.votes === 1} value={value.extra}
          onInput={(event) => set({ extra: event.currentTarget.valueAsNumber || 0 })} /></Field>
    </div>
    {value.votes > 1 && <div class="row">
      <Field name="rule" label="Their votes become a label by" trouble={trouble}>
        <select value={value.rule} onChange={(event) => set({ rule: event.currentTarget.value })}>
          <option value="majority">majority</option><option value="dawid-skene">a model of who errs how (Dawid-Skene)</option>
          <option value="gold-weighted">weights from gold questions</option></select></Field>
      <Field name="tie" label="A tie means" trouble={trouble}>
        <select value={value.tie} onChange={(event) => set({ tie: event.currentTarget.value })}>
          <option value="unsure">unsure</option><option value="positive">right</option><option value="negative">wrong</option></select></Field>
    </div>}
  </>;
}
