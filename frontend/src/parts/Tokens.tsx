// API tokens: which there are, a new one (shown once), one taken back.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { call, get, post, type Token } from "../api";
import { messageOf } from "../state";

const SCOPES: Record<string, string> = {
  read: "read what I can read", submit: "submit systems", label: "judge items", manage: "manage what I own",
};
const day = (seconds: number) => new Date(1000 * seconds).toLocaleDateString(undefined, { dateStyle: "medium" });

export function Tokens() {
  const tokens = useSignal<Token[] | null>(null), made = useSignal<Token | null>(null), leaving = useSignal<number | null>(null);
  const name = useSignal(""), scopes = useSignal<string[]>(["read"]), said = useSignal(""), problem = useSignal("");
  const secret = useRef<HTMLInputElement>(null);
  const act = async (what: () => Promise<string>) => {
    try { problem.value = ""; said.value = await what(); tokens.value = await get<Token[]>("/tokens"); }
    catch (error) { said.value = ""; problem.value = messageOf(error); }
  };
  useEffect(() => { void act(async () => ""); }, []);
  const make = (event: Event) => {
    event.preventDefault();
    void act(async () => {
      if (scopes.value.length === 0) throw new Error("Choose what the token may do.");
      made.value = await post<Token>("/tokens", { name: name.value, scopes: scopes.value });
      name.value = "";
      setTimeout(() => { secret.current?.focus(); secret.current?.select(); });
      return "Here is the token. Copy it now: it is not shown again.";
    });
  };
  const copy = async () => {
    secret.current?.select();
    try { await navigator.clipboard.writeText(made.value!.secret!); said.value = "Copied."; }
    catch { said.value = "Your browser does not let the page copy; the token is selected, press Ctrl+C."; } // as over plain HTTP
  };
  const revoke = (token: Token) => act(async () => {
    leaving.value = null;
    if (made.value?.id === token.id) made.value = null;
    await call("DELETE", `/tokens/${token.id}`);
    return `${token.name} opens nothing any more.`;
  });
  const choose = (scope: string, on: boolean) => { scopes.value = [...scopes.value.filter((each) => each !== scope), ...(on ? [scope] : [])]; };
  return <section aria-labelledby="tokens-title">
    <h2 id="tokens-title">API tokens</h2>
    <p class="hint">With a token a program or the command line acts for you, as far as you let it.</p>
    {tokens.value !== null && tokens.value.length > 0 && <div class="scroll" tabIndex={0} role="region" aria-label="Your tokens"><table class="stacks">
      <thead><tr><th scope="col">name</th><th scope="col">may</th><th scope="col">made</th><th scope="col">last used</th><th scope="col">take back</th></tr></thead>
      <tbody>{tokens.value.map((token) => <tr key={token.id}><th scope="row"><bdi>{token.name}</bdi></th>
        <td data-column="may">{token.scopes.join(", ")}</td><td data-column="made">{day(token.created_at)}</td><td data-column="last used">{token.used_at === null ? "never" : day(token.used_at)}</td>
        <td data-column="take back">{leaving.value === token.id
          ? <span class="buttons"><button class="danger" onClick={() => void revoke(token)}>Really revoke</button>
            <button onClick={() => { leaving.value = null; }}>Keep</button></span>
          : <button aria-label={`Revoke ${token.name}`} onClick={() => { leaving.value = token.id; }}>Revoke</button>}</td></tr>)}</tbody>
    </table></div>}
    <form onSubmit={make}>
      <label>Name of a new token<input required maxLength={100} pattern=".*\S.*" placeholder="my laptop" value={name.value}
        onInput={(event) => { name.value = event.currentTarget.value; }} /></label>
      <fieldset><legend>It may</legend>
        {Object.entries(SCOPES).map(([scope, words]) => <label key={scope} class="check"><input type="checkbox" checked={scopes.value.includes(scope)}
          onChange={(event) => choose(scope, event.currentTarget.checked)} />{words}</label>)}</fieldset>
      <button>Make a token</button>
    </form>
    <p role="status">{said.value}</p>
    {made.value !== null && <div class="secret"><label>Token {made.value.name}<input ref={secret} readOnly value={made.value.secret ?? ""} onFocus={(event) => event.currentTarget.select()} /></label>
      <button class="primary" onClick={() => void copy()}>Copy</button></div>}
    {problem.value !== "" && <p class="problem" role="alert">{problem.value}</p>}
  </section>;
}
