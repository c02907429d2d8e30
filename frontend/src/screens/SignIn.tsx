import { useEffect, useState } from "preact/hooks";
import { call, post, type Invitation } from "../api";
import { abilities, roleName } from "../parts/roles";
import { Tokens } from "../parts/Tokens";
import { go, me, messageOf, whoAmI } from "../state";

function Problem({ text }: { text: string }) {
  return <p class="problem" role="alert">{text}</p>;
}

export function SignIn() {
  const [name, setName] = useState(""), [password, setPassword] = useState(""), [problem, setProblem] = useState("");
  const submit = async (event: Event) => {
    event.preventDefault();
    try { await post("/session", { name, password }); await whoAmI(); go("/"); } catch (error) { setProblem(messageOf(error)); }
  };
  return <main class="narrow">
    <h1>Sign in</h1>
    <form onSubmit={submit}>
      <label>Name<input autocomplete="username" autocapitalize="none" required value={name}
        onInput={(event) => setName(event.currentTarget.value)} /></label>
      <label>Password<input type="password" autocomplete="current-password" required value={password}
        onInput={(event) => setPassword(event.currentTarget.value)} /></label>
      {problem !== "" && <Problem text={problem} />}
      <button class="primary">Sign in</button>
    </form>
  </main>;
}

export function UseLink({ secret }: { secret: string }) {
  const [problem, setProblem] = useState("");
  useEffect(() => {
    post("/session/link", { link: secret }).then(whoAmI).then(() => go("/", true), (error) => setProblem(messageOf(error)));
  }, []);
  return <main class="narrow"><h1>Signing in</h1>{problem !== "" && <><Problem text={problem} /><a href="#/">Sign in with a password</a></>}</main>;
}

export function Join({ secret }: { secret: string }) {
  const [name, setName] = useState(""), [password, setPassword] = useState(""), [problem, setProblem] = useState("");
  const [to, setTo] = useState<Invitation | null>(null);
  useEffect(() => { post<Invitation>("/session/invitation", { invitation: secret }).then(setTo, (error) => setProblem(messageOf(error))); }, []);
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      await post("/session/join", me.value === null ? { invitation: secret, name, password } : { invitation: secret });
      await whoAmI();
      go("/", true);
    } catch (error) { setProblem(messageOf(error)); }
  };
  return <main class="narrow">
    <h1>You are invited{to !== null && <>: <bdi>{to.title}</bdi></>}</h1>
    {to !== null && <p>As {roleName(to.kind, to.role)}. {abilities(to.kind, to.role)}</p>}
    <form onSubmit={submit}>
      {me.value === null ? <>
        <label>Choose a name<input autocomplete="username" autocapitalize="none" required maxLength={64} value={name}
          onInput={(event) => setName(event.currentTarget.value)} /></label>
        <label>Choose a password<input type="password" autocomplete="new-password" required minLength={10} value={password}
          onInput={(event) => setPassword(event.currentTarget.value)} /></label>
        <p class="hint">At least 10 characters.</p>
      </> : <p>You join as <strong>{me.value.name}</strong>.</p>}
      {problem !== "" && <Problem text={problem} />}
      <button class="primary">Join</button>
    </form>
  </main>;
}

export function Account() {
  const [password, setPassword] = useState(""), [said, setSaid] = useState("");
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      await call("PUT", "/session/password", { password });
      setPassword(""); setSaid("Saved. Your other sessions have ended."); await whoAmI();
    } catch (error) { setSaid(messageOf(error)); }
  };
  return <main class="account">
    <h1>{me.value?.name}</h1>
    <form class="password" onSubmit={submit}>
      <input class="away" autocomplete="username" value={me.value?.name} readOnly tabIndex={-1} aria-hidden="true" />
      <label>{me.value?.has_password ? "New password" : "Choose a password, to sign in without a link"}
        <input type="password" autocomplete="new-password" required minLength={10} value={password}
          onInput={(event) => setPassword(event.currentTarget.value)} /></label>
      <p class="hint">At least 10 characters.</p>
      <p role="status">{said}</p>
      <button class="primary">Save</button>
    </form>
    <Tokens />
  </main>;
}
