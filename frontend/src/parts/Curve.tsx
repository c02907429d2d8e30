// The precision curve with its certain range.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Curve } from "../api";

/** Where the range is wider than this, next to nothing is known. */
export const VAGUE = 0.8;

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function CurvePlot({ curve, cutoff }: { curve: Curve; cutoff: number | null }) {
  const host = useRef<HTMLDivElement>(null);
  const mark = useRef<number | null>(cutoff);
  mark.current = cutoff;
  useEffect(() => {
    const box = host.current;
    if (box === null) return;
    const points = curve.points;
    const ranks = points["rank"]!, low = points["precision_low"]!, high = points["precision_high"]!;
    // where next to nothing is known yet, the middle of the range is no estimate
    const estimate = points["precision"]!.map((value, place) => high[place]! - low[place]! > VAGUE ? null : value);
    const data = [ranks, low, high, estimate];
    const last = ranks[ranks.length - 1]!;
    const decades = Array.from({ length: Math.floor(Math.log10(last)) + 1 }, (_, power) => 10 ** power);
    const ink = colour("--ink-soft"), gold = colour("--gold");
    const axis = { stroke: ink, grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 } };
    const plot = new uPlot({
      width: box.clientWidth || 600, height: 300,
      legend: { show: false }, cursor: { drag: { x: false, y: false } },
      scales: { x: { time: false, distr: 3, range: [1, last] }, y: { range: [0, 1] } },
      axes: [
        { ...axis, label: "items kept, best first", labelSize: 22,
          splits: () => decades, values: () => decades.map((rank) => rank.toLocaleString("en-US")) },
        { ...axis, label: "precision", labelSize: 22 },
      ],
      series: [{}, { stroke: "transparent" }, { stroke: "transparent" }, { stroke: gold, width: 2 }],
      bands: [{ series: [2, 1], fill: colour("--gold-faint") }],
      hooks: { draw: [(drawn) => {
        if (mark.current === null) return;
        const x = Math.round(drawn.valToPos(mark.current, "x", true));
        drawn.ctx.save();
        drawn.ctx.strokeStyle = colour("--good");
        drawn.ctx.setLineDash([6, 4]);
        drawn.ctx.beginPath();
        drawn.ctx.moveTo(x, drawn.bbox.top);
        drawn.ctx.lineTo(x, drawn.bbox.top + drawn.bbox.height);
        drawn.ctx.stroke();
        drawn.ctx.restore();
      }] },
    }, data as uPlot.AlignedData, box);
    const resize = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: 300 }));
    resize.observe(box);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const repaint = () => plot.redraw();
    scheme.addEventListener("change", repaint);
    return () => { scheme.removeEventListener("change", repaint); resize.disconnect(); plot.destroy(); };
  }, [curve, cutoff]);
  return <div ref={host} class="plot" role="img" aria-label={`Precision against items kept. ${curve.headline}`} />;
}
