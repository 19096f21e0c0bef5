// What is wanted at this broker, as covering orders it; searched, and who wants something.
import { html, useState } from "../vendor/htm-preact.mjs";
import { useAnswer, usePolled, useSlowly } from "../parts/asking.js";
import { Share } from "../parts/charts.js";
import { Card, Empty, Mistake, number, Partly, plural, Problem } from "../parts/shown.js";

const PAGE = 200;
const EXAMPLES = { words: "price DIS", notification: "symbol = DIS, change = -4" };

export function Interests() {
  const [text, setText] = useState("");
  const [by, setBy] = useState("words");
  const [offset, setOffset] = useState(0);
  const slow = useSlowly(text);
  const turn = usePolled("/api/counters", 3000);
  // Asked again when something was subscribed to, or not any more.
  const version = turn.value?.counters.subscriptions_now;
  const wanted = by === "notification" && !slow.trim() ? { text: "", by: "words" } : { text: slow, by };
  const { value, error } = useAnswer(`/api/interests?${version ?? ""}`, { ...wanted, limit: PAGE, offset });
  const change = (act) => (event) => { act(event.target.value); setOffset(0); };
  return html`
    <h1>Interests</h1>
    <form class="row" role="search" onSubmit=${(event) => event.preventDefault()}>
      <div class="field narrow"><label for="by">Look for</label><select id="by" value=${by} onChange=${change(setBy)}>
        <option value="words">filters that mention</option><option value="notification">who wants the notification</option></select></div>
      <div class="field"><label for="search">${by === "words" ? "Words" : "A notification, as text or JSON"}</label>
        <input id="search" type="search" value=${text} onInput=${change(setText)} placeholder=${EXAMPLES[by]} spellcheck=${false} autocapitalize="off" /></div>
    </form>
    <${Problem} error=${error} />
    <${Mistake} text=${slow} said=${value} />
    ${value?.shown && html`<${Found} value=${value} isAll=${!slow.trim()} offset=${offset} setOffset=${setOffset} />`}`;
}

function Found({ value, isAll, offset, setOffset }) {
  const covered = value.shown.filter((each) => !each.root).length;
  return html`
    <div class="cards">
      <${Card} title="filters" value=${number(value.filters)} detail=${`held ${plural(value.held, "time")}`} />
      <${Card} title=${isAll ? "shown" : "found"} value=${number(isAll ? value.shown.length : value.found)}
        detail=${`${plural(covered, "is", "are")} covered by another of these`} />
      ${value.saving.map((link) => html`<${Saving} link=${link} />`)}
    </div>
    <div role="status" class="hidden">${plural(value.found, "filter")} found</div>
    ${value.shown.length ? html`<${Poset} shown=${value.shown} />` : html`<${Empty}>${isAll ? html`Nothing is wanted here yet. <code>siena sub 'level > 3'</code> subscribes.` : "Nothing of what is wanted here fits."}<//>`}
    ${(offset > 0 || offset + value.shown.length < value.found) && html`<p class="pages">
      <button disabled=${offset === 0} onClick=${() => setOffset(Math.max(0, offset - PAGE))}>← before</button>
      <span>${number(offset + 1)}–${number(offset + value.shown.length)} of ${number(value.found)}</span>
      <button disabled=${offset + value.shown.length >= value.found} onClick=${() => setOffset(offset + PAGE)}>after →</button></p>`}
    <${Partly} complete=${value.complete} />`;
}

function Saving({ link }) {
  const saved = link.wanted ? Math.max(0, Math.round(100 * (1 - link.told / link.wanted))) : 0;
  return html`<${Card} title=${`link to ${link.name}`} value=${`${saved} %`} detail=${`saved by covering: ${number(link.told)} told of ${number(link.wanted)} wanted`}>
    <${Share} part=${link.told} whole=${link.wanted} label="${link.told} of ${link.wanted} told" /><//>`;
}

/** Filters below what covers them; one that several cover stands below each, opened once. */
function Poset({ shown }) {
  const drawn = new Set();
  const node = (place) => {
    const each = shown[place];
    const isKnown = drawn.has(place);
    drawn.add(place);
    return html`<li><div class="filter"><code>${each.text}</code> <span class="soft">${each.holders.join(", ")}${each.held > each.holders.length ? ` … ${number(each.held)} in all` : ""}</span></div>
      ${each.covers.length > 0 && (isKnown ? html`<span class="soft">… as above</span>` : html`<ul>${each.covers.map(node)}</ul>`)}</li>`;
  };
  const roots = shown.map((_, place) => place).filter((place) => shown[place].root);
  const rest = () => shown.map((_, place) => place).filter((place) => !drawn.has(place));
  return html`<ul class="poset" aria-label="Filters, each above those that it covers">${roots.map(node)}${rest().map(node)}</ul>`;
}
