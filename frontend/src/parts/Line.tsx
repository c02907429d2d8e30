// A sentence of a document, token by token; drawn again only if one of its own tokens looks different.

import { Component } from "preact";

export interface Piece { place: number; text: string; gap: string }
interface Props { pieces: Piece[]; looks: string[]; onPick: (place: number, extend: boolean) => void; onSweep: (place: number) => void }

export class Line extends Component<Props> {
  override shouldComponentUpdate(next: Props): boolean {
    return next.pieces !== this.props.pieces || next.looks.some((look, place) => look !== this.props.looks[place]);
  }

  override render({ pieces, looks, onPick, onSweep }: Props) {
    return <p dir="auto" class="line">{pieces.map(({ place, text, gap }, order) => <>
      <span key={place} data-token={place} class={looks[order]}
        onPointerDown={(event) => { event.preventDefault(); onPick(place, event.shiftKey); }}
        onPointerEnter={() => onSweep(place)}>{text}</span>{gap}</>)}</p>;
  }
}
