// Writing a filter: a field that offers names, operators and values, by keys as well.
import { html, useRef, useState } from "../vendor/htm-preact.mjs";

const COMPARISONS = ["<", "<=", ">", ">="];
const OURS = ["=", "!=", ...COMPARISONS, "any", "absent", "in (", "starts with", "ends with", "contains", "like"];
const SQL = { operators: ["=", "<>", ...COMPARISONS, "IN (", "LIKE", "IS NULL", "IS NOT NULL"], joints: ["AND", "OR"] };
/** What each language has between a name and its value, and between two constraints; of JSON and YAML, names alone. */
const WORDS = {
  siena: { operators: OURS, joints: ["and", "or", "then"] },
  advertisement: { operators: OURS, joints: [","] },
  expression: { operators: ["=", "!=", ...COMPARISONS], joints: ["and", "or", "xor", "except"] },
  sql: SQL, amqp: SQL, azure: SQL,
  cesql: { operators: ["=", "!=", "<>", ...COMPARISONS, "IN (", "LIKE"], joints: ["AND", "OR"] },
};
const OFFERED_MAX = 8;
const CARET = new Set(["ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown"]);

/** What may come next at the end of a text: [what has been written of it, candidates]. */
export function offers(text, names, dialect = "siena") {
  const written = /([\w.\-/]*)$/.exec(text)[1];
  const { operators, joints } = WORDS[dialect] || { operators: [], joints: [] };
  const isForeign = !operators.includes("any");
  const before = text.slice(0, text.length - written.length).trimEnd();
  const last = /(^|[\s(,])(\S+)$/.exec(before)?.[2]?.toLowerCase() ?? "";
  const known = new Map(names.map((each) => [each.name.toLowerCase(), each]));
  let found;
  if (!operators.length ? written : before === "" || joints.some((each) => each.toLowerCase() === last) || last.endsWith(",") || last === "not" || last.endsWith("[")) {
    found = names.map((each) => (isForeign ? each.name : each.text));
  } else if (known.has(last)) {
    found = operators;
  } else if (/^(=|!=|<>|<|<=|>|>=|with|contains|like|\(|in)$/.test(last) || last.endsWith("(")) {
    const name = [...before.matchAll(/([\w.\-/]+)\s*(?:=|!=|<=?|>=?|in|starts|ends|contains|like)/g)].at(-1)?.[1]?.toLowerCase();
    found = isForeign ? [] : known.get(name)?.values ?? []; // others quote them in their own ways
  } else {
    found = joints;
  }
  const start = written.toLowerCase();
  return [written, found.filter((each) => each.toLowerCase().startsWith(start) && each.toLowerCase() !== start).slice(0, OFFERED_MAX)];
}

/** A text field with a list of offers below it: arrows choose, Tab or Enter takes, Escape closes. */
export function Editor({ id, label, value, onText, names, dialect, rows = 2, describedby }) {
  const field = useRef(null);
  const [at, setAt] = useState(-1);
  const [isOpen, open] = useState(false);
  const caret = field.current?.selectionStart ?? value.length;
  // Within a word nothing is offered: what follows the caret would be left behind.
  const isWriting = isOpen && caret === field.current?.selectionEnd && !/^[\w.\-/]/.test(value.slice(caret));
  const [written, found] = isWriting ? offers(value.slice(0, caret), names, dialect) : ["", []];
  const isShown = isWriting && found.length > 0;
  const take = (each) => {
    field.current.setRangeText(`${each}${value[caret] === " " ? "" : " "}`, caret - written.length, caret, "end");
    onText(field.current.value);
    setAt(-1);
    field.current.focus();
  };
  const press = (event) => {
    if (event.key === "Escape" && isShown) { open(false); event.preventDefault(); }
    else if (event.key === "ArrowDown" && isShown) { setAt((at + 1) % found.length); event.preventDefault(); }
    else if (event.key === "ArrowUp" && isShown && at >= 0) { setAt(at - 1); event.preventDefault(); }
    else if ((event.key === "Enter" || event.key === "Tab") && isShown && at >= 0) { take(found[at]); event.preventDefault(); }
    else if (CARET.has(event.key)) open(false); // the offers were for another place
  };
  return html`<div class="editor">
    <label for=${id}>${label}</label>
    <textarea id=${id} ref=${field} rows=${rows} spellcheck=${false} autocapitalize="off" autocomplete="off" value=${value}
      aria-autocomplete="list" aria-controls="${id}-offers"
      aria-activedescendant=${isShown && at >= 0 ? `${id}-offer-${at}` : null} aria-describedby=${describedby}
      onInput=${(event) => { onText(event.target.value); setAt(-1); open(true); }}
      onKeyDown=${press} onClick=${() => open(false)} onBlur=${() => open(false)}></textarea>
    <ul id="${id}-offers" role="listbox" class="offers" aria-label="What may come next" hidden=${!isShown}>
      ${found.map((each, place) => html`<li id="${id}-offer-${place}" role="option" aria-selected=${String(place === at)}
        onMouseDown=${(event) => { event.preventDefault(); take(each); }}>${each}</li>`)}</ul>
  </div>`;
}
