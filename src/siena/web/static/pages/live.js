// What comes while one looks; publishing; and the way that a notification took.
import { html, useEffect, useRef, useState } from "../vendor/htm-preact.mjs";
import { ask } from "../parts/asking.js";
import { Empty, number, plural, Problem } from "../parts/shown.js";
import { force, subscribe } from "../parts/streaming.js";
import { Drawn } from "../parts/way.js";

const SHOWN_MAX = 200;

export function Live() {
  return html`<h1>Live</h1><div class="panels two"><${Subscribe} /><${Publish} /></div>
    <p class="soft">Programs of yours can do both: <a href="example/">a page to copy</a> uses the client for JavaScript, <code>/siena.js</code>.</p>`;
}

function Subscribe() {
  const [filter, setFilter] = useState("");
  const [state, setState] = useState("");
  const [error, setError] = useState("");
  const [lines, setLines] = useState([]);
  const [count, setCount] = useState(0);
  const [lost, setLost] = useState(0);
  const [said, setSaid] = useState(null);
  const end = useRef(null);
  const waiting = useRef([]);
  const stop = () => { end.current?.(); end.current = null; setState(""); setSaid(null); };
  useEffect(() => {
    // Drawn at most some times a second, however much comes.
    const timer = setInterval(() => {
      if (!waiting.current.length) return;
      const came = waiting.current.splice(0);
      setCount((last) => last + came.length);
      setLines((last) => [...came.reverse(), ...last].slice(0, SHOWN_MAX));
    }, 100);
    return () => { clearInterval(timer); end.current?.(); };
  }, []);
  const begin = (event) => {
    event.preventDefault();
    stop();
    setError("");
    setLost(0);
    setCount(0);
    setLines([]);
    waiting.current = [];
    const wanted = filter.trim() || "[]";
    setState("subscribing …");
    end.current = subscribe({ filter: wanted }, {
      settled: (answer) => { setSaid(answer); setState(force(wanted, answer)); },
      came: (text) => waiting.current.push({ text, at: new Date().toLocaleTimeString("en", { hourCycle: "h23" }) }),
      lost: (more) => setLost((before) => before + more),
      ended: (why) => { stop(); setError(why); },
    });
  };
  // How many have come stands outside of the status: that would be read out whenever one comes.
  return html`<section class="panel"><h2>Subscribe</h2>
    <form class="row" onSubmit=${begin}>
      <div class="field"><label for="wanted">A filter or a pattern; everything without one</label>
        <input id="wanted" value=${filter} onInput=${(event) => setFilter(event.target.value)} placeholder="level > 3" spellcheck=${false} autocapitalize="off" /></div>
      <button class="go" type="submit">Subscribe</button>
      ${state && html`<button type="button" onClick=${stop}>Stop</button>`}
    </form>
    <p><span role="status" class=${said?.silent ? "bad" : state ? "good" : "soft"}>${state || "not subscribed"}</span>${count > 0 && html`<span class="soft"> · ${plural(count, "notification")}</span>`}</p>
    ${lost > 0 && html`<p class="problem" role="status">${plural(lost, "notification")} did not come here: more was published than this page took.</p>`}
    <${Problem} error=${error} />
    ${lines.length ? html`<ul class="lines came" id="came" tabindex="0" aria-label="What came, the newest first">${lines.map((each) => html`<li><time class="soft">${each.at}</time> <code>${each.text}</code></li>`)}</ul>`
    : said && html`<${Empty}>Nothing has come yet.<//>`}
    ${count > lines.length && html`<p class="soft">the last ${number(lines.length)} are shown</p>`}</section>`;
}

function Publish() {
  const [text, setText] = useState('{"what": "alarm", "level": 5}');
  const [said, setSaid] = useState("");
  const [error, setError] = useState("");
  const [hops, setHops] = useState(null);
  const attempt = (act) => async (event) => {
    event.preventDefault();
    setSaid("");
    setHops(null);
    try {
      await act();
      setError("");
    } catch (problem) {
      setError(problem.message);
    }
  };
  const publish = attempt(async () => {
    JSON.parse(text); // a mistake is told here, and the text is sent as it stands
    await ask("/publish", text);
    setSaid("published");
  });
  const trace = attempt(async () => {
    const answer = await ask("/api/trace", { notification: text });
    if (answer.error) throw new Error(answer.error);
    setHops(answer.hops);
  });
  return html`<section class="panel"><h2>Publish</h2>
    <form onSubmit=${publish}>
      <label for="published">A notification, as JSON</label>
      <textarea id="published" rows="3" value=${text} onInput=${(event) => setText(event.target.value)} spellcheck=${false} autocapitalize="off"></textarea>
      <div class="row buttons"><button class="go" type="submit">Publish</button><button type="button" onClick=${trace}>Publish and trace</button></div>
    </form>
    <p role="status" class="good">${said}</p>
    <${Problem} error=${error} />
    ${hops && html`<${Trace} hops=${hops} />`}</section>`;
}

/** Hop by hop: where it came from, why it went on, and who wanted it. */
function Trace({ hops }) {
  const start = Math.min(...hops.map((hop) => hop.arrived));
  const links = hops.flatMap((hop) => hop.went_to.map((name) => [hop.broker, name]));
  const wanted = (hop) => hop.matched.filter((text) => !text.startsWith("→ ")).length;
  const reached = new Map(hops.map((hop) => [hop.broker, `+${((hop.arrived - start) * 1000).toFixed(1)} ms${wanted(hop) ? `, ${wanted(hop)} ✓` : ""}`]));
  const names = [...new Set([...hops.map((hop) => hop.broker), ...links.flat()])];
  return html`<section aria-label="The way it took" role="status">
    <h2>The way it took: ${plural(hops.length, "broker")}</h2>
    <${Drawn} isTall=${true} first=${hops[0].broker} names=${names} links=${links} taken=${new Set(links.map((link) => link.join("\n")))} reached=${reached} label="It came to ${hops.map((hop) => hop.broker).join(", ")}" />
    <ol class="lines hops">${hops.map((hop) => html`<li><b>${hop.broker}</b> <span class="soft">from ${hop.came_from}, routed in ${(hop.seconds * 1000).toFixed(2)} ms</span>
      ${hop.matched.map((text) => (text.startsWith("→ ") ? html`<div><span aria-hidden="true">→</span> <code>${text.slice(2)}</code></div>` : html`<div class="good"><span aria-hidden="true">✓</span> <code>${text}</code></div>`))}
      ${!hop.matched.length && !hop.went_to.length && html`<div class="bad"><span aria-hidden="true">✗</span> nobody here wants it</div>`}</li>`)}</ol></section>`;
}
