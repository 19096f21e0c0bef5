// Subscribing: server-sent events read with fetch, which can show a token as EventSource cannot.
import { credentials, Refused } from "./asking.js";

/** The last notifications that any page has got, for the Workbench to be tried on: as they were written. */
export const recent = [];
const RECENT_MAX = 200;

/**
 * Subscribe; returns what ends it.
 * @param {{filter: string, dialect?: string}} wanted
 * @param {{settled: Function, came: Function, ended: Function}} tell
 */
export function subscribe({ filter, dialect }, tell) {
  const ending = new AbortController();
  const query = new URLSearchParams({ filter });
  if (dialect && dialect !== "siena") query.set("dialect", dialect);
  read(`/subscribe?${query}`, ending.signal, tell)
    .then(() => tell.ended("the broker ended the subscription"))
    .catch((error) => { if (!ending.signal.aborted) tell.ended(error.message); });
  return () => ending.abort();
}

async function read(address, signal, tell) {
  const answer = await fetch(address, { headers: credentials(), signal, cache: "no-store" });
  if (!answer.ok) {
    const said = await answer.json().catch(() => ({}));
    throw new Refused(said.text || `HTTP ${answer.status}`, answer.status);
  }
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const events = text.split("\n\n");
    text = events.pop();
    for (const event of events) take(event, tell);
  }
}

function take(event, tell) {
  let kind = "message";
  const data = [];
  for (const line of event.split("\n")) {
    if (line.startsWith("event:")) kind = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).trimStart());
  }
  if (kind === "settled") { tell.settled(); return; }
  if (kind !== "message" || !data.length) return;
  const text = data.join("\n"); // never read here: it would lose 1.0, and long numbers
  recent.push(text);
  if (recent.length > RECENT_MAX) recent.splice(0, recent.length - RECENT_MAX);
  tell.came(text);
}
