// Who sees all scores: nobody but the owner, all members, or anyone with the address of the public page.

import { useSignal } from "@preact/signals";
import type { Evaluation } from "../api";

type Audience = "nobody" | "members" | "anyone";
const SAID: Record<Audience, string> = {
  nobody: "The scores are hidden again.", members: "All members see all scores now.",
  anyone: "Anyone with the address of the public page sees all scores now.",
};

export function Publication({ slug, task, busy, onChange }:
  { slug: string; task: Evaluation; busy: boolean; onChange: (audience: Audience, said: string) => void }) {
  const audience = useSignal<Audience>("members");
  const to = (chosen: Audience) => onChange(chosen, SAID[chosen]);
  if (!task.published) {
    return <form class="inline publication" onSubmit={(event) => { event.preventDefault(); to(audience.value); }}>
      <p class="note">Not published: participants see their own systems alone.</p>
      <label>Publish to<select value={audience.value} onChange={(event) => { audience.value = event.currentTarget.value as Audience; }}>
        <option value="members">all members</option><option value="anyone">anyone with the address</option></select></label>
      <button disabled={busy}>Publish scores</button>
    </form>;
  }
  return <div class="buttons publication">
    <p class="note">{task.public ? "Published to anyone with the address." : "Published to all members."}</p>
    {task.public && <a class="button" href={`#/board/${slug}`}>See the public page</a>}
    {task.public ? <button disabled={busy} onClick={() => to("members")}>Show to members alone</button>
      : <button disabled={busy} onClick={() => to("anyone")}>Show to anyone</button>}
    <button disabled={busy} onClick={() => to("nobody")}>Hide scores</button>
  </div>;
}
