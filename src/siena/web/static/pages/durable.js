// Durable subscriptions: how far each is, and what could not be delivered.
import { html, useState } from "../vendor/htm-preact.mjs";
import { useAnswer, usePolled } from "../parts/asking.js";
import { Share } from "../parts/charts.js";
import { bytes, Card, Empty, number, Partly, Problem, when, Wide } from "../parts/shown.js";

const LOOKED_AT = 100000;

export function Durable() {
  const counters = usePolled("/api/counters", 2000);
  const durables = usePolled("/api/durables?limit=500", 2000);
  const [chosen, choose] = useState(null);
  const log = counters.value?.log;
  const error = durables.error || counters.error;
  if (!durables.value || !counters.value) return html`<h1>Durable</h1><${Problem} error=${error} />`;
  if (!log) {
    return html`<h1>Durable</h1><${Empty}>This broker keeps no log, so nothing is durable here. Start it with <code>siena serve --log DIR</code>,
      and subscribe with <code>siena sub --durable NAME FILTER</code>.<//>`;
  }
  const shown = durables.value.durables;
  const longest = Math.max(1, ...shown.map((each) => each.lag));
  const dead = shown.reduce((sum, each) => sum + each.dead, 0);
  return html`<h1>Durable</h1><${Problem} error=${error} />
    <div class="cards">
      <${Card} title="log" value=${bytes(log.bytes)} detail=${log.bytes_max ? `of at most ${bytes(log.bytes_max)}` : ""} />
      <${Card} title="notifications" value=${number(log.latest - log.earliest)} detail=${`offsets ${number(log.earliest)} to ${number(log.latest)}`} />
      <${Card} title="subscriptions" value=${number(durables.value.count)} detail=${`${number(shown.filter((each) => !each.readers).length)} without a reader`} />
      <${Card} title="dead letters" value=${number(dead)} detail="given up" tone=${dead ? "warn" : ""} />
    </div>
    <h2>Cursors</h2>
    ${shown.length === 0 ? html`<${Empty}>No durable subscription. <code>siena sub --durable billing 'amount > 0'</code> makes one.<//>` : html`<${Wide} label="Cursors"><table>
      <thead><tr><th>name</th><th>filter</th><th>lag</th><th class="number">under way</th><th class="number">readers</th><th class="number">acknowledged</th><th class="number">again</th><th class="number">dead</th></tr></thead>
      <tbody>${shown.map((each) => html`<tr class=${chosen === `${each.owner}/${each.name}` ? "chosen" : ""}>
        <td><button class="link" aria-expanded=${String(chosen === `${each.owner}/${each.name}`)} onClick=${() => choose(chosen === `${each.owner}/${each.name}` ? null : `${each.owner}/${each.name}`)}><b>${each.name}</b></button>${each.owner && html`<div class="soft">${each.owner}</div>`}</td>
        <td><code>${each.filter}</code></td>
        <td class="lag">${number(each.lag)} <${Share} part=${each.lag} whole=${longest} label="lag of ${each.name}" /></td>
        <td class="number">${number(each.under_way)}</td><td class="number ${each.readers ? "" : "bad"}">${number(each.readers)}</td>
        <td class="number">${number(each.acknowledged)}</td><td class="number">${number(each.redelivered)}</td><td class="number ${each.dead ? "bad" : ""}">${number(each.dead)}</td></tr>
        ${chosen === `${each.owner}/${each.name}` && html`<tr class="chosen"><td colspan="8"><${Detail} each=${each} /></td></tr>`}`)}</tbody></table><//>`}
    <${Dead} turn=${dead} />`;
}

const Detail = ({ each }) => html`<dl class="facts">
  <dt>read up to</dt><dd>offset ${number(each.position)}; all below ${number(each.low)} is acknowledged</dd>
  <dt>found, not acknowledged</dt><dd>${number(each.found)}</dd>
  <dt>waits for an answer</dt><dd>${number(each.ack_wait)} s, ${each.max_deliver ? `and gives up after ${number(each.max_deliver)} deliveries` : "and never gives up"}</dd>
  <dt>in the order of</dt><dd>${each.key ? html`<code>${each.key}</code>` : "nothing: any reader may get any"}</dd>
  ${each.epochs.length > 1 && html`<dt>filters before</dt><dd>${each.epochs.slice(0, -1).map(([text, begins]) => html`<div><code>${text}</code> <span class="soft">from offset ${number(begins)}</span></div>`)}</dd>`}</dl>`;

/** Dead letters are notifications like any other: those of the log are shown. */
function Dead({ turn }) {
  const { value, error } = useAnswer(`/api/backtest?${turn}`, { text: "siena.dead any", count: LOOKED_AT });
  return html`<h2>Dead letters</h2><${Problem} error=${error || value?.error} />
    ${value?.shown && (value.shown.length ? html`<ul class="lines">${value.shown.map((each) => html`<li><code>${each.text}</code> <span class="soft">${when(each.time)}</span></li>`)}</ul>`
    : html`<p class="soft">None among the last ${number(value.looked_at)} notifications.</p>`)}
    <${Partly} complete=${value?.complete} />`;
}
