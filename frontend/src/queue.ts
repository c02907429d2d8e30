// Answers wait here until the service has acknowledged them; they survive a reload and a dead network.
// Each carries its own name, so one that is sent twice counts once.

import { signal } from "@preact/signals";
import { post, Refusal, type Answer, type Hand, type Task, type Taken } from "./api";

export interface Waiting { answer: Answer; task: Task }
export type Connection = "saved" | "saving" | "offline";

export class Queue {
  readonly waiting = signal<Waiting[]>([]);
  readonly connection = signal<Connection>("saved");
  readonly refused = signal<string | null>(null);
  private sending: Promise<Hand | null> | null = null;

  constructor(private readonly project: string, user: string) {
    this.place = `karat-queue:${user}:${project}`;
    try {
      this.waiting.value = JSON.parse(localStorage.getItem(this.place) ?? "[]");
    } catch {
      this.waiting.value = [];
    }
  }
  private readonly place: string;

  private keep(waiting: Waiting[]): void {
    this.waiting.value = waiting;
    try {
      if (waiting.length === 0) localStorage.removeItem(this.place);
      else localStorage.setItem(this.place, JSON.stringify(waiting));
    } catch { /* a full or forbidden storage: what waits is still in memory */ }
  }

  add(entry: Waiting): void { this.keep([...this.waiting.value, entry]); }

  /** Take back the latest answer that was not sent yet. */
  takeBack(): Waiting | undefined {
    if (this.sending !== null) return undefined;
    const last = this.waiting.value.at(-1);
    if (last !== undefined) this.keep(this.waiting.value.slice(0, -1));
    return last;
  }

  /** Send all that waits; return the next items, or null where nothing was sent. */
  async send(want: number): Promise<Hand | null> {
    if (this.sending !== null) await this.sending.catch(() => null);
    this.sending ??= this.sendNow(want).finally(() => { this.sending = null; });
    return this.sending;
  }

  private async sendNow(want: number): Promise<Hand | null> {
    let hand: Hand | null = null;
    while (this.waiting.value.length > 0) {
      const batch = this.waiting.value.slice(0, 50);
      this.connection.value = "saving";
      try {
        const taken = await post<Taken>(`/projects/${this.project}/answers`,
          { answers: batch.map((entry) => entry.answer), want });
        const bad = taken.answers.find((entry) => !entry.accepted);
        if (bad !== undefined) this.refused.value = bad.detail;
        hand = taken.hand;
      } catch (problem) {
        this.connection.value = "offline";
        if (!(problem instanceof Refusal) || problem.status === 401) throw problem; // they go on waiting
        this.refused.value = problem.message;
      }
      const sent = new Set(batch.map((entry) => entry.answer.request));
      this.keep(this.waiting.value.filter((entry) => !sent.has(entry.answer.request)));
    }
    this.connection.value = "saved";
    return hand;
  }
}
