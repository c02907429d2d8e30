// Who belongs to a project: roles, people taken out again, and links with which others can join.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call, get, post, type Member } from "../api";
import { me, messageOf } from "../state";

export function Members({ slug, roles }: { slug: string; roles: Record<string, string> }) {
  const base = `/projects/${slug}`;
  const members = useSignal<Member[]>([]), leaving = useSignal<number | null>(null);
  const role = useSignal(Object.keys(roles)[0]!), link = useSignal(""), problem = useSignal(""), said = useSignal("");
  const act = async (what: () => Promise<string>) => {
    try { problem.value = ""; said.value = await what(); members.value = await get<Member[]>(`${base}/members`); }
    catch (error) { said.value = ""; problem.value = messageOf(error); }
  };
  useEffect(() => { void act(async () => ""); }, [slug]);
  const invite = (event: Event) => {
    event.preventDefault();
    return act(async () => { link.value = (await post<{ link: string }>(`${base}/invitations`, { role: role.value })).link; return ""; });
  };
  const change = (member: Member, to: string) => act(async () => {
    await call("PUT", `${base}/members/${member.id}`, { role: to });
    return `${member.name} is ${roles[to]} now.`;
  });
  const remove = (member: Member) => act(async () => {
    leaving.value = null;
    await call("DELETE", `${base}/members/${member.id}`);
    return `${member.name} is out; the answers stay.`;
  });
  const choices = Object.entries(roles).map(([value, name]) => <option key={value} value={value}>{name}</option>);
  return <section aria-labelledby="members-title">
    <h2 id="members-title">Members</h2>
    {members.value.length > 0 && <div class="scroll" tabIndex={0} role="region" aria-label="Roles"><table>
      <thead><tr><th scope="col">who</th><th scope="col">role</th><th scope="col">take out</th></tr></thead>
      <tbody>{members.value.map((member) => <tr key={member.id}><th scope="row"><bdi>{member.name}</bdi></th>
        {member.name === me.value?.name ? <><td>{roles[member.role]}</td><td>you</td></> : <>
          <td><select aria-label={`Role of ${member.name}`} value={member.role} onChange={(event) => void change(member, event.currentTarget.value)}>{choices}</select></td>
          <td>{leaving.value === member.id
            ? <span class="buttons"><button class="danger" onClick={() => void remove(member)}>Really remove</button>
              <button onClick={() => { leaving.value = null; }}>Keep</button></span>
            : <button aria-label={`Remove ${member.name}`} onClick={() => { leaving.value = member.id; }}>Remove</button>}</td></>}
      </tr>)}</tbody></table></div>}
    <form class="inline" onSubmit={invite}>
      <label>Invite somebody as<select value={role.value} onChange={(event) => { role.value = event.currentTarget.value; }}>{choices}</select></label>
      <button>Make a link</button>
    </form>
    {link.value !== "" && <label class="link">Good for one person, for two weeks<input id="invitation" readOnly value={link.value} onFocus={(event) => event.currentTarget.select()} /></label>}
    {problem.value !== "" && <p class="problem" role="alert">{problem.value}</p>}
    <p role="status" class="hint">{said.value}</p>
  </section>;
}
