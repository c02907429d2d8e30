// A link with which one person can join a project.

import { useSignal } from "@preact/signals";
import { post } from "../api";
import { messageOf } from "../state";

export function Invite({ slug, roles }: { slug: string; roles: Record<string, string> }) {
  const role = useSignal(Object.keys(roles)[0]!), link = useSignal(""), problem = useSignal("");
  const invite = async (event: Event) => {
    event.preventDefault();
    try { problem.value = ""; link.value = (await post<{ link: string }>(`/projects/${slug}/invitations`, { role: role.value })).link; }
    catch (error) { problem.value = messageOf(error); }
  };
  return <section aria-labelledby="invite-title">
    <h2 id="invite-title">Invite</h2>
    <form class="inline" onSubmit={invite}>
      <label>as<select value={role.value} onChange={(event) => { role.value = event.currentTarget.value; }}>
        {Object.entries(roles).map(([value, name]) => <option key={value} value={value}>{name}</option>)}</select></label>
      <button>Make a link</button>
    </form>
    {problem.value !== "" && <p class="problem" role="alert">{problem.value}</p>}
    {link.value !== "" && <label class="link">Good for one person, for two weeks<input id="invitation" readOnly value={link.value} onFocus={(event) => event.currentTarget.select()} /></label>}
  </section>;
}
