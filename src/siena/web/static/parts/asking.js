// Asking the broker: with the token, which is kept in this page's memory and nowhere else.
import { useEffect, useState } from "../vendor/htm-preact.mjs";

let token = "";
const listeners = new Set();

/** Show this token from now on, if the broker knows it. */
export async function signIn(said) {
  // Nothing else shows it before the broker has said that it knows it.
  const shown = said.trim();
  const answer = await fetch("/api/me", { headers: credentials(shown), cache: "no-store" }).catch(() => null);
  if (!answer?.ok) throw new Refused(answer?.status === 401 ? "The broker does not know this token." : "The broker does not answer.", answer?.status ?? 0);
  token = shown;
  for (const listener of listeners) listener(false);
}

/** Forget the token. */
export function signOut() {
  token = "";
  for (const listener of listeners) listener(true);
}

/** Calls back when the broker wants to know who is there. */
export function onSignInWanted(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const hasToken = () => token !== "";

/** The headers that say who is there: a token, or a name and a password, which may be in any script. */
export function credentials(shown = token) {
  if (!shown) return {};
  const scheme = /^[\w.~+/=-]+$/.test(shown) ? `Bearer ${shown}` : `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(shown)))}`;
  return { authorization: scheme };
}

export class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** What an address answers, as JSON; an error has the broker's own words. */
export async function ask(path, body) {
  const shown = token;
  const options = { headers: credentials(shown), cache: "no-store" };
  if (body !== undefined) {
    options.method = "POST";
    options.headers["content-type"] = "application/json";
    options.body = typeof body === "string" ? body : JSON.stringify(body);
  }
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Refused("the broker does not answer", 0);
  }
  const said = await answer.json().catch(() => ({}));
  // A broker takes its time to refuse: meanwhile its user may have signed in.
  if (answer.status === 401 && shown === token) for (const listener of listeners) listener(true);
  if (!answer.ok && path !== "/readyz") throw new Refused(said.text || said.error || `HTTP ${answer.status}`, answer.status);
  return said;
}

/** The newest answer of an address, asked every so many milliseconds; the one before; and what went wrong. */
export function usePolled(path, every = 1000, body = undefined) {
  const [seen, setSeen] = useState({ value: null, before: null, seconds: 0, error: "" });
  const posted = body === undefined ? undefined : JSON.stringify(body);
  useEffect(() => {
    let isOver = false;
    let timer = 0;
    const look = async () => {
      if (!document.hidden) {
        try {
          const value = await ask(path, posted);
          const at = performance.now();
          if (!isOver) setSeen((last) => ({ value, before: last.value, at, seconds: last.at ? (at - last.at) / 1000 : 0, error: "" }));
        } catch (error) {
          if (!isOver) setSeen((last) => ({ ...last, error: error.message, status: error.status }));
        }
      }
      if (!isOver) timer = setTimeout(look, every);
    };
    if (path) look();
    return () => { isOver = true; clearTimeout(timer); };
  }, [path, every, posted]);
  return seen;
}

/** What a question is answered, asked again when it changes; an older answer never replaces a newer. */
export function useAnswer(path, body) {
  const [seen, setSeen] = useState({ value: null, error: "", isBusy: false });
  const posted = body === null ? null : JSON.stringify(body);
  useEffect(() => {
    if (posted === null) { setSeen({ value: null, error: "", isBusy: false }); return undefined; }
    let isOver = false;
    setSeen((last) => ({ ...last, isBusy: true }));
    ask(path, posted)
      .then((value) => !isOver && setSeen({ value, error: "", isBusy: false }))
      .catch((error) => !isOver && setSeen({ value: null, error: error.message, isBusy: false }));
    return () => { isOver = true; };
  }, [path, posted]);
  return seen;
}

/** Have the broker's index ready for what will be asked on this page, and keep it while the page is looked at. */
export function usePrepared() {
  usePolled("/api/prepare", 60_000, {});
}

/** A value that changes only when nothing was typed for a while. */
export function useSlowly(value, pause = 200) {
  const [slow, setSlow] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(value), pause);
    return () => clearTimeout(timer);
  }, [value, pause]);
  return slow;
}
