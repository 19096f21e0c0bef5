// Writing a filter: a field that offers names, operators and values, by keys as well.
import { html, useRef, useState } from "../vendor/htm-preact.mjs";

const OPERATORS = ["=", "!=", "<", "<=", ">", ">=", "any", "absent", "in (", "starts with", "ends with", "contains", "like"];
const JOINTS = ["and", "or", "then"];
const OFFERED_MAX = 8;

/** What may come next at the end of a text: [what has been written of it, candidates]. */
export function offers(text, names) {
  const written = /([\w.\-/]*)$/.exec(text)[1];
  const before = text.slice(0, text.length - written.length).trimEnd();
  const last = /(^|[\s(,])(\S+)$/.exec(before)?.[2]?.toLowerCase() ?? "";
  const known = new Map(names.map((each) => [each.name.toLowerCase(), each]));
  let found;
  if (before === "" || JOINTS.includes(last) || last.endsWith(",") || last === "not" || last.endsWith("[")) {
    found = names.map((each) => each.name);
  } else if (known.has(last)) {
    found = OPERATORS;
  } else if (/^(=|!=|<|<=|>|>=|with|contains|like|\(|in)$/.test(last) || last.endsWith("(")) {
    const name = [...before.matchAll(/([\w.\-/]+)\s*(?:=|!=|<=?|>=?|in|starts|ends|contains|like)/g)].at(-1)?.[1]?.toLowerCase();
    found = known.get(name)?.values ?? [];
  } else {
    found = JOINTS;
  }
  const start = written.toLowerCase();
  return [written, found.filter((each) => each.toLowerCase().startsWith(start) && each.toLowerCase() !== start).slice(0, OFFERED_MAX)];
}

/** A text field with a list of offers below it: arrows choose, Tab or Enter takes, Escape closes. */
export function Editor({ id, label, value, onText, names, rows = 2, describedby }) {
  const field = useRef(null);
  const [at, setAt] = useState(-1);
  const [isOpen, open] = useState(false);
  const [written, found] = isOpen && field.current?.selectionStart === value.length ? offers(value, names) : ["", []];
  const isShown = isOpen && found.length > 0;
  const take = (each) => {
    onText(`${value.slice(0, value.length - written.length)}${each} `);
    setAt(-1);
    field.current.focus();
  };
  const press = (event) => {
    if (event.key === "Escape" && isShown) { open(false); event.preventDefault(); }
    else if (event.key === "ArrowDown" && isShown) { setAt((at + 1) % found.length); event.preventDefault(); }
    else if (event.key === "ArrowUp" && isShown && at >= 0) { setAt(at - 1); event.preventDefault(); }
    else if ((event.key === "Enter" || event.key === "Tab") && isShown && at >= 0) { take(found[at]); event.preventDefault(); }
  };
  return html`<div class="editor">
    <label for=${id}>${label}</label>
    <textarea id=${id} ref=${field} rows=${rows} spellcheck=${false} autocapitalize="off" autocomplete="off" value=${value}
      aria-autocomplete="list" aria-controls="${id}-offers"
      aria-activedescendant=${isShown && at >= 0 ? `${id}-offer-${at}` : null} aria-describedby=${describedby}
      onInput=${(event) => { onText(event.target.value); setAt(-1); open(true); }}
      onKeyDown=${press} onBlur=${() => open(false)}></textarea>
    <ul id="${id}-offers" role="listbox" class="offers" aria-label="What may come next" hidden=${!isShown}>
      ${found.map((each, place) => html`<li id="${id}-offer-${place}" role="option" aria-selected=${String(place === at)}
        onMouseDown=${(event) => { event.preventDefault(); take(each); }}>${each}</li>`)}</ul>
  </div>`;
}
