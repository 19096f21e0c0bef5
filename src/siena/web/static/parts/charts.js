// Lines and bars, small enough to stand beside a number.
import { html, useEffect, useRef, useState } from "../vendor/htm-preact.mjs";
import { number, when } from "./shown.js";

const KEPT = 60;

/** The last values of something that is polled; one more whenever `turn` changes. */
export function useHistory(value, turn) {
  const kept = useRef([]);
  const [, redraw] = useState(0);
  useEffect(() => {
    if (turn === undefined || Number.isNaN(value)) return;
    kept.current = [...kept.current, value].slice(-KEPT);
    redraw(turn);
  }, [turn]);
  return kept.current;
}

/** A line of values, the newest at the right; the number beside it says the same. */
export function Sparkline({ values }) {
  if (values.length < 2) return html`<svg class="spark" viewBox="0 0 120 28" aria-hidden="true"></svg>`;
  const top = Math.max(...values, 1e-9);
  const at = values.map((value, place) => [120 - (values.length - 1 - place) * (120 / (KEPT - 1)), 26 - (value / top) * 24]);
  const line = at.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
  return html`<svg class="spark" viewBox="0 0 120 28" preserveAspectRatio="none" aria-hidden="true">
    <polygon points="${at[0][0].toFixed(1)},28 ${line} 120,28" /><polyline points=${line} /></svg>`;
}

/** How much of something matched, over time. */
export function Spans({ spans }) {
  if (!spans.length) return null;
  const top = Math.max(...spans.map((span) => span.all), 1);
  const wide = 480 / spans.length;
  const most = spans.reduce((best, span) => (span.matched > best.matched ? span : best));
  const label = `${number(spans.reduce((sum, span) => sum + span.matched, 0))} matched between ${when(spans[0].from)} and ${when(spans.at(-1).from)}; most, ${number(most.matched)}, at ${when(most.from)}`;
  return html`<figure class="spans"><svg viewBox="0 0 480 90" preserveAspectRatio="none" role="img" aria-label=${label}>
    ${spans.map((span, place) => html`<rect class="all" x=${place * wide + 0.5} width=${Math.max(1, wide - 1)} y=${90 - (span.all / top) * 86} height=${(span.all / top) * 86} />
      <rect class="matched" x=${place * wide + 0.5} width=${Math.max(1, wide - 1)} y=${90 - (span.matched / top) * 86} height=${(span.matched / top) * 86} />`)}</svg>
    <figcaption><span>${when(spans[0].from)}</span><span class="key"><i class="all"></i>all <i class="matched"></i>matched</span><span>${when(spans.at(-1).from)}</span></figcaption></figure>`;
}

/** A share of a whole, as a bar. */
export const Share = ({ part, whole, label }) => html`<span class="share" role="img" aria-label=${label}>
  <i style=${{ width: `${whole ? Math.max(part ? 1 : 0, (100 * part) / whole) : 0}%` }}></i></span>`;
