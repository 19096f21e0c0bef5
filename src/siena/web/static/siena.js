// The Siena client for browsers and Node: one module, no dependencies. It promises what the Python
// client promises (docs/guides/javascript.md). Types are in the comments, for `tsc --checkJs`.

// --- What can go wrong: all are SienaError -------------------------------------------------

export class SienaError extends Error {
  get name() { return this.constructor.name; }
}
/** No broker answers there. */
export class NoBrokerError extends SienaError {}
/** The connection ended before the answer came, or the client is closed. */
export class ConnectionLostError extends SienaError {}
/** Brokers did not say in time whether it is in force there; it stands, and `settled()` asks again. */
export class NotSettledError extends SienaError {
  /** @param {string[]} silent */
  constructor(silent) {
    super(`it may not be in force everywhere: no answer from ${silent.join(", ")}`);
    this.silent = silent;
  }
}
/** A subscription with `overflow: "error"` got more than it may keep. */
export class OverflowedError extends SienaError {}
/** The time of a `timeoutMs` is over. */
export class TimedOutError extends SienaError {}
/** The broker said no. */
export class RequestRefusedError extends SienaError {
  /** @param {{error: number, name: string, text: string, pointer?: string[]}} said */
  constructor(said) {
    super(`${said.text} (error ${said.error})${said.pointer ? `\n${said.pointer.join("\n")}` : ""}`);
    /** Its number, see the reference of the protocol. */
    this.fault = said.error;
    this.faultName = said.name;
  }
}

// --- Values --------------------------------------------------------------------------------
//
// A broker tells integers (64 bits) from floats; JavaScript does not. So `1` is an integer and
// `1.5` a float; the float one is `new Float(1)`, and an integer that a number cannot hold is a
// BigInt. A time has microseconds, which a Date has not: it is read as a `Time`.

/** A float, whatever its value. */
export class Float {
  /** @param {number} value */
  constructor(value) {
    if (!Number.isFinite(value)) throw new TypeError(`${value} is not a value of a notification`);
    this.value = value;
  }
  valueOf() { return this.value; }
  toString() {
    const text = Object.is(this.value, -0) ? "-0" : String(this.value);
    return /[.e]/.test(text) ? text : `${text}.0`;
  }
}

/** A moment, to the microsecond: `new Time("2026-11-15T02:40:03.000001Z")`. */
export class Time {
  /** @param {string | Date} moment */
  constructor(moment) {
    this.text = moment instanceof Date ? moment.toISOString() : moment;
    if (!/^\d{4}-\d\d-\d\dT/.test(this.text)) throw new TypeError(`${this.text} is not a time`);
  }
  /** The same, cut to milliseconds. */
  toDate() { return new Date(this.text.replace(/(\.\d{3})\d+/, "$1")); }
  toString() { return this.text; }
}

/**
 * @typedef {string | boolean | number | bigint | Float | Time | Date} Value
 * @typedef {Record<string, Value>} Notification  What is read has no Date, but Time.
 */

/** @param {unknown} value @param {string} name @param {boolean} inJson */
function literal(value, name, inJson) {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "boolean" || typeof value === "bigint") return String(value);
  if (typeof value === "number") {
    const isInteger = Number.isSafeInteger(value) && !Object.is(value, -0);
    return isInteger ? String(value) : String(new Float(value));
  }
  if (value instanceof Float) return String(value);
  if (value instanceof Date || value instanceof Time) {
    const moment = String(value instanceof Date ? new Time(value) : value);
    return inJson ? `{"time":${JSON.stringify(moment)}}` : moment;
  }
  throw new TypeError(`${name}: a value is a string, a boolean, a number, a BigInt, a Float or a time`);
}

/**
 * The JSON text of a notification; what is null or undefined is absent.
 * @param {Record<string, Value | null | undefined>} notification
 */
export function writeNotification(notification) {
  if (notification === null || typeof notification !== "object" || Array.isArray(notification)) {
    throw new TypeError("a notification is an object of attributes");
  }
  const parts = [];
  for (const [name, value] of Object.entries(notification)) {
    if (value != null) parts.push(`${JSON.stringify(name)}:${literal(value, name, true)}`);
  }
  return `{${parts.join()}}`;
}

// A string, or a number.
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(\.\d+)?([eE][+-]?\d+)?/g;
// A name that no publisher can know.
const EXACT = `${Math.random()}`;

/**
 * What a broker said. Numbers keep their kind, which `JSON.parse` alone would lose.
 * @param {string} text
 */
function read(text) {
  let isPlain = true;
  const marked = text.replace(TOKENS, (token, fraction, exponent) => {
    if (token[0] === '"') return token;
    const value = Number(token);
    // JavaScript would read a number of the same kind.
    if ((fraction ?? exponent) === undefined === Number.isSafeInteger(value)) return token;
    isPlain = false;
    return `{"${EXACT}":"${token}"}`;
  });
  return isPlain ? JSON.parse(text) : JSON.parse(marked, revive);
}

/** @param {string} _ @param {any} value */
function revive(_, value) {
  const token = value?.[EXACT];
  if (typeof token !== "string") return value;
  return /[.eE]/.test(token) ? new Float(Number(token)) : BigInt(token);
}

/**
 * The times of a notification, which are objects in JSON, as `Time`.
 * @param {Record<string, any>} notification
 * @returns {Notification}
 */
function withTimes(notification) {
  for (const [name, value] of Object.entries(notification)) {
    if (value?.time !== undefined) notification[name] = new Time(value.time);
  }
  return notification;
}

/**
 * A notification from its JSON text, as server-sent events have it.
 * @param {string} text
 */
export const readNotification = (text) => withTimes(read(text));

/**
 * The text of an interest, in which values are quoted: filter`symbol = ${symbol} and price < ${limit}`.
 * @param {TemplateStringsArray} texts @param {...Value} values
 */
export function filter(texts, ...values) {
  return texts.reduce((all, text, i) => `${all}${literal(values[i - 1], "filter", false)}${text}`);
}

// --- Inboxes -------------------------------------------------------------------------------
//
// What has come and was not read yet: bounded, and read by one or many.

const COUNT_MAX = 65_536;

/** @template Item */
class Inbox {
  /** @type {Item[]} */ #items = [];
  /** @type {{resolve: (item: Item | undefined) => void, reject: (error: Error) => void}[]} */ #readers = [];
  #isOver = false;
  /** @type {Error | undefined} */ #error;

  /** @param {number} countMax @param {"drop newest" | "drop oldest" | "error"} overflow */
  constructor(countMax = COUNT_MAX, overflow = "drop newest") {
    if (!(countMax >= 1)) throw new TypeError("countMax is at least 1");
    if (!["drop newest", "drop oldest", "error"].includes(overflow)) {
      throw new TypeError('overflow is "drop newest", "drop oldest" or "error"');
    }
    this.countMax = countMax;
    this.overflow = overflow;
    /** How many were dropped, here or at the broker. */
    this.lost = 0;
  }

  get isOver() { return this.#isOver; }

  /** @param {Item} item */
  put(item) {
    if (this.#isOver) return;
    const reader = this.#readers.shift();
    if (reader) return reader.resolve(item);
    if (this.#items.length >= this.countMax) {
      this.lost += 1;
      if (this.overflow === "error") this.end(new OverflowedError(`more than ${this.countMax} wait to be read`));
      if (this.overflow !== "drop oldest") return;
      this.#items.shift();
    }
    this.#items.push(item);
  }

  /** No more will come: readers get what is there, and then the error, or the end. @param {Error} [error] */
  end(error) {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#error = error;
    for (const reader of this.#readers.splice(0)) error ? reader.reject(error) : reader.resolve(undefined);
  }

  /** @param {number} countMax */
  take(countMax = Infinity) { return this.#items.splice(0, Math.min(countMax, this.#items.length)); }

  /**
   * The next one, or undefined after the last.
   * @param {{timeoutMs?: number}} [options]
   * @returns {Promise<Item | undefined>}
   */
  get({ timeoutMs } = {}) {
    if (this.#items.length) return Promise.resolve(this.#items.shift());
    if (this.#isOver) return this.#error ? Promise.reject(this.#error) : Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      /** @type {ReturnType<typeof setTimeout> | undefined} */ let timer;
      const reader = {
        /** @param {Item | undefined} item */
        resolve: (item) => (clearTimeout(timer), resolve(item)),
        /** @param {Error} error */
        reject: (error) => (clearTimeout(timer), reject(error)),
      };
      this.#readers.push(reader);
      if (timeoutMs === undefined) return;
      timer = setTimeout(() => {
        // A reader that has given up takes no notification with it.
        this.#readers = this.#readers.filter((one) => one !== reader);
        reject(new TimedOutError(`nothing has come in ${timeoutMs} ms`));
      }, timeoutMs);
    });
  }
}

// --- The client ---------------------------------------------------------------------------

// Pauses before it is tried again: they double, and half of each is left to chance.
const PAUSE_FIRST_MS = 100;
const PAUSE_MAX_MS = 5_000;
const GIVE_UP_MS = 120_000;
const CONNECT_MS = 5_000;
// A broker that says nothing for so long is asked; after as long again it is gone.
const SILENCE_MS = 10_000;
// What may wait in the socket before a publisher waits, and what one message may hold.
const WAITING_BYTES_MAX = 1_048_576;
const MESSAGE_CHARACTERS_MAX = 262_144;

/**
 * @typedef {object} Options
 * @property {string} [token]  Who you are; sent in the first message, never in the address.
 * @property {typeof globalThis.WebSocket} [WebSocket]  Where the language has none of its own.
 * @property {number} [connectMs]  How long a broker may take to answer.
 * @property {number | null} [reconnectMs]  How long it tries to come back; null: not at all.
 * @property {(error: Error) => void} [onDisconnect]  The connection is lost.
 * @property {(away: {from: Date, to: Date}) => void} [onReconnect]  It is back; what was published meanwhile has been missed.
 * @property {(error: Error) => void} [onError]  The broker refused a publication.
 *
 * @typedef {object} SubscribeOptions
 * @property {number} [countMax]  How many may wait to be read.
 * @property {"drop newest" | "drop oldest" | "error"} [overflow]  What happens beyond.
 * @property {string} [durable]  The name of a durable subscription: deliveries are acknowledged.
 * @property {"new" | "all" | number} [start]
 * @property {number} [credit]
 * @property {number} [ackWait]
 * @property {number} [maxDeliver]
 * @property {string} [key]
 */

/**
 * Connect to a broker: `await connect("ws://127.0.0.1:2680/ws")`. Its own pages may leave the address out.
 * @param {string | Options} [url] @param {Options} [options]
 */
export async function connect(url, options) {
  if (typeof url === "object") [url, options] = [undefined, url];
  const client = new Client(url ?? new URL("/ws", location.href.replace(/^http/, "ws")).href, options ?? {});
  await client.start();
  return client;
}

function deferred() {
  /** @type {any} */ const found = {};
  found.promise = new Promise((resolve, reject) => Object.assign(found, { resolve, reject }));
  // Its error is for those who wait; that no one does is no error.
  found.promise.catch(() => {});
  return found;
}

/** A connection to a broker, which comes back by itself; made by `connect`. */
export class Client {
  /** @type {WebSocket | undefined} */ #socket;
  #up = deferred(); // the present connection, or the next one
  #isClosed = false;
  #number = 0;
  /** @type {Map<number, Registration>} */ #registrations = new Map();
  /** @type {Map<string, any>} */ #pings = new Map();
  /** @type {any[]} */ #ended = [];
  /** @type {Error | undefined} */ #refused;
  #heardAt = 0;
  /** @type {any} */ #watch;

  /** How often the connection was lost and found again. */
  reconnects = 0;

  /** @param {string} url @param {Options} options */
  constructor(url, options) {
    this.url = url;
    this.options = options;
  }

  async start() {
    try {
      await this.#open();
    } catch (error) {
      this.#isClosed = true;
      throw error;
    }
  }

  /**
   * Publish; returns when it is on its way. Waits while there is no connection, or the socket is full.
   * @param {Record<string, Value | null | undefined>} notification
   */
  publish(notification) { return this.publishMany([notification]); }

  /**
   * Publish many, many to a message.
   * @param {Iterable<Record<string, Value | null | undefined>>} notifications
   */
  async publishMany(notifications) {
    /** @type {string[]} */ let texts = [];
    let size = 0;
    for (const notification of notifications) {
      const text = writeNotification(notification);
      if (size + text.length > MESSAGE_CHARACTERS_MAX && texts.length) {
        await this.#send(`{"pub":[${texts.join()}]}`);
        texts = [];
        size = 0;
      }
      texts.push(text);
      size += text.length;
    }
    if (texts.length) await this.#send(`{"pub":[${texts.join()}]}`);
  }

  /** Wait until the broker has handled all before; throws what it had against it. */
  async flush() {
    await this.#up.promise;
    await this.#ping();
    const error = this.#refused;
    this.#refused = undefined;
    if (error) throw error;
  }

  /**
   * Subscribe to a filter, or a pattern (`A then B`), whose matches are arrays.
   * @param {string} interest @param {SubscribeOptions} [options]
   */
  subscribe(interest, options = {}) {
    return this.#register(new Subscription(this, ++this.#number, interest, options));
  }

  /**
   * Say what will be published; hear whether it is wanted.
   * @param {string} advertisement
   */
  advertise(advertisement) {
    return this.#register(new Advertisement(this, ++this.#number, advertisement));
  }

  /**
   * End every subscription that the filter covers; returns their numbers.
   * @param {string} interest @returns {Promise<number[]>}
   */
  async unsubscribe(interest) {
    await this.#up.promise;
    const answer = deferred();
    this.#ended.push(answer);
    this.say({ unsub: interest });
    const numbers = await answer.promise;
    for (const number of numbers) this.#registrations.get(number)?.end();
    return numbers;
  }

  /** Close it, once the broker has what was published; subscriptions end after what is there. */
  async close() {
    if (this.#isClosed) return;
    try {
      if (this.#watch) await this.flush();
    } finally {
      this.#end(undefined);
    }
  }

  /** False if there is no connection to say it on. @param {object} request */
  say(request) {
    if (!this.#socket) return false;
    this.#socket.send(typeof request === "string" ? request : JSON.stringify(request));
    return true;
  }

  /** @param {Registration} one @param {object} [request] */
  forget(one, request) {
    if (this.#registrations.delete(one.number) && request) this.say(request);
  }

  /** @template {Registration} One @param {One} one @returns {One} */
  #register(one) {
    if (this.#isClosed) throw new ConnectionLostError("the client is closed");
    this.#registrations.set(one.number, one);
    this.say(one.request());
    return one;
  }

  /** @param {string} text */
  async #send(text) {
    for (;;) {
      await this.#up.promise;
      const socket = /** @type {WebSocket} */ (this.#socket);
      if (socket.bufferedAmount < WAITING_BYTES_MAX) return socket.send(text);
      // A WebSocket does not tell when it has room again.
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  #ping() {
    const answer = deferred();
    const name = String(++this.#number);
    this.#pings.set(name, answer);
    this.say({ ping: name });
    return answer.promise;
  }

  async #open() {
    const WebSocket = this.options.WebSocket ?? globalThis.WebSocket;
    if (!WebSocket) throw new TypeError("there is no WebSocket here: try node --experimental-websocket");
    const socket = new WebSocket(this.url);
    const opened = deferred();
    /** @type {Error} */ let reason = new NoBrokerError(`no broker answers at ${this.url} (start one with: siena serve --http)`);
    socket.onopen = () => opened.resolve();
    socket.onerror = () => opened.reject(reason); // not everywhere does onclose follow
    socket.onmessage = ({ data }) => {
      this.#heardAt = Date.now();
      const said = read(data);
      if (said.siena === "ERR" && said.closes) reason = new RequestRefusedError(said);
      this.#hear(said);
    };
    socket.onclose = () => {
      opened.reject(reason);
      if (this.#socket === socket) this.#lost(reason);
    };
    const limit = setTimeout(() => (opened.reject(reason), this.#leave(socket, reason)), this.options.connectMs ?? CONNECT_MS);
    try {
      await opened.promise;
      if (this.#isClosed) return socket.close();
      this.#socket = socket;
      this.#heardAt = Date.now();
      if (this.options.token !== undefined) this.say({ token: this.options.token });
      for (const one of this.#registrations.values()) this.say(one.request());
      await this.#ping();
    } finally {
      clearTimeout(limit);
    }
    reason = new ConnectionLostError("the connection to the broker is lost");
    this.#watch = setInterval(() => this.#look(socket), SILENCE_MS / 2);
    this.#watch.unref?.(); // a program that has nothing else to do may end
    this.#up.resolve();
  }

  /** Whether the broker still speaks. @param {WebSocket} socket */
  #look(socket) {
    const silence = Date.now() - this.#heardAt;
    if (silence > 2 * SILENCE_MS) this.#leave(socket, new ConnectionLostError(`the broker has said nothing for ${silence} ms`));
    else if (silence > SILENCE_MS) this.#ping();
  }

  /** Closing waits for an answer, which will not come. @param {WebSocket} socket @param {Error} error */
  #leave(socket, error) {
    socket.onclose = socket.onmessage = null;
    socket.close();
    this.#lost(error);
  }

  /** @param {Error} error */
  #lost(error) {
    const wasUp = this.#watch !== undefined;
    this.#drop(error);
    if (this.#isClosed || !wasUp) return; // who opens it knows
    this.#up = deferred();
    for (const one of this.#registrations.values()) one.unsettle();
    this.options.onDisconnect?.(error);
    this.#comeBack(error);
  }

  /** Forget a connection, and all that was asked on it. @param {Error} error */
  #drop(error) {
    clearInterval(this.#watch);
    this.#watch = this.#socket = undefined;
    for (const answer of [...this.#pings.values(), ...this.#ended]) answer.reject(error);
    this.#pings.clear();
    this.#ended = [];
  }

  /** @param {Error} error */
  async #comeBack(error) {
    const from = Date.now();
    const patience = this.options.reconnectMs === undefined ? GIVE_UP_MS : this.options.reconnectMs ?? -1;
    for (let pause = PAUSE_FIRST_MS; Date.now() - from <= patience; pause = Math.min(2 * pause, PAUSE_MAX_MS)) {
      await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random() / 2)));
      if (this.#isClosed) return;
      try {
        await this.#open();
      } catch (again) {
        // A broker that refuses will refuse again.
        if (again instanceof RequestRefusedError) return this.#end(again);
        continue;
      }
      if (this.#isClosed) return;
      this.reconnects += 1;
      this.options.onReconnect?.({ from: new Date(from), to: new Date() });
      return;
    }
    this.#end(error);
  }

  /** The end of the client. @param {Error | undefined} error */
  #end(error) {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const socket = this.#socket;
    const reason = error ?? new ConnectionLostError("the client is closed");
    this.#drop(reason);
    socket?.close();
    this.#up.reject(reason); // who waits for it
    this.#up = deferred();
    this.#up.reject(reason);
    for (const one of this.#registrations.values()) one.end(error);
  }

  /** What a broker says. @param {any} said */
  #hear(said) {
    const one = this.#registrations.get(said.number ?? said.subscription);
    switch (said.siena) {
      case "MSG": {
        const notification = withTimes(said.notification);
        for (const number of said.subscriptions) this.#registrations.get(number)?.put(notification);
        break;
      }
      case "FOUND": return one?.put(said.notifications.map(withTimes));
      case "DELIVER": return one?.put(new Delivery(/** @type {any} */ (one), said));
      case "SETTLED":
      case "QUENCH": return one?.settle(said);
      case "LOST": // the broker does not say of which
        for (const each of this.#registrations.values()) if (each instanceof Subscription) each.lost += said.count;
        break;
      case "PONG":
        this.#pings.get(said.data)?.resolve();
        this.#pings.delete(said.data);
        break;
      case "ENDED": return this.#ended.shift()?.resolve(said.numbers);
      case "ERR": return this.#fault(said, one);
    }
  }

  /** @param {any} said @param {Registration | undefined} one */
  #fault(said, one) {
    const error = new RequestRefusedError(said);
    if (one && said.request !== "UNSUB" && said.request !== "UNADV") return one.end(error);
    if (said.request === "UNSUB_COVERED") return this.#ended.shift()?.reject(error);
    this.#refused ??= error;
    this.options.onError?.(error);
  }
}

// What the broker is told again after each new connection.
class Registration {
  /** @type {any} */ #settled = deferred();
  #isSettled = false;
  #mayAsk = false;

  /** @param {Client} client @param {number} number @param {string} text */
  constructor(client, number, text) {
    if (typeof text !== "string") throw new TypeError("an interest is a text");
    this.client = client;
    this.number = number;
    this.text = text;
  }

  /** @returns {any} */
  request() {}
  /** @param {any} _ */
  put(_) {}

  /** Wait until the whole network knows of it; after a new connection, anew. @returns {Promise<this>} */
  settled() {
    if (this.#mayAsk) {
      this.unsettle();
      this.client.say(this.request());
    }
    return this.#settled.promise;
  }

  /** @param {any} said */
  settle({ silent }) {
    this.#isSettled = true;
    if (!silent) return this.#settled.resolve(this);
    this.#settled.reject(new NotSettledError(silent));
    this.#mayAsk = !this.request().durable; // which is asked for but once
  }

  unsettle() {
    if (this.#isSettled) this.#settled = deferred();
    this.#isSettled = this.#mayAsk = false;
  }

  /** @param {Error} [error] */
  end(error) {
    this.unsettle();
    this.#settled.reject(error ?? new ConnectionLostError("it has ended"));
    this.client.forget(this);
  }
}

/** What comes for a filter or pattern: `for await (const notification of subscription)`. */
export class Subscription extends Registration {
  /** @type {Inbox<any>} */ #inbox;

  /** @param {Client} client @param {number} number @param {string} text @param {SubscribeOptions} options */
  constructor(client, number, text, { countMax, overflow, ...durable }) {
    super(client, number, text);
    this.#inbox = new Inbox(countMax, overflow);
    const { ackWait, maxDeliver, ...same } = durable;
    this.durable = { ...same, ack_wait: ackWait, max_deliver: maxDeliver };
  }

  request() { return { sub: this.text, number: this.number, ...this.durable }; }
  /** @param {any} item */
  put(item) { this.#inbox.put(item); }
  /** How many were dropped, here or at the broker, which may not know for which subscription. */
  get lost() { return this.#inbox.lost; }
  set lost(count) { this.#inbox.lost = count; }

  /**
   * The next one, or undefined after the last.
   * @param {{timeoutMs?: number}} [options]
   */
  get(options) { return this.#inbox.get(options); }

  /** Those that are there, without waiting. @param {number} [countMax] */
  take(countMax) { return this.#inbox.take(countMax); }

  /** @param {Error} [error] */
  end(error) {
    this.#inbox.end(error);
    super.end(error);
  }

  /** End it, and let readers have what is there. */
  close() {
    this.client.forget(this, { unsub: this.number });
    this.end();
  }

  async *[Symbol.asyncIterator]() {
    for (;;) {
      const item = await this.#inbox.get();
      if (item === undefined) return;
      yield item;
    }
  }
}

/** Of a durable subscription: it comes again until it is acknowledged. */
export class Delivery {
  #of;
  /** @param {Subscription} of @param {any} said */
  constructor(of, { offset, attempt, time, notification }) {
    this.#of = of;
    this.offset = offset;
    this.attempt = attempt;
    this.time = time;
    /** @type {Notification} */ this.notification = withTimes(notification);
  }

  /** It is done. Not said if the connection is gone: then it comes again. */
  ack() { return this.#answer({ ack: [this.offset] }); }
  /** With all before it. */
  ackUpTo() { return this.#answer({ ack: { up_to: this.offset + 1 } }); }
  /** Not now: again, after so many seconds. @param {number} [delay] */
  nak(delay = 0) { return this.#answer({ nak: [this.offset], delay }); }

  /** @param {object} said */
  #answer(said) { return this.#of.client.say({ ...said, number: this.#of.number }); }
}

/** What will be published, and whether it is wanted. */
export class Advertisement extends Registration {
  #changed = deferred();
  /** Whether no one wants it: then publishing it would be in vain. @type {boolean | undefined} */
  quenched;

  request() { return { adv: this.text, number: this.number }; }

  /** @param {any} said */
  settle(said) {
    this.quenched = said.quenched;
    super.settle(said);
    this.#changed.resolve();
    this.#changed = deferred();
  }

  /** Wait until it is wanted. */
  async wanted() {
    while (this.quenched !== false) await this.#changed.promise;
  }

  /** @param {Error} [error] */
  end(error) {
    this.#changed.reject(error ?? new ConnectionLostError("it has ended"));
    super.end(error);
  }

  /** Take it back. */
  close() {
    this.client.forget(this, { unadv: this.number });
    this.end();
  }
}
