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
    ${missing.map((link) => html`<p class="bad">✗ ${link.url} (${link.side}): ${link.error || "not up"}</p>`)}
    ${chosen && html`<${Link} name=${chosen} key=${chosen} />`}
    <h2>Clients</h2>
    ${sessions.value && html`<${Clients} sessions=${sessions.value} />`}`;
}

function Picture({ broker, links, missing }) {
  const ends = [...links.map((link) => ({ name: link.name, up: true, said: `${number(link.forwarded)} → · ← ${number(link.received)}` })),
    ...missing.map((link) => ({ name: link.url.replace(/^siena:\/\//, ""), up: false, said: "missing" }))].slice(0, 12);
  if (!ends.length) return null;
  const height = Math.max(150, ends.length * 74);
  const middle = height / 2;
  const label = `${broker} and its ${links.length} links` + (missing.length ? `, ${missing.length} missing` : "");
  return html`<svg viewBox="0 0 640 ${height}" role="img" aria-label=${label}>
    ${ends.map((end, place) => {
      const y = (place + 0.5) * (height / ends.length);
      return html`<line class=${end.up ? "up" : "down"} x1="120" y1=${middle} x2="500" y2=${y} />
        <text class="soft" x="355" y=${middle + (y - middle) * 0.62 - 9} text-anchor="middle">${end.said}</text>
        <circle class="node" cx="500" cy=${y} r="15" /><text x="524" y=${y + 5}>${end.name}</text>`;
    })}
    <circle class="node" cx="120" cy=${middle} r="21" />
    <text x="120" y=${middle + 42} text-anchor="middle">${broker}</text></svg>`;
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
