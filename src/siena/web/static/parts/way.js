// The way of a notification: drawn over the network, and hop by hop in words.
import { html } from "../vendor/htm-preact.mjs";
import { layout, short } from "./layout.js";

/**
 * Brokers and links, those that it takes marked.
 * @param {{first: string, names: string[], links: [string, string][], taken: Set<string>, reached: Map<string, string>, broken?: Set<string>}} picture
 */
export function Drawn({ first, names, links, taken, reached, broken = new Set(), label, isTall }) {
  if (names.length < 2) return null;
  const { at, width, height } = layout(first, names, links, isTall);
  const tone = ([one, other]) => (taken.has(`${one}\n${other}`) || taken.has(`${other}\n${one}`) ? "taken"
    : broken.has(`${one}\n${other}`) ? "broken" : "");
  return html`<div class="wide picture" tabindex="0" role="region" aria-label="The way, drawn"><svg viewBox="0 0 ${width} ${height}" width=${width} height=${height} role="img" aria-label=${label}>
    ${links.map((link) => html`<line class="hop ${tone(link)}" x1=${at.get(link[0])[0]} y1=${at.get(link[0])[1]} x2=${at.get(link[1])[0]} y2=${at.get(link[1])[1]} />`)}
    ${[...at].map(([name, [x, y]]) => html`<g class="node ${reached.has(name) ? "reached" : "ghost"} ${name === first ? "here" : ""}"><rect x=${x - 62} y=${y - 24} width="124" height="48" rx="12" />
      <text x=${x} y=${y - 3} text-anchor="middle">${short(name)}</text><text class="said" x=${x} y=${y + 14} text-anchor="middle">${reached.get(name) ?? "not reached"}</text></g>`)}</svg></div>`;
}

/** Where it would come, and of the links that it would not take what is missing. */
export function Way({ value }) {
  const first = value.steps[0]?.broker;
  const links = pairs(value.brokers);
  const names = [...new Set([...value.brokers.map((each) => each.broker), ...links.flat()])];
  const taken = new Set(value.steps.filter((step) => step.came_from).map((step) => `${step.came_from}\n${step.broker}`));
  const broken = new Set(value.missing.filter((route) => Object.keys(route.wants).length).map((route) => `${route.from}\n${route.to}`));
  const count = (step) => Object.keys(step.clients).length;
  const reached = new Map(value.steps.map((step) => [step.broker, count(step) ? `${count(step)} ${count(step) === 1 ? "wants" : "want"} it` : "passes through"]));
  return html`<h2>Hop by hop</h2>
    <${Drawn} first=${first} names=${names} links=${links} taken=${taken} broken=${broken} reached=${reached} label="It would come to ${value.steps.length} of ${names.length} brokers" />
    <ol class="lines hops">${value.steps.map((step) => html`<li><b>${step.broker}</b>${step.came_from && html` <span class="soft">from ${step.came_from}</span>`}
      ${step.error && html`<div class="bad">${step.error}</div>`}
      ${Object.entries(step.clients).map(([who, text]) => html`<div class="good"><span aria-hidden="true">✓</span> ${who} <code>${text}</code></div>`)}
      ${Object.entries(step.brokers).map(([who, text]) => html`<div><span aria-hidden="true">→</span> ${who} <code>${text}</code></div>`)}
      ${value.missing.filter((route) => route.from === step.broker).map((route) => html`<${Missing} route=${route} />`)}
      ${!count(step) && !step.error && html`<div class="soft">${step.complete ? "no client here wants it" : `among its first ${step.compared} filters none of a client wants it; it has more`}</div>`}
      ${count(step) > 0 && !step.complete && html`<div class="soft">not all of its filters were looked at, or are named</div>`}</li>`)}</ol>`;
}

function Missing({ route }) {
  const wants = Object.entries(route.wants);
  return html`<div class=${wants.length ? "bad" : "soft"}><span aria-hidden="true">✗</span> not to ${route.to}: ${route.asked === 0 ? "it has asked for nothing"
    : route.nearest ? html`the nearest of ${route.compared < route.asked ? `the first ${route.compared} of ${route.asked}` : route.asked} asked for is <code>${route.nearest.text}</code>, and ${route.nearest.missed.map((each) => `${each.subject} fails: ${each.because}`).join("; ")}` : route.compared < route.asked ? "nothing that it has asked for, as far as is shown, matches" : "nothing that it has asked for matches"}
    ${wants.length > 0 && html`<div>a route is missing: ${wants.map(([who, text]) => `${who} there wants ${text}`).join("; ")}</div>`}</div>`;
}

/** Each link once. */
export function pairs(brokers) {
  const found = new Map();
  for (const each of brokers) {
    for (const link of each.links || []) {
      const pair = [each.broker, link.name].sort();
      found.set(pair.join("\n"), pair);
    }
  }
  return [...found.values()];
}
