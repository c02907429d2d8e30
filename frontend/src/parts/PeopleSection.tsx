// Who answered how much, how well, and how far they agree.

import type { Accuracy, People } from "../api";
import { number } from "./numbers";

const percent = (value: number) => `${(100 * value).toFixed(0)}%`;

function Share({ found }: { found: Accuracy | null }) {
  if (found === null) return <td>–</td>;
  return <td title={`${number(found.right)} of ${number(found.answers)}; between ${percent(found.low)} and ${percent(found.high)} at 95% confidence`}>
    {percent(found.right / found.answers)} <small>of {number(found.answers)}</small></td>;
}

export function PeopleSection({ people, priced }: { people: People; priced: boolean }) {
  const several = people.agreement !== null, gold = people.annotators.some((person) => person.on_gold !== null);
  const beside = people.annotators.some((person) => person.beside_others !== null);
  return <section aria-labelledby="people-title">
    <h2 id="people-title">People</h2>
    {several && <p>Two votes on the same item agree {percent(people.agreement!)} of the time ({number(people.shared_items)} items with more than one vote)
      {people.krippendorff_alpha !== null && <>; beyond chance, Krippendorff’s alpha is {people.krippendorff_alpha.toFixed(2)}
        {people.fleiss_kappa !== null && <> and Fleiss’ kappa {people.fleiss_kappa.toFixed(2)}</>}</>}.</p>}
    <div class="scroll" tabIndex={0} role="region" aria-label="Annotators"><table>
      <thead><tr><th scope="col">who</th><th scope="col">answers</th><th scope="col">seconds each</th>
        {gold && <th scope="col">right on gold</th>}{beside && <th scope="col">as the others</th>}{priced && <th scope="col">cost</th>}</tr></thead>
      <tbody>{people.annotators.map((person) => <tr key={person.name}><th scope="row">{person.name}</th><td>{number(person.answers)}</td>
        <td>{person.seconds === null ? "–" : person.seconds.toFixed(1)}</td>
        {gold && <Share found={person.on_gold} />}{beside && <Share found={person.beside_others} />}
        {priced && <td>{person.cost.toFixed(2)}</td>}</tr>)}</tbody>
    </table></div>
    {people.pairs.length > 1 && <details><summary>Pair by pair</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label="Agreement of pairs"><table>
        <thead><tr><th scope="col">who</th><th scope="col">shared items</th><th scope="col">agree</th><th scope="col">Cohen’s kappa</th></tr></thead>
        <tbody>{people.pairs.map((pair) => <tr key={`${pair.first} ${pair.second}`}><th scope="row">{pair.first} and {pair.second}</th><td>{number(pair.shared_items)}</td>
          <td>{percent(pair.agreed / pair.shared_items)}</td><td>{pair.kappa === null ? "–" : pair.kappa.toFixed(2)}</td></tr>)}</tbody>
      </table></div></details>}
  </section>;
}
