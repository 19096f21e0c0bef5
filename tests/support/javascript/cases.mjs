// What the JavaScript client promises, as functions that throw if it does not hold.  They run in
// Node and in a browser: each gets the module, the address of a broker, and `restart`, which ends
// that broker and starts it again at the same address.

const WAIT = { timeoutMs: 20_000 };

function same(found, expected) {
  const [one, other] = [show(found), show(expected)];
  if (one !== other) throw new Error(`${one} is not ${other}`);
}

function show(value) {
  return JSON.stringify(value, (_, each) =>
    typeof each === "bigint" ? `${each}n`
    : each?.constructor?.name === "Float" ? `float ${each}`
    : each?.constructor?.name === "Time" ? `time ${each}`
    : each);
}

async function refused(doing, name) {
  try {
    await doing();
  } catch (error) {
    same(error.name, name);
    return error;
  }
  throw new Error(`no ${name}`);
}

async function withClient(siena, url, doing, options) {
  const client = await siena.connect(url, options);
  try {
    return await doing(client);
  } finally {
    await client.close();
  }
}

export const cases = {
  "what is wanted comes, and nothing else": ({ siena, url }) => withClient(siena, url, async (client) => {
    const wanted = await client.subscribe("symbol = DIS and change < 0").settled();
    await client.publishMany([{ symbol: "DIS", change: 5 }, { symbol: "DIS", change: -4, gone: null }]);
    same(await wanted.get(WAIT), { change: -4, symbol: "DIS" });
    await client.flush();
    same(wanted.take(), []);
  }),

  "it is iterated over until it is closed": ({ siena, url }) => withClient(siena, url, async (client) => {
    const wanted = await client.subscribe("n any").settled();
    await client.publishMany([{ n: 1 }, { n: 2 }, { n: 3 }]);
    const found = [];
    for await (const { n } of wanted) {
      found.push(n);
      if (n === 3) wanted.close();
    }
    same(found, [1, 2, 3]);
    same(await wanted.get(), undefined);
  }),

  "values keep their kinds": ({ siena, url }) => withClient(siena, url, async (client) => {
    const { Float, Time } = siena;
    const all = {
      big: 9007199254740993n, float: new Float(1), half: 0.5, huge: 1e300, is: true,
      least: -9223372036854775808n, small: 9007199254740991, text: 'a "b" 1.0 \\ {"time":1} 😀\u0000',
      time: new Time("2026-11-15T02:40:03.000001Z"), tiny: 5e-324, zero: new Float(0),
    };
    const wanted = await client.subscribe(siena.filter`big = ${9007199254740993n} and float float = 1`).settled();
    await client.publish(all);
    same(await wanted.get(WAIT), all);
    // Found: a name that the client used itself made of all of it a number, or an error.
    const odd = { big: all.big, float: all.float, "siena:number": "5" };
    await client.publish(odd);
    same(await wanted.get(WAIT), odd);
    const day = new Date("2026-11-15T02:40:03.123Z");
    await client.publish({ ...all, time: day });
    same((await wanted.get(WAIT)).time.toDate().getTime(), day.getTime());
    await refused(() => client.publish({ x: NaN }), "TypeError");
    await refused(() => client.publish({ x: [1] }), "TypeError");
    await refused(() => client.publish("x = 1"), "TypeError");
  }),

  "a value never becomes part of a filter": ({ siena, url }) => withClient(siena, url, async (client) => {
    const hostile = 'a" or x any or x = "';
    const wanted = await client.subscribe(siena.filter`x = ${hostile}`).settled();
    await client.publishMany([{ x: 1 }, { x: hostile }]);
    same(await wanted.get(WAIT), { x: hostile });
  }),

  "a pattern gives arrays": ({ siena, url }) => withClient(siena, url, async (client) => {
    const steps = await client.subscribe("what = login then what = alarm").settled();
    await client.publishMany([{ what: "login", user: "ann" }, { what: "alarm" }]);
    same(await steps.get(WAIT), [{ user: "ann", what: "login" }, { what: "alarm" }]);
  }),

  "a publisher hears whether it is wanted": ({ siena, url }) => withClient(siena, url, async (client) => {
    const alarms = await client.advertise("what = siren, level any").settled();
    same(alarms.quenched, true);
    const severe = client.subscribe("what = siren and level > 3");
    await alarms.wanted();
    same(alarms.quenched, false);
    severe.close();
    alarms.close();
  }),

  "a filter ends the subscriptions that it covers": ({ siena, url }) => withClient(siena, url, async (client) => {
    const [cheap, every] = [client.subscribe("price < 300"), client.subscribe("price any")];
    same(await client.unsubscribe("price < 500"), [cheap.number]);
    same(await cheap.get(), undefined);
    await every.settled();
    every.close();
  }),

  "what the broker refuses is an error": ({ siena, url }) => withClient(siena, url, async (client) => {
    const error = await refused(() => client.subscribe("x >").settled(), "RequestRefusedError");
    same(error.fault, 101);
    await client.publish({ x: 2n ** 64n });
    same((await refused(() => client.flush(), "RequestRefusedError")).fault, 100);
    await client.flush();
  }),

  "what is not read is bounded, and counted": ({ siena, url }) => withClient(siena, url, async (client) => {
    const [newest, oldest, strict] = ["drop oldest", "drop newest", "error"].map((overflow) =>
      client.subscribe("price any", { countMax: 1, overflow }));
    await Promise.all([newest.settled(), oldest.settled(), strict.settled()]);
    await client.publishMany([{ price: 101 }, { price: 102 }, { price: 103 }]);
    await client.flush();
    same([newest.take(), newest.lost], [[{ price: 103 }], 2]);
    same([oldest.take(), oldest.lost], [[{ price: 101 }], 2]);
    same(await strict.get(), { price: 101 });
    await refused(() => strict.get(), "OverflowedError");
    await refused(() => newest.get({ timeoutMs: 1 }), "TimedOutError");
  }),

  "many are published at once": ({ siena, url }) => withClient(siena, url, async (client) => {
    const wanted = await client.subscribe("many any").settled();
    const text = "x".repeat(1_000);
    await client.publishMany(Array.from({ length: 2_000 }, (_, many) => ({ many, text })));
    for (let many = 0; many < 2_000; many += 1) same((await wanted.get(WAIT)).many, many);
  }),

  "the kit agrees": ({ siena, url, kit }) => withClient(siena, url, async (client) => {
    const subscriptions = kit.map(({ filter }) => client.subscribe(filter));
    await Promise.all(subscriptions.map((each) => each.settled()));
    for (const [i, { id, notification, expected }] of kit.entries()) {
      const value = siena.readNotification(notification);
      await client.publish(value);
      await client.flush();
      const found = subscriptions[i].take();
      same([id, found.length], [id, expected ? 1 : 0]);
      if (expected) same(found[0], value);
      subscriptions.forEach((each) => each.take());
    }
  }),

  "a delivery comes again until it is acknowledged": ({ siena, url }) => withClient(siena, url, async (client) => {
    const name = `js-${Math.random()}`;
    const wanted = await client.subscribe("bill any", { durable: name, start: "new" }).settled();
    await client.publishMany([{ bill: 1 }, { bill: 2 }]);
    const [one, two] = [await wanted.get(WAIT), await wanted.get(WAIT)];
    same([one.notification, one.attempt, two.notification], [{ bill: 1 }, 1, { bill: 2 }]);
    one.ack();
    two.nak();
    const again = await wanted.get(WAIT);
    same([again.notification, again.attempt, again.offset], [{ bill: 2 }, 2, two.offset]);
    again.ackUpTo();
  }),

  "who does not answer is no broker": ({ siena }) =>
    refused(() => siena.connect("ws://127.0.0.1:1/ws"), "NoBrokerError"),

  "a closed client says so": async ({ siena, url }) => {
    const client = await siena.connect(url);
    const wanted = client.subscribe("x any");
    await client.close();
    same(await wanted.get(), undefined);
    await refused(() => client.publish({ x: 1 }), "ConnectionLostError");
    await refused(async () => client.subscribe("x any"), "ConnectionLostError");
  },

  "a client that is closed while it comes back stays closed": async ({ siena, url }) => {
    const heard = [];
    const sockets = [];
    let client;
    const Watched = function (address) {
      const socket = new WebSocket(address);
      sockets.push(socket);
      if (sockets.length === 2) client.close();
      return socket;
    };
    client = await siena.connect(url, { WebSocket: Watched, onReconnect: () => heard.push("back") });
    await new Promise((resolve) => {
      client.options.onDisconnect = resolve;
      sockets[0].close();
    });
    while (sockets.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    await new Promise((resolve) => sockets[1].addEventListener("close", resolve));
    same([heard, client.reconnects, sockets.length], [[], 0, 2]);
  },

  // Last: it ends the broker.
  "a connection that breaks is found again": async ({ siena, url, restart }) => {
    const heard = [];
    const options = {
      onDisconnect: () => heard.push("lost"),
      onReconnect: ({ from, to }) => heard.push(from <= to ? "back" : "wrong"),
    };
    await withClient(siena, url, async (client) => {
      const wanted = await client.subscribe("n any").settled();
      const alarms = await client.advertise("n any").settled();
      await client.publish({ n: 1 });
      same(await wanted.get(WAIT), { n: 1 });
      await restart();
      // It waits for the connection, and the broker knows the subscription before it.
      await client.publish({ n: 2 });
      same(await wanted.get(WAIT), { n: 2 });
      await wanted.settled();
      await alarms.settled();
      same([heard, client.reconnects, alarms.quenched], [["lost", "back"], 1, false]);
    }, options);
  },
};
