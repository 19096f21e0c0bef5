// Subscribing: server-sent events read with fetch, which can show a token as EventSource cannot.
import { credentials, onSignInWanted, Refused } from "./asking.js";

/** The last notifications that any page has got, for the Workbench to be tried on: as they were written. */
export const recent = [];
const RECENT_MAX = 200;
// Who signs in next may not be allowed to see them.
onSignInWanted((wanted) => { if (wanted) recent.length = 0; });

/**
 * Subscribe; returns what ends it. What comes is a notification, or of a pattern an array of them, as text.
 * @param {{filter: string, dialect?: string}} wanted
 * @param {{settled: Function, came: Function, lost?: Function, ended: Function}} tell
 */
export function subscribe({ filter, dialect }, tell) {
  const ending = new AbortController();
  const query = new URLSearchParams({ filter });
  if (dialect && dialect !== "siena") query.set("dialect", dialect);
  read(`/subscribe?${query}`, ending.signal, tell)
    .then(() => tell.ended("the broker ended the subscription"))
    .catch((error) => {
      if (ending.signal.aborted) return;
      ending.abort(); // after an error of the broker's, too, the stream may stand
      tell.ended(error.message);
    });
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
  if (!data.length) return; // a heartbeat
  const text = data.join("\n");
  switch (kind) {
    case "settled": return tell.settled(JSON.parse(text));
    case "lost": return tell.lost?.(JSON.parse(text).count);
    case "err": throw new Refused(JSON.parse(text).text);
    case "found": return tell.came(text);
    case "message": // never read here: it would lose 1.0, and long numbers
      recent.push(text);
      if (recent.length > RECENT_MAX) recent.splice(0, recent.length - RECENT_MAX);
      return tell.came(text);
  }
}

/** What SETTLED says: in force for all, for what is granted, or not everywhere. */
export function force(wanted, { in_force: narrowed, silent }) {
  const text = narrowed ? `in force, as far as you may: ${narrowed}` : `in force: ${wanted}`;
  return silent ? `${text} — but no answer from ${silent.join(", ")}, behind which it may not be; subscribe again to ask again` : text;
}
