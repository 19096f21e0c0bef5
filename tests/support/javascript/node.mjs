// Runs cases.mjs in Node: a line of JSON says what to do, and each answer is a line.

import { createInterface } from "node:readline";
import { cases } from "./cases.mjs";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const next = async () => JSON.parse((await lines.next()).value);
const tell = (said) => console.log(JSON.stringify(said));

const { module, url, kit } = await next();
const siena = await import(module);
const restart = async () => (tell({ restart: true }), next());
for (const [name, run] of Object.entries(cases)) {
  if (process.argv.includes("-v")) console.error(name);
  try {
    await run({ siena, url, kit, restart });
    tell({ name });
  } catch (error) {
    tell({ name, error: String(error.stack ?? error) });
  }
}
tell({ end: true });
process.exit(0);
