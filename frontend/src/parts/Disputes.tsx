// Items whose votes do not agree, and the owner's last word on them.

import { useSignal } from "@preact/signals";
import type { Dispute, Project } from "../api";
import { Item } from "./Item";
import { number } from "./numbers";

const SOME = 6;

export function Disputes({ disputes, project, onRule }:
  { disputes: Dispute[]; project: Project; onRule: (dispute: Dispute, value: string) => Promise<void> }) {
  const most = useSignal(SOME);
  const undecided = disputes.filter((each) => each.adjudicated === null && (each.label === null || each.label < 0)).length;
  const label = (value: string) => project.options.find((option) => option.value === value)?.label ?? value;
  const outcome = (dispute: Dispute) => dispute.adjudicated !== null ? "you decided" : dispute.label === null ? "waits for another vote"
    : dispute.label < 0 ? "not decided" : `by the votes: ${dispute.label === 1 ? "right" : "wrong"}`;
  return <section aria-labelledby="disputes-title">
    <h2 id="disputes-title">Disagreements</h2>
    <p class="hint">{number(disputes.length)} items with votes that differ or are unsure; {number(undecided)} of them not decided. Your word is the last.</p>
    <ul class="disputes">{disputes.slice(0, most.value).map((dispute) => <li key={dispute.item} class="card">
      <Item fields={dispute.fields} template={project.template} />
      <ul class="votes">{dispute.votes.map((vote) => <li key={vote.user}><strong>{vote.user}</strong>: {label(vote.value)}{vote.note !== null && <em> “{vote.note}”</em>}</li>)}</ul>
      <p class="hint">{outcome(dispute)}</p>
      <p class="buttons">{project.options.map((option) => <button key={option.value} class={dispute.adjudicated === option.value ? "primary" : ""}
        aria-pressed={dispute.adjudicated === option.value} onClick={() => void onRule(dispute, option.value)}>{option.label}</button>)}</p>
    </li>)}</ul>
    {disputes.length > most.value && <button onClick={() => { most.value += 30; }}>Show more ({number(disputes.length - most.value)})</button>}
  </section>;
}
