// A page that publishes and subscribes, to be copied: docs/guides/javascript.md.
import { connect } from "/siena.js";

const SHOWN_MAX = 200;
const at = (id) => document.getElementById(id);
const state = (text) => { at("state").textContent = text; };

const client = await connect({
  onDisconnect: () => state("The broker is gone; trying again …"),
  onReconnect: () => state("Connected again."),
}).catch((error) => { // a broker that asks who is there wants a `token` beside these
  state(error.message);
  throw error;
});
let wanted;

async function subscribe() {
  wanted?.close();
  wanted = client.subscribe(at("filter").value);
  const mine = wanted;
  try {
    await mine.settled();
    state(`Subscribed to ${mine.text}.`);
    for await (const notification of mine) {
      const item = document.createElement("li");
      item.textContent = Object.entries(notification).map(([name, value]) => `${name} = ${value}`).join(", ");
      at("found").prepend(item);
      at("found").children[SHOWN_MAX]?.remove();
    }
  } catch (error) {
    if (mine === wanted) state(error.message);
  }
}

at("want").addEventListener("submit", (event) => {
  event.preventDefault();
  subscribe();
});
at("say").addEventListener("submit", async (event) => {
  event.preventDefault();
  const price = at("price").valueAsNumber; // of an empty field NaN, which is no value
  try {
    await client.publish({ symbol: at("symbol").value, price: Number.isNaN(price) ? null : price });
  } catch (error) {
    state(error.message);
  }
});
subscribe();
