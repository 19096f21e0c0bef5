// This broker, its links, and what crosses each: what was asked for, and why.
import { ask, html, number, Problem, usePolled, useState } from "../parts.js";

const COUNTERS = [
  ["connections_now", "connections"], ["subscriptions_now", "interests"],
  ["publications", "published"], ["deliveries", "delivered"],
  ["forwarded", "to neighbours"], ["received", "from neighbours"], ["lost", "lost"],
];

export function Network() {
  const counters = usePolled("/api/counters");
  const links = usePolled("/api/links?limit=200");
  const sessions = usePolled("/api/sessions?limit=50", 2000);
  const [chosen, choose] = useState(null);
  const error = counters.error || links.error;
  if (!counters.value || !links.value) return html`<${Problem} error=${error} /><p class="soft">asking the broker …</p>`;
  const missing = links.value.wanted.filter((link) => !link.up);
  const rate = (name) => {
    if (name.endsWith("_now") || !counters.before || !counters.seconds) return "";
    const grown = counters.value.counters[name] - counters.before.counters[name];
    return ` · ${number(Math.round(grown / counters.seconds))}/s`;
  };
  return html`
    <${Problem} error=${error} />
    <h2>Broker ${counters.value.broker}</h2>
    <div class="cards">${COUNTERS.map(([name, title]) => html`
      <div class="card"><b>${number(counters.value.counters[name])}</b><span>${title}${rate(name)}</span></div>`)}
      <div class="card"><b>${(counters.value.counters.longest_tick_us_now / 1000).toFixed(1)} ms</b><span>longest tick</span></div>
    </div>
    <h2>Links</h2>
    <${Picture} broker=${counters.value.broker} links=${links.value.links} missing=${missing} />
    ${!links.value.links.length && !missing.length && html`<p class="soft">It stands alone; <code>siena serve --peer …</code> links brokers.</p>`}
    ${links.value.links.length > 0 && html`<div class="wide" tabindex="0" role="region" aria-label="Links"><table>
      <thead><tr><th>to</th><th>as</th><th>address</th><th class="number">sent</th><th class="number">got</th><th>filters</th></tr></thead>
      <tbody>${links.value.links.map((link) => html`<tr class=${link.name === chosen ? "chosen" : ""}>
        <td>${link.name}</td><td>${link.side}</td><td><code>${link.address}</code></td>
        <td class="number">${number(link.forwarded)}</td><td class="number">${number(link.received)}</td>
        <td><button onClick=${() => choose(link.name === chosen ? null : link.name)} aria-expanded=${String(link.name === chosen)}>
          filters of ${link.name}</button></td></tr>`)}</tbody></table></div>`}
    ${missing.map((link) => html`<p class="bad">✗ no link to ${link.url} (${link.side}): ${link.error || "not up"}</p>`)}
    ${chosen && html`<${Link} name=${chosen} key=${chosen} />`}
    <h2>Clients</h2>
    ${sessions.value && html`<${Clients} sessions=${sessions.value} />`}`;
}

/** Where each broker stands: a column for each step from here, one below the other. */
function places(brokers, here) {
  const known = new Map(brokers.map((each) => [each.broker, each]));
  const found = new Map([[here, 0]]);
  const queue = [here];
  for (const name of queue) { // it grows
    for (const link of known.get(name)?.links || []) {
      if (!found.has(link.name)) { found.set(link.name, found.get(name) + 1); queue.push(link.name); }
    }
  }
  const columns = [];
  for (const [name, depth] of found) (columns[depth] ||= []).push(name);
  const height = Math.max(170, Math.max(...columns.map((column) => column.length)) * 84);
  const step = columns.length > 1 ? 520 / (columns.length - 1) : 0;
  const at = new Map();
  columns.forEach((column, depth) => column.forEach((name, place) =>
    at.set(name, [80 + depth * step, (place + 0.5) * (height / column.length)])));
  return { at, height };
}

function Picture({ broker, links, missing }) {
  const network = usePolled("/console/network", 3000);
  const seen = network.value?.brokers?.length ? network.value.brokers : [{ broker, links }];
  const brokers = seen.slice(0, 60);
  const { at, height } = places(brokers, broker);
  if (at.size < 2 && !missing.length) return null;
  const drawn = new Set();
  const lines = [];
  for (const each of brokers) {
    for (const link of each.links || []) {
      const key = [each.broker, link.name].sort().join("\n");
      if (!drawn.has(key) && at.has(each.broker) && at.has(link.name)) {
        drawn.add(key);
        lines.push({ from: at.get(each.broker), to: at.get(link.name), said: `${number(link.forwarded)} → · ← ${number(link.received)}` });
      }
    }
  }
  const lost = brokers.flatMap((each) => (each.missing || []).map((link) => `${each.broker} misses ${link.url}`));
  const dead = brokers.filter((each) => each.error).map((each) => `${each.broker}: ${each.error}`);
  const label = `${at.size} brokers and ${lines.length} links, seen from ${broker}`;
  return html`<div class="wide" tabindex="0" role="region" aria-label="The network">
    <svg viewBox="0 0 680 ${height}" role="img" aria-label=${label}>
      ${lines.map(({ from, to, said }) => html`<line class="up" x1=${from[0]} y1=${from[1]} x2=${to[0]} y2=${to[1]} />
        <text class="soft" x=${(from[0] + to[0]) / 2} y=${(from[1] + to[1]) / 2 - 12} text-anchor="middle">${said}</text>`)}
      ${[...at].map(([name, [x, y]]) => html`<circle class=${name === broker ? "node here" : "node"} cx=${x} cy=${y} r=${name === broker ? 19 : 15} />
        <text x=${x} y=${y + 38} text-anchor="middle">${name}</text>`)}
    </svg></div>
    ${[...lost, ...dead].map((text) => html`<p class="bad">✗ ${text}</p>`)}`;
}

function Link({ name }) {
  const told = usePolled("/api/told?limit=200", 3000);
  const tables = usePolled("/api/tables?limit=1000", 3000);
  const [reason, explain] = useState(null);
  if (!told.value || !tables.value) return html`<p class="soft">…</p>`;
  const filters = (told.value.links.find((link) => link.name === name) || { filters: [], count: 0 });
  const shown = tables.value.filters.shown;
  const theirs = shown.filter((each) => each.holders.includes(`broker ${name}`));
  const why = async (text) => {
    const others = shown.filter((each) => each.holders.some((who) => who !== `broker ${name}`));
    try {
      const said = await ask("/console/relations", { text, filters: others.map((each) => each.text) });
      explain({ text, for: (said.covers || []).map((place) => others[place]), complete: said.complete && tables.value.filters.complete });
    } catch (error) {
      explain({ text, for: [], error: error.message });
    }
  };
  return html`<section aria-label="Filters of the link to ${name}">
    <h2>Asked of ${name} (${number(filters.count)})</h2>
    <p class="soft">What ${name} sends here. Ask why, and see the interests that each stands for.</p>
    <ul class="lines">${filters.filters.map((text) => html`<li><code>${text}</code>${" "}
      <button class="link" onClick=${() => why(text)} aria-label="why ${text}">why?</button>
      ${reason?.text === text && html`<div role="status">${reason.error && html`<span class="bad">${reason.error}</span>`}
        ${reason.for.length === 0 && !reason.error && html`<span class="soft">for nothing that is shown here</span>`}
        ${reason.for.map((each) => html`<div>for <code>${each.text}</code> of ${each.holders.filter((who) => who !== `broker ${name}`).join(", ")}</div>`)}
        ${reason.complete === false && html`<span class="soft">its tables are long: only a part was looked at</span>`}</div>`}</li>`)}
      ${filters.filters.length === 0 && html`<li class="soft">nothing</li>`}</ul>
    <h2>${name} asks for (${number(theirs.length)})</h2>
    <ul class="lines">${theirs.map((each) => html`<li><code>${each.text}</code></li>`)}
      ${theirs.length === 0 && html`<li class="soft">nothing</li>`}</ul>
  </section>`;
}

function Clients({ sessions }) {
  if (!sessions.sessions.length) return html`<p class="soft">nobody</p>`;
  return html`<div class="wide" tabindex="0" role="region" aria-label="Clients"><table>
    <thead><tr><th>client</th><th>state</th><th>interests</th><th class="number">lost</th></tr></thead>
    <tbody>${sessions.sessions.map((each) => html`<tr>
      <td>${each.identity || each.name || each.number}</td>
      <td>${each.connected ? "connected" : "away"}${each.suspended ? ", suspended" : ""}${each.kept ? `, ${number(each.kept)} kept` : ""}</td>
      <td>${each.interests.map((text) => html`<div><code>${text}</code></div>`)}
        ${each.subscriptions > each.interests.length && html`<div class="soft">and ${number(each.subscriptions - each.interests.length)} more</div>`}</td>
      <td class="number ${each.lost ? "bad" : ""}">${number(each.lost)}</td></tr>`)}</tbody></table></div>
    ${sessions.count > sessions.sessions.length && html`<p class="soft">${number(sessions.count)} in all</p>`}`;
}
