// Write a filter, and see while typing what it means here.
import { ask, html, number, Problem, useEffect, usePolled, useSlowly, useState } from "../parts.js";
import { recent } from "./live.js";

export function Workbench() {
  const [text, setText] = useState("");
  const asked = useSlowly(text.trim());
  const tables = usePolled("/api/tables?limit=1000", 5000);
  const [said, setSaid] = useState(null);
  const [error, setError] = useState("");
  const others = tables.value ? tables.value.filters.shown : [];
  useEffect(() => {
    if (!asked) { setSaid(null); return; }
    let isOver = false;
    const notifications = recent.slice(-200);
    ask("/console/relations", { text: asked, filters: others.map((each) => each.text), notifications })
      .then((answer) => { if (!isOver) { setSaid({ ...answer, asked, others, notifications }); setError(""); } })
      .catch((problem) => { if (!isOver) setError(problem.message); });
    return () => { isOver = true; };
  }, [asked, tables.value]);
  return html`
    <h2>Workbench</h2>
    <label for="filter">A filter, a predicate or a pattern</label>
    <textarea id="filter" rows="2" spellcheck="false" autocomplete="off" value=${text} aria-describedby="verdict"
      onInput=${(event) => setText(event.target.value)} placeholder="symbol = DIS and change < 0"></textarea>
    <${Problem} error=${error || tables.error} />
    <div id="verdict" role="status">${said && html`<${Verdict} said=${said} />`}
      ${!said && html`<p class="soft">Type, and see what it covers among the ${number(others.length)} filters that this broker knows,
        what covers it, a notification that it selects, and which of the last that came on the page Live match.</p>`}</div>`;
}

function Verdict({ said }) {
  if (said.error) {
    const caret = said.position === undefined ? "" : `${said.asked}\n${" ".repeat(said.position)}^`;
    return html`<p class="bad">${said.error}${said.hint ? ` (${said.hint})` : ""}</p>${caret && html`<pre class="bad">${caret}</pre>`}`;
  }
  if (said.kind === "pattern") return html`<p class="good">✓ a pattern</p><pre>${said.text}</pre>`;
  const [other, against] = Object.entries(said.counterexamples)[0] || [];
  return html`
    <p class="good">✓ a ${said.kind}: <code>${said.text}</code></p>
    <p>${said.witness ? html`selects, for example, <code>${JSON.stringify(said.witness)}</code>` : html`<span class="bad">nothing can match it</span>`}</p>
    <${Listed} title="covers" places=${said.covers} others=${said.others} />
    <${Listed} title="is covered by" places=${said.covered_by} others=${said.others} />
    ${against && html`<p>does not cover <code>${said.others[other].text}</code>: see <code>${JSON.stringify(against)}</code></p>`}
    <h2>Of the last ${number(said.notifications.length)} notifications ${number(said.matches.length)} match</h2>
    <ul class="lines">${said.matches.slice(-10).reverse().map((place) => html`<li><code>${JSON.stringify(said.notifications[place])}</code></li>`)}</ul>
    ${!said.complete && html`<p class="soft">There was not time for all filters.</p>`}`;
}

const Listed = ({ title, places, others }) => html`
  <h2>It ${title} ${number(places.length)} of ${number(others.length)}</h2>
  <ul class="lines">${places.slice(0, 20).map((place) => html`<li><code>${others[place].text}</code>
    <span class="soft"> of ${others[place].holders.join(", ")}</span></li>`)}</ul>`;
