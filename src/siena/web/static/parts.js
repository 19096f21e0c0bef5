// What pages share: asking the broker, asking again and again, and small parts.
import { html, useEffect, useRef, useState } from "./vendor/htm-preact.mjs";

export { html, useEffect, useRef, useState };

/** What an address answers, as JSON; an error has the broker's own words. */
export async function ask(path, body) {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  const answer = await fetch(path, options);
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok && answer.status !== 503) throw new Error(said.error || said.text || `HTTP ${answer.status}`);
  return said;
}

/** The newest answer of an address, asked every so many milliseconds; and what went wrong. */
export function usePolled(path, every = 1000) {
  const [seen, setSeen] = useState({ value: null, before: null, error: "" });
  useEffect(() => {
    let isOver = false;
    let timer = 0;
    const look = async () => {
      try {
        const value = await ask(path);
        const now = performance.now();
        if (!isOver) setSeen(({ value: before, at }) => ({ value, before, at: now, seconds: at ? (now - at) / 1000 : 0, error: "" }));
      } catch (error) {
        if (!isOver) setSeen((last) => ({ ...last, error: String(error.message || error) }));
      }
      if (!isOver) timer = setTimeout(look, every);
    };
    look();
    return () => { isOver = true; clearTimeout(timer); };
  }, [path, every]);
  return seen;
}

/** A value that changes only when nobody has typed for a while. */
export function useSlowly(value, pause = 250) {
  const [slow, setSlow] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(value), pause);
    return () => clearTimeout(timer);
  }, [value, pause]);
  return slow;
}

export const number = (value) => Number(value || 0).toLocaleString("en");

export const Problem = ({ error }) => error ? html`<p class="bad" role="alert">${error}</p>` : null;
