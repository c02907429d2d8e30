// Where we are and who we are.

import { signal } from "@preact/signals";
import { get, Refusal, type Me } from "./api";

export const route = signal<string[]>(readRoute());
export const me = signal<Me | null>(null);
export const ready = signal(false);

function readRoute(): string[] {
  return location.hash.replace(/^#\/?/, "").split("/").filter((part) => part !== "").map(decodeURIComponent);
}

addEventListener("hashchange", () => { route.value = readRoute(); scrollTo(0, 0); });

export function go(path: string, replace = false): void {
  if (replace) { history.replaceState(null, "", `#${path}`); route.value = readRoute(); } else location.hash = path;
}

export async function whoAmI(): Promise<void> {
  try {
    me.value = await get<Me | null>("/session");
  } catch (problem) {
    if (problem instanceof Refusal) me.value = null;
  }
  ready.value = true;
}

export function messageOf(problem: unknown): string {
  return problem instanceof Error ? problem.message : String(problem);
}
