// Nothing to do right now: said so, and asked again gently, at once when somebody comes back to the tab.

import { useEffect } from "preact/hooks";
import type { Hand } from "../api";

const GENTLY = 15_000;

/** Ask every now and then while it is wanted and somebody may be looking. */
export function useAskAgain(key: string, wanted: () => boolean, ask: () => Promise<void>): void {
  useEffect(() => {
    let asking = false;
    const perhaps = () => {
      if (asking || document.hidden || !wanted()) return;
      asking = true;
      void ask().finally(() => { asking = false; });
    };
    const timer = setInterval(perhaps, GENTLY);
    addEventListener("focus", perhaps);
    document.addEventListener("visibilitychange", perhaps);
    return () => {
      clearInterval(timer);
      removeEventListener("focus", perhaps);
      document.removeEventListener("visibilitychange", perhaps);
    };
  }, [key]); // all that it reads are signals
}

/** Why there is nothing to do; `verb` is what would be done. */
export function Waiting({ hand, state, verb, problem }: { hand: Hand | null; state: string; verb: "judge" | "read"; problem: string }) {
  const [title, text] = hand === null ? ["One moment", problem || "Fetching what is next."]
    : hand.for_good ? ["All done – thank you", `There is nothing left for you to ${verb}.`]
    : hand.finished ? [`Nothing to ${verb} right now`, "This page goes on by itself when more comes."]
    : state !== "open" ? ["The project is paused", "This page goes on by itself when it is opened again."]
    : ["One moment", "Others are finishing theirs; more comes by itself."];
  return <div class={hand?.finished ? "empty finished" : "empty"}><h2>{title}</h2><p>{text}</p></div>;
}
