// Items whose votes differ or are unsure; the owner has the last word.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, newRequest, post, type Dispute, type Project } from "../api";
import { messageOf } from "../state";
import { Item } from "./Item";

const SOME = 4;

export function Disputes({ slug, stamp, settled }: { slug: string; stamp: string; settled: () => void }) {
  const base = `/projects/${slug}`;
  const project = useSignal<Project | null>(null), disputes = useSignal<Dispute[]>([]), most = useSignal(SOME), problem = useSignal("");
  const refresh = async () => {
    try {
      project.value ??= await get<Project>(base);
      disputes.value = await get<Dispute[]>(`${base}/disagreements`);
    } catch (error) { problem.value = messageOf(error); }
  };
  useEffect(() => { void refresh(); }, [slug, stamp]);
  const rule = async (dispute: Dispute, value: string) => {
    try { await post(`${base}/adjudications`, { item: dispute.item, value, request: newRequest() }); await refresh(); settled(); }
    catch (error) { problem.value = messageOf(error); }
  };
  if (project.value === null || disputes.value.length === 0) return null;
  const { options, template } = project.value;
  const label = (value: string) => options.find((option) => option.value === value)?.label ?? value;
  const open = disputes.value.filter((each) => each.adjudicated === null).length;
  return <section aria-labelledby="disputes-title">
    <h2 id="disputes-title">Disagreements ({open.toLocaleString("en-US")} open)</h2>
    {problem.value !== "" && <p class="problem" role="alert">{problem.value}</p>}
    <ul class="disputes wide">{disputes.value.slice(0, most.value).map((dispute) => <li key={dispute.item} class="card">
      <Item fields={dispute.fields} template={template} />
      <ul class="votes">{dispute.votes.map((vote) => <li key={vote.user}><strong>{vote.user}</strong>: {label(vote.value)}{vote.note !== null && <em> “{vote.note}”</em>}</li>)}</ul>
      <p class="buttons">{options.map((option) => <button key={option.value} class={dispute.adjudicated === option.value ? "primary" : ""}
        aria-pressed={dispute.adjudicated === option.value} onClick={() => void rule(dispute, option.value)}>{option.label}</button>)}</p>
    </li>)}</ul>
    {disputes.value.length > most.value && <button onClick={() => { most.value += 20; }}>Show more ({disputes.value.length - most.value})</button>}
  </section>;
}
