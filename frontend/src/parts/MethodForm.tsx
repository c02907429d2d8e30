// How tight the curve is to be, and by which method.

import { Field, type Trouble } from "./Field";

export interface Method { name: string; parameters: Record<string, number | null> }
interface Parameter { name: string; label: string; start: number | null; hint?: string }

const METHODS: Record<string, { title: string; parameters: Parameter[] }> = {
  certify: { title: "certify: the whole curve, no assumptions", parameters: [
    { name: "absolute", label: "Precision within", start: 0.02 },
    { name: "relative", label: "or within this share of it", start: 0.08 },
    { name: "from_rank", label: "counting from rank", start: 1000, hint: "Above it the ranges may be wider." },
    { name: "confidence_level", label: "Confidence", start: 0.95 },
    { name: "budget", label: "Labels at most", start: null, hint: "Empty: as many as the target needs." },
  ] },
  paula: { title: "PAULA: fewest labels, assumes a steady ranking", parameters: [
    { name: "epsilon", label: "epsilon", start: 0.05 }, { name: "window", label: "window", start: 100 } ] },
  stratified: { title: "stratified", parameters: [
    { name: "epsilon", label: "epsilon", start: 0.05 }, { name: "window", label: "window", start: 100 },
    { name: "confidence_level", label: "Confidence", start: 0.95 } ] },
  uniform: { title: "uniform", parameters: [
    { name: "labels", label: "Labels", start: 1000 }, { name: "confidence_level", label: "Confidence", start: 0.95 } ] },
  point: { title: "one rank only", parameters: [
    { name: "rank", label: "Rank", start: null, hint: "Empty: the whole list." }, { name: "labels", label: "Labels", start: 500 },
    { name: "confidence_level", label: "Confidence", start: 0.95 } ] },
};

export function startMethod(name: string, nItems: number): Method {
  const parameters: Record<string, number | null> = {};
  for (const each of METHODS[name]!.parameters) {
    const large = each.name === "from_rank" ? Math.max(1, Math.round(nItems / 10)) : each.name === "labels" ? nItems : Infinity;
    parameters[each.name] = each.start === null ? null : Math.min(each.start, large);
  }
  return { name, parameters };
}

export function MethodForm({ value, onChange, trouble, nItems }:
  { value: Method; onChange: (value: Method) => void; trouble: Trouble | null; nItems: number }) {
  return <>
    <Field name="method" label="Method" trouble={trouble}>
      <select value={value.name} onChange={(event) => onChange(startMethod(event.currentTarget.value, nItems))}>
        {Object.entries(METHODS).map(([name, { title }]) => <option key={name} value={name}>{title}</option>)}</select></Field>
    <div class="row">{METHODS[value.name]!.parameters.map((each) => <Field key={each.name} name={each.name} label={each.label} hint={each.hint} trouble={trouble}>
      <input inputMode="decimal" value={value.parameters[each.name] ?? ""} onChange={(event) => {
        const text = event.currentTarget.value.trim();
        onChange({ ...value, parameters: { ...value.parameters, [each.name]: text === "" ? null : Number(text) } });
      }} /></Field>)}</div>
  </>;
}
