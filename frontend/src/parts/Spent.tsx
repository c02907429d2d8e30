// What was spent: in all, and on what.

import { money } from "./numbers";

interface Costs { spent: number; spent_judging: number; spent_reading: number; currency: string }

export function Spent({ of: { spent, spent_judging, spent_reading, currency } }: { of: Costs }) {
  return <div class="tile"><dt>spent</dt><dd>{money(spent, currency)}
    {spent_reading > 0 && <small>{money(spent_judging)} judging + {money(spent_reading)} reading</small>}</dd></div>;
}
