// Where brokers stand in a picture: in columns by their distance from the first, and in each column near those they are linked to.

// A node is 124 by 48; between columns there is room for what a link says.
const COLUMN = 270;
const ROW = 92;
const MARGIN = 78;
// On a phone steps go down, and those of one step stand side by side.
const ASIDE = 152;
const DOWN = 126;
const NARROW = matchMedia("(max-width: 40rem)");

/** Places of names by number of steps from the first, going down where it is narrow; `links` are pairs of names. */
export function layout(first, names, links, isTall = NARROW.matches) {
  const beside = new Map(names.map((name) => [name, []]));
  for (const [one, other] of links) {
    beside.get(one)?.push(other);
    beside.get(other)?.push(one);
  }
  const columns = columnsFrom(first, names, beside);
  for (let turn = 0; turn < 4; turn += 1) untangle(columns, beside);
  const most = Math.max(...columns.map((column) => column.length));
  const [step, aside] = isTall ? [DOWN, ASIDE] : [COLUMN, ROW];
  const along = (isTall ? 90 : 2 * MARGIN) + (columns.length - 1) * step;
  const across = Math.max(most * aside, 110);
  const at = new Map();
  columns.forEach((column, depth) => column.forEach((name, place) => {
    const there = [(isTall ? 45 : MARGIN) + depth * step, ((place + 0.5) * across) / column.length];
    at.set(name, isTall ? there.reverse() : there);
  }));
  return { at, isTall, width: isTall ? across : along, height: isTall ? along : across };
}

function columnsFrom(first, names, beside) {
  const depth = new Map([[first, 0]]);
  const queue = [first];
  for (const name of queue) { // it grows
    for (const other of beside.get(name) || []) {
      if (!depth.has(other)) { depth.set(other, depth.get(name) + 1); queue.push(other); }
    }
  }
  const last = Math.max(...depth.values());
  for (const name of names) if (!depth.has(name)) depth.set(name, last + 1);
  const columns = [];
  for (const [name, step] of depth) (columns[step] ||= []).push(name);
  return columns.filter(Boolean);
}

/** Order each column by the mean place of the neighbours in the column before. */
function untangle(columns, beside) {
  for (let step = 1; step < columns.length; step += 1) {
    const before = new Map(columns[step - 1].map((name, place) => [name, place]));
    const mean = (name) => {
      const places = beside.get(name).filter((other) => before.has(other)).map((other) => before.get(other));
      return places.length ? places.reduce((sum, place) => sum + place, 0) / places.length : 0;
    };
    const means = new Map(columns[step].map((name) => [name, mean(name)]));
    columns[step].sort((one, other) => means.get(one) - means.get(other));
  }
}

/** A name that fits into a picture. */
export const short = (name, most = 16) => (name.length > most ? `${name.slice(0, most - 1)}…` : name);
