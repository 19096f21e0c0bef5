// A filter while it is written: what it means, what it covers, and what it would have selected.
import { html, useEffect, useState } from "../vendor/htm-preact.mjs";
import { ask, onSignInWanted, useAnswer, usePrepared, useSlowly } from "../parts/asking.js";
import { Spans } from "../parts/charts.js";
import { Empty, Filters, Mistake, number, Partly, plural, Problem, when } from "../parts/shown.js";
import { force, recent, subscribe } from "../parts/streaming.js";
import { Editor } from "../parts/writing.js";

const DIALECTS = [
  ["siena", "Siena: a filter, a predicate or a pattern"], ["advertisement", "Siena: an advertisement"],
  ["expression", "expression"], ["sql", "SQL (JMS selector)"], ["amqp", "AMQP filter"], ["azure", "Azure Service Bus"],
  ["cesql", "CloudEvents SQL"], ["cloudevents", "CloudEvents subscription"], ["eventbridge", "EventBridge"], ["sns", "SNS"], ["sigma", "Sigma"],
];
const TRIED = [1000, 10000, 100000];
const PAUSE = 2000; // milliseconds
const NOTHING = { text: "", dialect: "siena" };
let kept = NOTHING; // while other pages are looked at, by the same user
onSignInWanted((wanted) => { if (wanted) kept = NOTHING; });

export function Workbench() {
  usePrepared();
  const [text, setText] = useState(kept.text);
  const [dialect, setDialect] = useState(kept.dialect);
  kept = { text, dialect };
  const [names, setNames] = useState([]);
  const [hasLog, setLog] = useState(false);
  useEffect(() => {
    ask("/api/words", {}).then((said) => setNames(said.names), () => {});
    ask("/api/me").then((said) => setLog(said.log), () => {});
  }, []);
  const last = useLast(hasLog);
  const slow = useSlowly(text);
  const asked = slow.trim() ? { text: slow, dialect, notifications: last.notifications } : null;
  const { value, error } = useAnswer("/api/relations", asked);
  const isForeign = dialect !== "siena" && dialect !== "advertisement";
  return html`
    <h1>Workbench</h1>
    <div class="row">
      <div class="field narrow"><label for="dialect">Language</label><select id="dialect" value=${dialect} onChange=${(event) => setDialect(event.target.value)}>
        ${DIALECTS.map(([name, title]) => html`<option value=${name}>${title}</option>`)}</select></div>
    </div>
    <${Editor} id="filter" label=${isForeign ? "A rule" : dialect === "siena" ? "A filter, a predicate or a pattern" : "An advertisement"}
      value=${text} onText=${setText} names=${names} dialect=${dialect} rows=${isForeign ? 5 : 2} describedby="filter-help" />
    <p id="filter-help" class="soft help">${names.length ? html`Attributes in use: ${names.slice(0, 8).map((each) => html`<button class="chip" onClick=${() => setText(`${text}${text && !text.endsWith(" ") ? " " : ""}${isForeign ? each.name : each.text} `)}>${each.name}</button>`)}`
    : html`For example <code>${"symbol = DIS and change < 0"}</code>.`}</p>
    <${Problem} error=${error} />
    <${Mistake} text=${slow} said=${value} />
    ${value && !value.error && html`<${Answer} value=${value} last=${last} />`}
    ${value && !value.error && hasLog && html`<${BackTest} text=${slow} dialect=${dialect} kind=${value.kind} />`}`;
}

/** The last notifications: of the log, or those that come while this page is open. */
function useLast(hasLog) {
  const [notifications, setNotifications] = useState([...recent]);
  const [isWatching, watch] = useState(false);
  const [settled, settle] = useState(null); // what the broker said of it
  useEffect(() => {
    if (!hasLog) return;
    ask("/api/latest", { count: 50 }).then((said) => setNotifications(said.notifications.map((each) => each.text).reverse()), () => {});
  }, [hasLog]);
  useEffect(() => {
    settle(null);
    if (!isWatching) return undefined;
    let timer = 0;
    let next = 0; // tried again now and then: each time it is one more question, and the one before is not waited for
    const renew = () => { timer = 0; next = performance.now() + PAUSE; setNotifications(recent.slice(-100)); };
    const came = () => { timer ||= setTimeout(renew, Math.max(0, next - performance.now())); };
    const end = subscribe({ filter: "[]" }, { settled: settle, came, ended: () => watch(false) });
    return () => { clearTimeout(timer); end(); };
  }, [isWatching]);
  return { notifications, isWatching, settled, watch, hasLog };
}

function Answer({ value, last }) {
  const count = (value.matches || []).length;
  const isPattern = value.kind === "pattern";
  const isOffer = value.kind === "advertisement";
  const others = isPattern ? "pattern" : isOffer ? "advertisement" : "filter";
  // What is read out, of all that changes while one writes.
  const spoken = [value.kind, value.satisfiable === false && "nothing can match it",
    value.covers && `covers ${value.covers.count}, covered by ${value.covered_by.count}`,
    !last.isWatching && `${count} of the last notifications`].filter(Boolean).join("; ");
  return html`<p class="hidden" role="status">${spoken}</p><div class="panels">
    <section class="panel"><h2>It ${isOffer ? "offers" : "means"} <span class="badge">${value.kind}</span></h2>
      <p><code>${value.text}</code></p>
      ${value.satisfiable === false && html`<p class="problem">Nothing can match it: its constraints contradict each other.</p>`}
      ${value.example && html`<p>${isOffer ? "Its publisher may publish" : "It selects"}, for example,<br /><code>${value.example}</code></p>`}
      ${value.steps && html`<ol class="lines">${value.steps.map((step) => html`<li><code>${step.text}</code>${step.example && html`<div class="soft">for example <code>${step.example}</code></div>`}</li>`)}</ol>`}
    </section>
    ${value.covers && html`<section class="panel"><h2>It covers <span class="soft">${number(value.covers.count)} of ${number(value.wanted)} ${others}s here</span></h2>
      <${Filters} found=${value.covers} nothing=${`None of the ${others}s of this broker is within it.`} />
      ${value.outside && html`<p class="soft">Not <code>${value.outside.text}</code>: that also ${isOffer ? "admits" : isPattern ? "has a step that selects" : "selects"} <code>${value.outside.example}</code></p>`}
      ${isPattern && html`<p class="soft">Patterns of the same length are compared step by step.</p>`}</section>
    <section class="panel"><h2>Covered by <span class="soft">${number(value.covered_by.count)}</span></h2>
      <${Filters} found=${value.covered_by} nothing=${isPattern || isOffer ? `No ${others} here covers it.` : "No filter here covers it: subscribing to it is news for the network."} /></section>`}
    ${value.overlaps && html`<section class="panel"><h2>Wanted by <span class="soft">${plural(value.overlaps.count, "filter")}</span></h2>
      <${Filters} found=${value.overlaps} nothing="Nothing that is offered is wanted here: its publisher would be told to keep quiet." /></section>`}
    <section class="panel"><h2>Of the last notifications <span class="soft">${number(count)} of ${number(last.notifications.length)} ${isOffer ? "satisfy it" : "match"}${isPattern ? " a step of it" : ""}</span></h2>
      ${isPattern && html`<p><b>${plural(value.sequences.count, "sequence")}</b> of them ${value.sequences.count === 1 ? "matches" : "match"} it, in the order in which they came.</p>
        ${value.sequences.count > 0 && html`<ul class="lines">${value.sequences.shown.map((texts) => html`<li><${Steps} texts=${texts} /></li>`)}</ul>`}`}
      ${!isPattern && count > 0 && html`<ul class="lines">${value.matched.map((text) => html`<li><code>${text}</code></li>`)}</ul>`}
      ${!last.hasLog && html`<p class="soft">This broker keeps no log. <button class="link" aria-pressed=${String(last.isWatching)} onClick=${() => last.watch(!last.isWatching)}>${last.isWatching ? "stop watching" : "watch what comes"}</button>
        ${last.settled && (last.settled.silent ? ` (${force("everything", last.settled)})` : " (everything that you may hear comes here meanwhile)")}</p>`}</section>
    <${Partly} complete=${value.complete} />
  </div>`;
}

/** The notifications of a sequence, one below the other. */
const Steps = ({ texts }) => texts.map((text, place) => html`<div>${place > 0 && html`<span class="soft">then </span>`}<code>${text}</code></div>`);

function BackTest({ text, dialect, kind }) {
  const [count, setCount] = useState(TRIED[1]);
  const { value, error, isBusy } = useAnswer("/api/backtest", { text, dialect, count });
  return html`<section class="panel"><h2>Back-test</h2>
    <div class="row"><div class="field narrow"><label for="count">Try it on the last</label><select id="count" value=${count} onChange=${(event) => setCount(Number(event.target.value))}>
      ${TRIED.map((each) => html`<option value=${each}>${number(each)} notifications</option>`)}</select></div></div>
    <${Problem} error=${error || value?.error} />
    ${value?.spans && html`<p role="status">${kind === "pattern" ? html`<b>${plural(value.matched, "sequence")}</b> among the ${number(value.looked_at)}` : html`<b>${number(value.matched)}</b> of the ${number(value.looked_at)}`} in the log ${kind === "advertisement" ? "satisfy it" : "match"}${isBusy ? " …" : ""}.</p>
      ${value.looked_at === 0 && html`<${Empty}>The log is empty. <code>siena pub symbol=DIS change=-4</code> publishes.<//>`}
      <${Spans} spans=${value.spans} />
      <ul class="lines">${value.shown.slice(0, 10).map((each) => html`<li>${each.sequence ? html`<${Steps} texts=${each.sequence} />` : html`<code>${each.text}</code>`} <span class="soft">${when(each.time)}, offset ${number(each.offset)}</span></li>`)}</ul>
      <${Partly} complete=${value.complete} />`}</section>`;
}
