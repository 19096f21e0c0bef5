// Paste a notification, and see which filters want it and what the others have against it.
import { ask, html, number, Problem, usePolled, useState } from "../parts.js";

export function Why() {
  const [text, setText] = useState("");
  const [said, setSaid] = useState(null);
  const [error, setError] = useState("");
  const tables = usePolled("/api/tables?limit=1000", 5000);
  const look = async (event) => {
    event.preventDefault();
    const shown = tables.value ? tables.value.filters.shown : [];
    try {
      const answer = await ask("/console/why", { notification: text, filters: shown.map((each) => each.text) });
      setSaid({ ...answer, shown, asked: text, isAll: answer.complete && tables.value?.filters.complete });
      setError("");
    } catch (problem) {
      setError(problem.message);
    }
  };
  return html`
    <h2>Why not?</h2>
    <form class="row" onSubmit=${look}>
      <label>A notification, as text or JSON
        <input value=${text} onInput=${(event) => setText(event.target.value)} placeholder="what = alarm, level = 2" spellcheck="false" /></label>
      <button class="go" type="submit">Look</button>
    </form>
    <${Problem} error=${error || tables.error} />
    <div role="status">${said && html`<${Answer} said=${said} />`}</div>`;
}

function Answer({ said }) {
  if (said.error) {
    const caret = said.position === undefined ? "" : `${said.asked}\n${" ".repeat(said.position)}^`;
    return html`<p class="bad">${said.error}</p>${caret && html`<pre class="bad">${caret}</pre>`}`;
  }
  return html`
    <h2 class=${said.wanted_by.length ? "good" : "bad"}>${number(said.wanted_by.length)} of ${number(said.shown.length)} filters of this broker want it</h2>
    <ul class="lines">${said.wanted_by.slice(0, 50).map((place) => html`<li><span class="good">✓</span> <code>${said.shown[place].text}</code>
      <span class="soft"> of ${said.shown[place].holders.join(", ")}</span></li>`)}</ul>
    ${said.refused.length > 0 && html`<h2>The nearest of the others</h2>`}
    <ul class="lines">${said.refused.slice(0, 50).map((each) => html`<li><code>${said.shown[each.filter].text}</code>
      <span class="soft"> of ${said.shown[each.filter].holders.join(", ")}</span>
      ${each.missing.map((text) => html`<div class="bad">✗ ${text}</div>`)}</li>`)}</ul>
    ${!said.isAll && html`<p class="soft">Its tables are long: only a part of them was looked at.</p>`}`;
}
