// The network, alive: brokers, links, and what crosses each; any of them chosen and explained.
import { html, useState } from "../vendor/htm-preact.mjs";
import { usePolled } from "../parts/asking.js";
import { Sparkline, useHistory } from "../parts/charts.js";
import { layout, short } from "../parts/layout.js";
import { bytes, Card, Empty, number, plural, Problem, rate, Wide } from "../parts/shown.js";
import { Link } from "./link.js";

const DRAWN_MAX = 60;

export function Network() {
  const counters = usePolled("/api/counters");
  const links = usePolled("/api/links?limit=200");
  const network = usePolled("/api/network", 2000);
  const [chosen, choose] = useState(null);
  const error = counters.error || links.error;
  if (!counters.value || !links.value) return html`<h1>Network</h1><${Problem} error=${error} />${!error && html`<p class="soft">asking the broker …</p>`}`;
  const here = counters.value.broker;
  const missing = links.value.wanted.filter((link) => !link.up);
  const seen = network.value?.brokers?.length ? network.value.brokers : [{ broker: here, links: links.value.links, counters: counters.value, missing }];
  const before = new Map((network.before?.brokers || []).map((each) => [each.broker, each]));
  return html`
    <h1>Network</h1>
    <${Problem} error=${error || network.error || network.value?.error} />
    <${Picture} here=${here} brokers=${seen.slice(0, DRAWN_MAX)} before=${before} seconds=${network.seconds} chosen=${chosen} choose=${choose} />
    ${seen.length > DRAWN_MAX && html`<p class="soft">${number(seen.length - DRAWN_MAX)} more are not drawn</p>`}
    ${seen.flatMap((each) => (each.missing || []).map((link) => html`<p class="problem">${each.broker} has no link to ${link.url}: ${link.error || "not up"}</p>`))}
    ${seen.filter((each) => each.error).map((each) => html`<p class="problem">${each.broker}: ${each.error}</p>`)}
    <${Links} links=${links} chosen=${chosen} choose=${choose} here=${here} />
    ${chosen?.link && html`<${Link} here=${here} at=${chosen.at} name=${chosen.link} turn=${() => choose({ at: chosen.link, link: chosen.at })} key=${`${chosen.at} ${chosen.link}`} />`}
    <${Broker} counters=${counters} seen=${seen} name=${chosen?.broker || here} here=${here} />
    <${Clients} at=${chosen?.broker || here} here=${here} />`;
}

/** Rates of a link in both directions, by what its two ends have counted. */
function flows(brokers, before, seconds) {
  const found = new Map();
  for (const each of brokers) {
    for (const link of each.links || []) {
      const [one, other] = [each.broker, link.name].sort();
      const flow = found.get(`${one}\n${other}`) || { one, other, rates: {}, waiting: 0 };
      const last = before.get(each.broker)?.links?.find((known) => known.name === link.name);
      flow.rates[each.broker] = last && seconds ? Math.max(0, (link.forwarded - last.forwarded) / seconds) : 0;
      flow.waiting += link.waiting || 0;
      found.set(`${one}\n${other}`, flow);
    }
  }
  return [...found.values()];
}

function Picture({ here, brokers, before, seconds, chosen, choose }) {
  const links = flows(brokers, before, seconds);
  const ghosts = brokers.flatMap((each) => (each.missing || []).map((link) => ({ from: each.broker, name: link.url.replace(/^\w+:\/\//, "") })));
  const names = [...new Set([...brokers.map((each) => each.broker), ...links.flatMap((flow) => [flow.one, flow.other]), ...ghosts.map((ghost) => ghost.name)])];
  if (names.length < 2) return html`<${Empty}>It stands alone. <code>siena serve --peer siena://HOST:PORT</code> links it to another broker.<//>`;
  const { at, isTall, width, height } = layout(here, names, [...links.map((flow) => [flow.one, flow.other]), ...ghosts.map((ghost) => [ghost.from, ghost.name])]);
  const known = new Map(brokers.map((each) => [each.broker, each]));
  const label = `${names.length - ghosts.length} brokers and ${links.length} links, seen from ${here}`;
  const pressed = (act) => (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); act(); } };
  return html`<div class="wide picture" tabindex="0" role="region" aria-label="The network, drawn">
    <svg viewBox="0 0 ${width} ${height}" width=${width} height=${height} role="group" aria-label=${label}>
      ${ghosts.map((ghost) => html`<line class="missing" x1=${at.get(ghost.from)[0]} y1=${at.get(ghost.from)[1]} x2=${at.get(ghost.name)[0]} y2=${at.get(ghost.name)[1]} />`)}
      ${links.map((flow) => {
    const [a, b] = [at.get(flow.one), at.get(flow.other)];
    const total = (flow.rates[flow.one] || 0) + (flow.rates[flow.other] || 0);
    // What goes away from here is said first, at the farther end of a steep link, where there is room.
    const along = isTall ? 1 : 0;
    const [near, far] = a[along] <= b[along] ? [flow.one, flow.other] : [flow.other, flow.one];
    // It is explained by the end that is nearer to here, if that can be asked.
    const [from, to] = known.get(near)?.links ? [near, far] : [far, near];
    const isAsked = Boolean(known.get(from)?.links);
    const isChosen = [chosen?.at, chosen?.link].sort().join() === [from, to].sort().join();
    const act = () => choose({ at: from, link: to });
    const said = `${rate(flow.rates[near] || 0)} ${isTall ? "↓ · ↑" : "→ · ←"} ${rate(flow.rates[far] || 0)}`;
    const name = `link ${flow.one} and ${flow.other}: ${rate(flow.rates[flow.one] || 0)} from ${flow.one}, ${rate(flow.rates[flow.other] || 0)} from ${flow.other}${flow.waiting ? `, ${bytes(flow.waiting)} waiting` : ""}`;
    const share = isTall ? 0.7 : 0.5;
    const middle = [0, 1].map((axis) => at.get(near)[axis] * (1 - share) + at.get(far)[axis] * share);
    return html`<g class="flow ${total > 0 ? "moving" : ""} ${isChosen ? "chosen" : ""}" ...${isAsked ? { role: "button", tabindex: 0, "aria-pressed": String(isChosen), onClick: act, onKeyDown: pressed(act) } : { role: "img" }} aria-label=${name}>
          <line class="touch" x1=${a[0]} y1=${a[1]} x2=${b[0]} y2=${b[1]} />
          <line x1=${a[0]} y1=${a[1]} x2=${b[0]} y2=${b[1]} stroke-width=${1.5 + Math.min(4, Math.log10(1 + total))} />
          ${total > 0 || flow.waiting ? html`<g aria-hidden="true"><rect class="pill" x=${middle[0] - 52} y=${middle[1] - 22} width="104" height="18" rx="9" />
            <text class="said" x=${middle[0]} y=${middle[1] - 9} text-anchor="middle">${flow.waiting > 65536 ? `${bytes(flow.waiting)} waiting` : said}</text></g>` : null}</g>`;
  })}
      ${[...at].map(([name, [x, y]]) => {
    const broker = known.get(name);
    const isGhost = !broker || broker.error;
    const count = broker?.counters?.counters?.subscriptions_now;
    const act = () => choose({ broker: name });
    return html`<g class="node ${name === here ? "here" : ""} ${isGhost ? "ghost" : ""} ${chosen?.broker === name ? "chosen" : ""}" role="button" tabindex="0" aria-pressed=${String(chosen?.broker === name)} onClick=${act} onKeyDown=${pressed(act)}
          aria-label="broker ${name}${count === undefined ? "" : `, ${count} interests`}${isGhost ? ", not reached" : ""}">
          <rect x=${x - 62} y=${y - 24} width="124" height="48" rx="12" />
          <text x=${x} y=${y - 3} text-anchor="middle">${short(name)}</text>
          <text class="said" x=${x} y=${y + 14} text-anchor="middle">${isGhost ? "not reached" : `${number(count)} ${count === 1 ? "interest" : "interests"}`}</text></g>`;
  })}
    </svg></div>`;
}

function Links({ links, chosen, choose, here }) {
  const known = new Map((links.before?.links || []).map((link) => [link.name, link]));
  const speed = (link, what) => (known.has(link.name) && links.seconds ? rate(Math.max(0, (link[what] - known.get(link.name)[what]) / links.seconds)) : "");
  const isOf = (link) => link.name === chosen?.link && chosen.at === here;
  if (!links.value.links.length) return null;
  return html`<h2>Links of ${here}</h2><${Wide} label="Links"><table>
    <thead><tr><th>to</th><th>state</th><th class="number">sent</th><th class="number">got</th><th class="number">waiting</th><th>address</th><th><span class="hidden">filters</span></th></tr></thead>
    <tbody>${links.value.links.map((link) => html`<tr class=${isOf(link) ? "chosen" : ""}>
      <td><b>${link.name}</b> <span class="soft">${link.side}</span></td><td><i class="dot good"></i>up</td>
      <td class="number">${number(link.forwarded)} <span class="soft">${speed(link, "forwarded")}</span></td>
      <td class="number">${number(link.received)} <span class="soft">${speed(link, "received")}</span></td>
      <td class="number ${link.waiting > 65536 ? "bad" : ""}">${bytes(link.waiting)}</td><td class="address"><code>${link.address}</code></td>
      <td><button onClick=${() => choose(isOf(link) ? null : { at: here, link: link.name })} aria-expanded=${String(isOf(link))}>filters of ${link.name}</button></td></tr>`)}
      ${links.value.wanted.filter((link) => !link.up).map((link) => html`<tr><td><b>${link.url}</b> <span class="soft">${link.side}</span></td>
        <td colspan="6" class="bad"><i class="dot bad"></i>${link.error || "not up"}</td></tr>`)}</tbody></table><//>`;
}

const COUNTERS = [
  ["publications", "published"], ["deliveries", "delivered"], ["forwarded", "to neighbours"], ["received", "from neighbours"],
];

function Broker({ counters, seen, name, here }) {
  const isHere = name === here;
  const other = seen.find((each) => each.broker === name);
  const found = isHere ? counters.value : other?.counters;
  if (!found?.counters) return html`<h2>Broker ${name}</h2><${Problem} error=${other?.error || "nothing is known of it"} />`;
  const now = found.counters;
  return html`<h2>Broker ${name}</h2><div class="cards">
      ${COUNTERS.map(([what, title]) => html`<${Counter} key=${`${name} ${what}`} title=${title} what=${what} now=${now} polled=${isHere ? counters : null} />`)}
      <${Card} title="connections" value=${number(now.connections_now)} detail=${`${plural(found.sessions, "client")}, ${number(found.away)} away`} />
      <${Card} title="interests" value=${number(now.subscriptions_now)} detail=${`${number(found.filters)} filters in its routing table, ${number(found.advertisements)} advertisements`} />
      <${Card} title="longest tick" value=${`${(now.longest_tick_us_now / 1000).toFixed(1)} ms`} detail="work without a pause" />
      <${Card} title="lost" value=${number(now.lost)} detail="of slow readers" tone=${now.lost ? "warn" : ""} />
      ${found.log && html`<${Card} title="log" value=${bytes(found.log.bytes)} detail=${`${number(found.log.latest - found.log.earliest)} notifications`} />`}
    </div>
    ${!isHere && html`<p class="soft">It listens at <code>${other.url}</code>.</p>`}`;
}

function Counter({ title, what, now, polled }) {
  const speed = polled?.before && polled.seconds ? Math.max(0, (polled.value.counters[what] - polled.before.counters[what]) / polled.seconds) : NaN;
  const history = useHistory(speed, polled?.at);
  return html`<${Card} title=${title} value=${number(now[what])} detail=${Number.isNaN(speed) ? "" : rate(speed)}>${polled && html`<${Sparkline} values=${history} />`}<//>`;
}

/** Those of this broker, or of another, which is asked over the wire. */
const Clients = ({ at, here }) => (at === here ? html`<${Ours} />` : html`<${Theirs} key=${at} at=${at} />`);

const Ours = () => html`<${Sessions} ...${usePolled("/api/sessions?limit=100", 2000)} />`;

const Theirs = ({ at }) => html`<${Sessions} ...${usePolled("/api/clients", 4000, { broker: at })} />`;

function Sessions({ value, error }) {
  if (!value?.sessions) return html`<${Problem} error=${error || value?.error} />`;
  const slow = [...value.sessions].sort((one, other) => other.waiting - one.waiting || other.lost - one.lost);
  return html`<h2>Clients <span class="soft">${number(value.count)}</span></h2>
    ${slow.length === 0 ? html`<${Empty}>Nobody is connected. <code>siena sub 'level > 3'</code> subscribes.<//>` : html`<${Wide} label="Clients"><table>
    <thead><tr><th>client</th><th>state</th><th>interests</th><th class="number">waiting</th><th class="number">lost</th></tr></thead>
    <tbody>${slow.map((each) => html`<tr>
      <td><b>${each.identity || each.name || each.number}</b> <span class="soft">${each.number}</span></td>
      <td><i class="dot ${each.connected ? "good" : "soft"}"></i>${each.connected ? "here" : "away"}${each.suspended ? ", suspended" : ""}${each.kept ? `, ${number(each.kept)} kept` : ""}</td>
      <td>${each.interests.map((text) => html`<div><code>${text}</code></div>`)}
        ${each.subscriptions > each.interests.length && html`<div class="soft">and ${number(each.subscriptions - each.interests.length)} more</div>`}</td>
      <td class="number ${each.waiting > 65536 ? "bad" : ""}">${each.waiting ? bytes(each.waiting) : "—"}${each.waiting > 65536 ? html`<div>slow reader</div>` : ""}</td>
      <td class="number ${each.lost ? "bad" : ""}">${number(each.lost)}</td></tr>`)}</tbody></table><//>`}
    ${value.count > value.sessions.length && html`<p class="soft">the first ${number(value.sessions.length)} are shown</p>`}`;
}
