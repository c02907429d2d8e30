// All keys of the labelling screen; everybody may choose their own.

import { useSignal } from "@preact/signals";
import { call, Refusal, type Project } from "../api";
import { me, messageOf } from "../state";

export const ACTIONS: [string, string][] = [
  ["undo", "undo"], ["back", "back: change an earlier answer"], ["skip", "skip: leave it to others"], ["note", "note"],
  ["guidelines", "guidelines"], ["keys", "these keys"],
];

export function KeysPanel({ project, onChange }: { project: Project; onChange: () => Promise<void> }) {
  const changing = useSignal(false), wrong = useSignal<{ field: string | null; text: string } | null>(null);
  const own = useSignal<Record<string, string>>({});
  const rows: [string, string, string][] = [
    ...project.options.map((option, place): [string, string, string] => [`answer ${place + 1}`, option.label, option.key]),
    ...ACTIONS.map(([name, text]): [string, string, string] => [name, text, project.keys[name] ?? ""]),
  ];
  const save = async (keys: Record<string, string>) => {
    try {
      await call("PUT", "/session/keys", { keys });
      if (me.value !== null) me.value = { ...me.value, keys };
      await onChange();
      changing.value = false;
      wrong.value = null;
    } catch (error) { wrong.value = { field: error instanceof Refusal ? error.field : null, text: messageOf(error) }; }
  };
  const submit = (event: Event) => {
    event.preventDefault();
    const changed = Object.fromEntries(rows.filter(([name, , key]) => own.value[name] !== undefined && own.value[name] !== key).map(([name]) => [name, own.value[name]!]));
    void save({ ...me.value?.keys, ...changed });
  };
  return <form class="keys" onSubmit={submit}>
    <h2>Keys</h2>
    <dl>{rows.map(([name, text, key]) => <div key={name}>
      <dt>{changing.value
        ? <input class="key" aria-label={`Key for ${text}`} aria-invalid={wrong.value?.field === name} required maxLength={1} value={own.value[name] ?? key}
            onInput={(event) => { own.value = { ...own.value, [name]: event.currentTarget.value }; }} />
        : <kbd>{key}</kbd>}</dt>
      <dd>{text}</dd></div>)}
      {!changing.value && <div><dt><kbd>Esc</kbd></dt><dd>leave a note or an earlier answer</dd></div>}
    </dl>
    {wrong.value !== null && <p class="problem" role="alert">{wrong.value.text}</p>}
    <p class="buttons">{changing.value
      ? <><button class="primary">Save</button><button type="button" onClick={() => { changing.value = false; own.value = {}; wrong.value = null; }}>Cancel</button></>
      : <button type="button" onClick={() => { own.value = {}; changing.value = true; }}>Change my keys</button>}
      {Object.keys(me.value?.keys ?? {}).length > 0 && <button type="button" onClick={() => { own.value = {}; void save({}); }}>Back to the usual ones</button>}</p>
  </form>;
}
