// One link, of this broker or of another: the filters on it, and why each is there.
import { html, useState } from "../vendor/htm-preact.mjs";
import { ask, usePolled } from "../parts/asking.js";
import { Filters, number, Partly, plural, Problem } from "../parts/shown.js";

/** The link from the broker `at` to its neighbour `name`; this page is asked about `here`. */
export const Link = ({ here, at, name, turn }) => (at === here
  ? html`<${Ours} here=${here} name=${name} turn=${turn} />` : html`<${Theirs} at=${at} name=${name} turn=${turn} />`);

function Ours({ here, name, turn }) {
  const told = usePolled("/api/told?limit=200", 3000);
  const tables = usePolled("/api/tables?limit=1000", 4000);
  if (!told.value || !tables.value) return html`<${Problem} error=${told.error || tables.error} />`;
  const asked = told.value.links.find((link) => link.name === name) || { filters: [], count: 0 };
  const rows = tables.value.filters.shown.filter((each) => each.holders.includes(`broker ${name}`));
  const explain = async (text) => {
    const answer = await ask("/api/relations", { text, told: name });
    if (answer.error) throw new Error(answer.error);
    const neighbour = `broker ${name}`;
    // What only the neighbour itself wants is not asked of it.
    const shown = answer.covers.shown.filter((each) => each.holders.some((who) => who !== neighbour));
    const left = answer.covers.shown.length - shown.length;
    return { whole: answer.text, complete: answer.complete, covers: { count: answer.covers.count - left, shown } };
  };
  return html`<${Both} at=${here} name=${name} turn=${turn} explain=${explain}
    said=${{ ...asked, theirs: rows.map((each) => each.text), complete: tables.value.filters.complete }} />`;
}

/** Of others this broker asks over the wire, with what it was shown. */
function Theirs({ at, name, turn }) {
  const question = { broker: at, neighbour: name };
  const { value, error } = usePolled("/api/link", 4000, question);
  const explain = async (text) => {
    const answer = await ask("/api/link", { ...question, explain: text });
    if (answer.error) throw new Error(answer.error);
    return answer;
  };
  if (!value?.filters) return html`<${Problem} error=${error || value?.error} />${!error && !value && html`<p class="soft" role="status">asking ${at} …</p>`}`;
  return html`<${Both} at=${at} name=${name} turn=${turn} explain=${explain} said=${value} />`;
}

function Both({ at, name, said, turn, explain }) {
  return html`<section class="panel" aria-label="Filters of the link to ${name}">
    <h2>${at} asks of ${name} <span class="soft">${number(said.count)}</span></h2>
    <p class="soft">${name} sends what one of these matches. Covering keeps them few: each may stand for many interests.</p>
    <ul class="lines">${said.filters.map((text) => html`<${Asked} key=${text} text=${text} at=${at} name=${name} explain=${explain} />`)}
      ${said.filters.length === 0 && html`<li class="soft">nothing is wanted from there</li>`}
      ${said.count > said.filters.length && html`<li class="soft">and ${number(said.count - said.filters.length)} more, or not yours to see</li>`}</ul>
    <h2>${name} asks of ${at} <span class="soft">${number(said.theirs.length)}</span></h2>
    <ul class="lines">${said.theirs.map((text) => html`<li><code>${text}</code></li>`)}
      ${said.theirs.length === 0 && html`<li class="soft">nothing is wanted behind it</li>`}</ul>
    ${said.theirs.length > 0 && html`<p><button class="link" onClick=${turn}>why ${name} asks for these</button></p>`}
    <${Partly} complete=${said.complete} />
  </section>`;
}

/** One filter, and on demand the interests that it stands for. */
function Asked({ text, at, name, explain }) {
  const [said, setSaid] = useState(null);
  const [error, setError] = useState("");
  const press = async () => {
    if (said) { setSaid(null); return; }
    try {
      setSaid(await explain(text));
      setError("");
    } catch (problem) {
      setError(problem.message);
    }
  };
  return html`<li><code>${text}</code>${" "}
    <button class="link" onClick=${press} aria-expanded=${String(Boolean(said))} aria-label="why ${text}">why?</button>
    <${Problem} error=${error} />
    ${said && html`<div class="because" role="status">${said.whole && text.endsWith("…") && html`<p><code>${said.whole}</code></p>`}<p>It stands for ${number(said.covers.count)} ${said.covers.count === 1 ? "interest" : "interests"}:</p>
      <${Filters} found=${said.covers} without="broker ${name}" nothing="none that you may see" />
      ${said.too_long > 0 && html`<p class="soft">${plural(said.too_long, "filter")} of ${at} ${said.too_long === 1 ? "is" : "are"} too long to be shown elsewhere, and ${said.too_long === 1 ? "was" : "were"} not compared.</p>`}<${Partly} complete=${said.complete} /></div>`}</li>`;
}
