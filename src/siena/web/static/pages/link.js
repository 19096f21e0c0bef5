// One link: the filters on it, and why each is there.
import { html, useState } from "../vendor/htm-preact.mjs";
import { ask, usePolled } from "../parts/asking.js";
import { Filters, number, Partly, Problem } from "../parts/shown.js";

export function Link({ here, name }) {
  const told = usePolled("/api/told?limit=200", 3000);
  const tables = usePolled("/api/tables?limit=1000", 4000);
  if (!told.value || !tables.value) return html`<${Problem} error=${told.error || tables.error} />`;
  const asked = told.value.links.find((link) => link.name === name) || { filters: [], count: 0 };
  const theirs = tables.value.filters.shown.filter((each) => each.holders.includes(`broker ${name}`));
  return html`<section class="panel" aria-label="Filters of the link to ${name}">
    <h2>${here} asks of ${name} <span class="soft">${number(asked.count)}</span></h2>
    <p class="soft">${name} sends what one of these matches. Covering keeps them few: each may stand for many interests.</p>
    <ul class="lines">${asked.filters.map((text) => html`<${Asked} key=${text} text=${text} name=${name} />`)}
      ${asked.filters.length === 0 && html`<li class="soft">nothing is wanted from there</li>`}
      ${asked.count > asked.filters.length && html`<li class="soft">and ${number(asked.count - asked.filters.length)} more, or not yours to see</li>`}</ul>
    <h2>${name} asks of ${here} <span class="soft">${number(theirs.length)}</span></h2>
    <ul class="lines">${theirs.map((each) => html`<li><code>${each.text}</code></li>`)}
      ${theirs.length === 0 && html`<li class="soft">nothing is wanted behind it</li>`}</ul>
    <${Partly} complete=${tables.value.filters.complete} />
  </section>`;
}

/** One filter, and on demand the interests that it stands for. */
function Asked({ text, name }) {
  const [said, setSaid] = useState(null);
  const [error, setError] = useState("");
  const explain = async () => {
    if (said) { setSaid(null); return; }
    try {
      const answer = await ask("/api/relations", { text });
      const neighbour = `broker ${name}`;
      // What only the neighbour itself wants is not asked of it.
      const shown = answer.covers.shown.filter((each) => each.holders.some((who) => who !== neighbour));
      const left = answer.covers.shown.length - shown.length;
      setSaid({ ...answer, covers: { count: answer.covers.count - left, shown } });
      setError("");
    } catch (problem) {
      setError(problem.message);
    }
  };
  return html`<li><code>${text}</code>${" "}
    <button class="link" onClick=${explain} aria-expanded=${String(Boolean(said))} aria-label="why ${text}">why?</button>
    <${Problem} error=${error} />
    ${said && html`<div class="because" role="status"><p>It stands for ${number(said.covers.count)} ${said.covers.count === 1 ? "interest" : "interests"}:</p>
      <${Filters} found=${said.covers} without="broker ${name}" nothing="none that you may see" /><${Partly} complete=${said.complete} /></div>`}</li>`;
}
