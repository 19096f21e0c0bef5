// Paste a notification: who wants it, what the others have against it, and which links it would not take.
import { html, useState } from "../vendor/htm-preact.mjs";
import { useAnswer, usePrepared } from "../parts/asking.js";
import { Share } from "../parts/charts.js";
import { Mistake, number, Partly, plural, Problem } from "../parts/shown.js";
import { Way } from "../parts/way.js";

const PAGE = 20;

export function Why() {
  usePrepared();
  const [text, setText] = useState("");
  const [asked, setAsked] = useState(null);
  const [offset, setOffset] = useState(0);
  const [constraint, choose] = useState(null);
  const [turn, setTurn] = useState(0);
  const look = (event) => { event.preventDefault(); setAsked(text); setOffset(0); choose(null); setTurn(turn + 1); };
  const question = asked === null ? null : { notification: asked, limit: PAGE, offset, ...(constraint ? { constraint } : {}) };
  const { value, error, isBusy } = useAnswer(`/api/why?${turn}`, question);
  return html`
    <h1>Why not?</h1>
    <p class="soft">Paste a notification: nothing is published. It is compared with all that is wanted at this broker, and followed through the network.</p>
    <form class="row" onSubmit=${look}>
      <div class="field"><label for="notification">A notification, as text or JSON</label>
        <input id="notification" value=${text} onInput=${(event) => setText(event.target.value)} placeholder="what = alarm, level = 2" spellcheck=${false} autocapitalize="off" /></div>
      <button class="go" type="submit">Look</button>
    </form>
    <${Problem} error=${error} />
    ${isBusy && !value && html`<p class="soft" role="status">reading what is wanted …</p>`}
    <${Mistake} text=${asked || ""} said=${value} />
    ${value?.near && html`<${Answer} value=${value} offset=${offset} setOffset=${setOffset} constraint=${constraint} choose=${(each) => { choose(each); setOffset(0); }} />
      <${Hops} key=${`${asked} ${turn}`} notification=${asked} />`}`;
}

function Answer({ value, offset, setOffset, constraint, choose }) {
  const others = value.filters - value.wanting;
  const failing = constraint ? value.against.find((each) => each.constraint === constraint)?.filters ?? others : others;
  return html`
    <div role="status"><h2 class="verdict ${value.wanting ? "good" : "bad"}">${value.wanting ? `${number(value.wanting)} of ${plural(value.filters, "filter")} want it` : value.filters ? `None of ${plural(value.filters, "filter")} wants it` : "Nothing is wanted here"}
      <span class="soft"> at ${value.broker}, answered in ${value.milliseconds < 1 ? "under 1" : Math.round(value.milliseconds)} ms</span></h2></div>
    ${value.wanted_by.length > 0 && html`<ul class="lines">${value.wanted_by.map((each) => html`<li><span class="good" aria-hidden="true">✓</span> <code>${each.text}</code> <span class="soft">${each.holders.join(", ")}${each.held > each.holders.length ? ` … ${number(each.held)} in all` : ""}</span></li>`)}
      ${value.wanting > value.wanted_by.length && html`<li class="soft">and ${number(value.wanting - value.wanted_by.length)} more</li>`}</ul>`}
    <div class="panels two">
    ${value.against.length > 0 && html`<section class="panel"><h2>What keeps it from most</h2>
      <ul class="lines against">${value.against.slice(0, 12).map((each) => html`<li><button class="link" aria-pressed=${String(each.constraint === constraint)} onClick=${() => choose(each.constraint === constraint ? null : each.constraint)}><code>${each.constraint}</code></button>
        <span class="soft"> ${each.because}</span>
        <div class="measure"><${Share} part=${each.filters} whole=${value.filters} label="${each.filters} of ${value.filters} filters" /><span class="soft">${plural(each.filters, "filter")}${each.alone ? `; for ${number(each.alone)} the only reason` : ""}</span></div></li>`)}</ul></section>`}
    ${others > 0 && html`<section class="panel"><h2>The nearest of the others${constraint && html` <span class="soft">that fail at <code>${constraint}</code> <button class="link" onClick=${() => choose(null)}>all</button></span>`}</h2>
      <ul class="lines">${value.near.map((each) => html`<li><code>${each.text}</code> <span class="soft">${each.holders.join(", ")}</span>
        ${each.missing.map((reason) => html`<div class="bad"><span aria-hidden="true">✗</span> <code>${reason.constraint}</code>: ${reason.because}</div>`)}</li>`)}</ul>
      ${(offset > 0 || offset + value.near.length < failing) && html`<p class="pages"><button disabled=${offset === 0} onClick=${() => setOffset(Math.max(0, offset - PAGE))}>← nearer</button>
        <span>${number(offset + 1)}–${number(offset + value.near.length)} of ${number(failing)}</span>
        <button disabled=${offset + value.near.length >= failing} onClick=${() => setOffset(offset + PAGE)}>farther →</button></p>`}</section>`}
    </div>
    <${Partly} complete=${value.complete} />`;
}

/** The way through the network: asked once for each notification, for it calls every broker. */
function Hops({ notification }) {
  const { value, error, isBusy } = useAnswer("/api/way", { notification });
  if (isBusy && !value) return html`<p class="soft">asking the other brokers …</p>`;
  if (!value?.steps) return html`<${Problem} error=${error || value?.error} />`;
  return html`<${Way} value=${value} />`;
}
