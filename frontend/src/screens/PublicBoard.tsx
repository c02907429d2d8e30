// A leaderboard that its owner opened to anyone: scores and what they rest on, without signing in.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, Refusal, type PublicBoard as Found } from "../api";
import { Guidelines } from "../parts/Guidelines";
import { Scores, type Metric } from "../parts/Scores";
import { Spent } from "../parts/Spent";
import { messageOf } from "../state";
import { number } from "../parts/numbers";

const EVERY = 30_000;

export function PublicBoard({ slug }: { slug: string }) {
  const board = useSignal<Found | null>(null), problem = useSignal(""), metric = useSignal<Metric>("f1");
  const refresh = async () => {
    try {
      board.value = await get<Found>(`/boards/${encodeURIComponent(slug)}?metric=${metric.value}`);
      problem.value = "";
    } catch (error) {
      if (error instanceof Refusal) board.value = null; // it may have been closed
      problem.value = messageOf(error);
    }
  };
  useEffect(() => {
    void refresh();
    const timer = setInterval(() => { if (!document.hidden && board.value !== null) void refresh(); }, EVERY);
    return () => clearInterval(timer);
  }, [slug]);
  const now = board.value;
  if (now === null) return <main><h1>Leaderboard</h1><p role="status">{problem.value || "Loading…"}</p></main>;
  return <main class="dashboard evaluation">
    <h1>{now.title}</h1>
    {problem.value !== "" && <p class="problem" role="alert">{problem.value}</p>}
    <dl class="tiles">
      <div class="tile"><dt>labels</dt><dd>{number(now.n_labels)}</dd></div>
      <Spent of={now} />
      {now.confidence_level !== null && <div class="tile"><dt>intervals</dt><dd>{Math.round(100 * now.confidence_level)}%<small>{now.guarantee}</small></dd></div>}
    </dl>
    <Scores board={now} metric={metric.value} onMetric={(chosen) => { metric.value = chosen; void refresh(); }} />
    {now.assumptions.length > 0 && <section aria-labelledby="assumed-title"><h2 id="assumed-title">What this assumes</h2>
      <ul>{now.assumptions.map((text) => <li key={text}>{text}</li>)}</ul></section>}
    {now.guidelines.length > 0 && <section aria-labelledby="guide-title"><h2 id="guide-title">Guidelines</h2><Guidelines nodes={now.guidelines} /></section>}
  </main>;
}
