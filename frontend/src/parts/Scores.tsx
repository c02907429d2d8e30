// Scores of all systems: a table with intervals and honest ties, and what is to know about them.

import type { ComponentChildren } from "preact";
import type { Bounds, Leaderboard, Standing } from "../api";
import { number, plural } from "./numbers";

export const METRICS = ["f1", "precision", "recall"] as const;
export type Metric = typeof METRICS[number];
const NAMES: Record<string, string> = { f1: "F1", precision: "precision", recall: "recall" };

function Range({ score }: { score: Bounds }) {
  return <span class="range">
    <span>{score.estimate.toFixed(3)} <small>{score.low.toFixed(3)} – {score.high.toFixed(3)}</small></span>
    <svg class="interval" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      <rect class="scale" x="0" y="3.5" width="100" height="1" />
      <rect class="width" x={100 * score.low} y="1.5" width={Math.max(100 * (score.high - score.low), 0.6)} height="5" />
      <rect class="point" x={100 * score.estimate - 0.5} y="0" width="1" height="8" />
    </svg>
  </span>;
}

function Board({ board, metric }: { board: Leaderboard; metric: string }) {
  const shared = (row: Standing) => row.rank !== null && board.rows.filter((other) => other.rank === row.rank).length > 1;
  return <div class="scroll" tabIndex={0} role="region" aria-label="Scores of all systems"><table class="board stacks">
    <thead><tr><th scope="col">rank</th><th scope="col">system</th>
      {METRICS.map((name) => <th key={name} scope="col" aria-sort={name === metric ? "descending" : undefined}>{NAMES[name]}</th>)}
      <th scope="col">predictions</th><th scope="col">labels</th></tr></thead>
    <tbody>{board.rows.map((row) => <tr key={row.system}>
      <td data-column="rank">{row.rank === null ? "–" : `${shared(row) ? "=" : ""}${row.rank}`}</td>
      <th scope="row"><bdi>{row.system}</bdi>{row.version > 1 && <small> version {row.version}</small>}</th>
      {METRICS.map((name) => <td key={name} data-column={NAMES[name]}><Range score={row[name]} /></td>)}
      <td data-column="predictions">{number(row.n_predictions)}</td><td data-column="labels">{number(row.n_labels)}</td></tr>)}</tbody>
  </table></div>;
}

/** Why there is no row to show; said once, where the notes say it too. */
function Nobody({ board, role }: { board: Leaderboard; role: string | undefined }) {
  const hidden = board.hidden ?? 0;
  if (hidden === 0) return board.notes.length > 0 ? null : <p class="hint">Nobody is scored yet.</p>;
  const others = `${plural(hidden, "system")} ${hidden === 1 ? "is" : "are"} scored; the scores are hidden until the owner publishes them.`;
  return <p class="hint">{role === "annotator" ? others : `None of your systems is scored yet. Of others, ${others}`}</p>;
}

/** The leaderboard and its notes, under a heading with the choice of what to rank by. */
export function Scores({ board, metric, onMetric, role, children }:
  { board: Leaderboard | null; metric: Metric; onMetric: (metric: Metric) => void; role?: string; children?: ComponentChildren }) {
  const missed = board?.rows.filter((row) => row.missed) ?? [];
  return <section aria-labelledby="board-title">
    <div class="bar"><h2 id="board-title">Leaderboard</h2>
      <label class="inline">ranked by <select value={metric} onChange={(event) => onMetric(event.currentTarget.value as Metric)}>
        {METRICS.map((each) => <option key={each} value={each}>{NAMES[each]}</option>)}</select></label></div>
    {children}
    {board !== null && (board.rows.length > 0 ? <Board board={board} metric={metric} /> : <Nobody board={board} role={role} />)}
    {board !== null && board.doubt !== null && <p class="note">{board.doubt}</p>}
    {board?.rows.some((row) => row.rank !== null) && <p class="hint">Systems with the same rank (=) are not told apart by the labels.</p>}
    {board?.notes.map((text) => <p key={text} class="hint">{text}</p>)}
    {missed.length > 0 && <p class="hint">Precision is known less well than asked, though nothing is left to judge: {missed.map((row) => row.system).join(", ")}. Labels vary more than the first ones showed when the rest were planned, or people’s errors and unsure answers widen the intervals.</p>}
    {!!board?.waiting?.length && <p class="hint">Waiting for their first labels: {board.waiting.join(", ")}.</p>}
  </section>;
}
