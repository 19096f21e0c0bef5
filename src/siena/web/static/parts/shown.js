// Small things that pages show: numbers, filters, problems.
import { html } from "../vendor/htm-preact.mjs";

export const number = (value) => Number(value || 0).toLocaleString("en");

/** A rate, with as many digits as it deserves. */
export const rate = (value) => `${value >= 10 || value === 0 ? number(Math.round(value)) : value.toFixed(1)}/s`;

const UNITS = ["B", "kB", "MB", "GB", "TB"];

export function bytes(value) {
  let unit = 0;
  let left = Number(value || 0);
  while (left >= 1000 && unit < UNITS.length - 1) { left /= 1000; unit += 1; }
  return `${left < 10 && unit ? left.toFixed(1) : Math.round(left)} ${UNITS[unit]}`;
}

export const plural = (count, word, words = `${word}s`) => `${number(count)} ${count === 1 ? word : words}`;

export const when = (microseconds) => new Date(microseconds / 1000).toLocaleString("en", { dateStyle: "medium", timeStyle: "medium" });

export const Problem = ({ error }) => (error ? html`<p class="problem" role="alert">${error}</p>` : null);

export const Empty = ({ children }) => html`<p class="empty">${children}</p>`;

export const Card = ({ title, value, detail, tone, children }) => html`<div class="card ${tone || ""}">
  <span class="title">${title}</span><b>${value}</b>${detail && html`<span class="detail">${detail}</span>`}${children}</div>`;

/** A table that may be wider than the page, and can then be scrolled by keys, too. */
export const Wide = ({ label, children }) => html`<div class="wide" tabindex="0" role="region" aria-label=${label}>${children}</div>`;

/** Filters and who wants each. */
export const Filters = ({ found, nothing, without }) => (found.shown.length
  ? html`<ul class="lines">${found.shown.map((each) => html`<li><code>${each.text}</code>
      <span class="soft"> ${each.holders.filter((name) => name !== without).join(", ")}${each.held > each.holders.length ? ` and others, ${number(each.held)} in all` : ""}</span></li>`)}
      ${found.count > found.shown.length && html`<li class="soft">and ${number(found.count - found.shown.length)} more</li>`}</ul>`
  : html`<p class="soft">${nothing}</p>`);

/** A mistake in a text, with a caret below its place. */
export function Mistake({ text, said }) {
  if (!said?.error) return null;
  const lines = text.split("\n");
  // The broker counts characters, of which some are two units here.
  let left = said.position === undefined ? -1 : [...text].slice(0, said.position).join("").length;
  let at = 0;
  while (at < lines.length - 1 && left > lines[at].length) { left -= lines[at].length + 1; at += 1; }
  const caret = left < 0 ? "" : `${lines[at]}\n${" ".repeat(left)}^`;
  return html`<div class="problem" role="status"><p>${said.error}${said.hint ? html`<span class="soft"> — ${said.hint}</span>` : ""}</p>
    ${caret && html`<pre class="caret">${caret}</pre>`}</div>`;
}

/** That not all was looked at. */
export const Partly = ({ complete }) => (complete === false ? html`<p class="soft">There is more than was looked at in the time for one answer.</p>` : null);
