// Subscribe and publish, as any client does: over /subscribe and /publish.
import { ask, html, Problem, useEffect, useRef, useState } from "../parts.js";

const SHOWN_MAX = 200;
/** The last notifications that came here; the workbench tries filters on them. */
export const recent = [];

export function Live() {
  const [filter, setFilter] = useState("");
  const [state, setState] = useState("");
  const [lines, setLines] = useState([...recent]);
  const [error, setError] = useState("");
  const source = useRef(null);
  const stop = () => { source.current?.close(); source.current = null; setState(""); };
  useEffect(() => stop, []);
  const subscribe = (event) => {
    event.preventDefault();
    stop();
    setError("");
    const wanted = filter.trim() || "[]";
    const stream = new EventSource(`/subscribe?filter=${encodeURIComponent(wanted)}`);
    source.current = stream;
    setState("subscribing …");
    stream.addEventListener("settled", () => setState(`in force: ${wanted}`));
    stream.onmessage = (message) => {
      try {
        const said = JSON.parse(message.data);
        recent.push(said);
      } catch { return; }
      if (recent.length > SHOWN_MAX) recent.splice(0, recent.length - SHOWN_MAX);
      setLines([...recent]);
    };
    stream.onerror = async () => {
      if (source.current !== stream || stream.readyState !== EventSource.CLOSED) return;
      stop();
      const said = await ask("/console/relations", { text: wanted }).catch(() => ({}));
      setError(said.error ? `${said.error}${said.hint ? ` (${said.hint})` : ""}` : "the broker ended the subscription");
    };
  };
  return html`
    <h2>Subscribe</h2>
    <form class="row" onSubmit=${subscribe}>
      <label>A filter; everything without one
        <input value=${filter} onInput=${(event) => setFilter(event.target.value)} placeholder="level > 3" spellcheck="false" /></label>
      <button class="go" type="submit">Subscribe</button>
      ${state && html`<button type="button" onClick=${stop}>Stop</button>`}
    </form>
    <p role="status" class=${state ? "good" : "soft"}>${state || "not subscribed"}</p>
    <${Problem} error=${error} />
    <ul class="lines" id="came" aria-label="What came, the newest first">${lines.slice().reverse().map((each) => html`<li><code>${JSON.stringify(each)}</code></li>`)}</ul>
    <${Publish} />`;
}

function Publish() {
  const [text, setText] = useState('{"what": "alarm", "level": 5}');
  const [said, setSaid] = useState("");
  const [error, setError] = useState("");
  const [hops, setHops] = useState(null);
  const trace = async () => {
    setSaid("");
    setHops(null);
    try {
      const answer = await ask("/console/trace", { notification: text });
      if (answer.error) throw new Error(answer.error);
      setHops(answer.hops);
      setError("");
    } catch (problem) {
      setError(problem.message);
    }
  };
  const publish = async (event) => {
    event.preventDefault();
    setSaid("");
    try {
      const form = JSON.parse(text);
      await ask("/publish", form);
      setSaid("published");
      setError("");
    } catch (problem) {
      setError(problem.message);
    }
  };
  return html`
    <h2>Publish</h2>
    <form class="row" onSubmit=${publish}>
      <label>A notification, as JSON
        <input value=${text} onInput=${(event) => setText(event.target.value)} spellcheck="false" /></label>
      <button class="go" type="submit">Publish</button>
      <button type="button" onClick=${trace}>Publish and trace</button>
    </form>
    <p role="status" class="good">${said}</p>
    <${Problem} error=${error} />
    ${hops && html`<${Hops} hops=${hops} />`}`;
}

/** Hop by hop: where it came from, why it went on, and who wanted it. */
const Hops = ({ hops }) => html`<section aria-label="The way it took" role="status">
  <h2>The way it took: ${hops.length} ${hops.length === 1 ? "broker" : "brokers"}</h2>
  <ol class="lines">${hops.map((hop) => html`<li><b>${hop.broker}</b> ← ${hop.came_from}${hop.went_to.length ? ` → ${hop.went_to.join(", ")}` : ""}
    <span class="soft"> routed in ${(hop.seconds * 1000).toFixed(2)} ms</span>
    ${hop.matched.map((text) => html`<div class=${text.startsWith("→ ") ? "" : "good"}>${text.startsWith("→ ") ? "" : "✓ "}<code>${text}</code></div>`)}
    ${!hop.matched.length && !hop.went_to.length && html`<div class="bad">✗ nobody here wants it</div>`}</li>`)}</ol></section>`;
