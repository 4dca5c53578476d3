// Talk to the server: documents, and streams of events that can be left at any time.
import { $, h, say } from "./dom.js";

const ROOT = "/api/v1";
const RETRIES = 6;
const SOONEST = 500,
  LATEST = 8000; // ms between two tries to reach a server that does not answer
const OFFLINE = "The server is not running. Start mdplay serve again; this page will reconnect";
const CLOSED = "The server closed the connection";

/** The server has answered, and refused. */
export class Refused extends Error {
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

/** The server has not answered, or not to the end. */
export class Offline extends Error {}

const pause = (ms) =>
  new Promise((done) => {
    setTimeout(done, ms);
  });

function address(path, query) {
  const given = Object.entries(query ?? {}).filter(
    ([, value]) => value !== undefined && value !== null && value !== "",
  );
  return `${ROOT}${path}${given.length ? `?${new URLSearchParams(given)}` : ""}`;
}

async function checked(response) {
  if (response.ok) return response;
  const told = await response.json().catch(() => null);
  const detail = typeof told?.detail === "string" ? told.detail : `the server answered ${response.status}`;
  throw new Refused(detail, response.status);
}

/** Fetch; a server that does not answer is looked for until it does. */
async function reach(path, query, options) {
  try {
    return await fetch(address(path, query), options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    reconnected();
    throw new Offline(OFFLINE);
  }
}

/** Ask; a server that is busy is asked again. */
async function ask(path, query, options) {
  for (let attempt = 1; ; attempt++) {
    const response = await reach(path, query, options);
    if (response.status !== 503 || attempt === RETRIES) return checked(response);
    await pause(350 * attempt);
  }
}

export const get = async (path, query, signal) => (await ask(path, query, { signal })).json();

export const post = async (path, query, body) => (await ask(path, query, sending(body))).json();

const sending = (body) =>
  typeof body === "string"
    ? { method: "POST", body, headers: { "Content-Type": "text/plain" } }
    : { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };

// ---------------------------------------------------------------- a server that does not answer

let looking = null;

/** Return a promise that is kept when the server answers again; a bar says meanwhile that it does not. */
export function reconnected() {
  looking ??= look().finally(() => {
    looking = null;
  });
  return looking;
}

async function look() {
  let bar = null;
  for (let wait = SOONEST; ; wait = Math.min(2 * wait, LATEST)) {
    await pause(wait);
    if (await fetch(`${ROOT}/status`).catch(() => null)) break;
    if (!bar) {
      bar = h("div", { id: "offline", class: "offline", role: "alert" }, `${OFFLINE} by itself.`);
      $("#top").before(bar);
    }
  }
  if (bar) say("The server answers again");
  bar?.remove();
}

// ---------------------------------------------------------------- streams

/** Read a stream of events; `on` has a function for each.  The last one is `end`, or `failed`, and neither if it was left.
 *
 * Not EventSource: that connects again when a stream ends, and cannot tell why it failed.
 */
export function stream(path, query, on, body) {
  const control = new AbortController();
  const options = { ...(body === undefined ? {} : sending(body)), signal: control.signal };
  const finished = read(path, query, options, on).catch((error) => {
    if (error.name === "AbortError" || control.signal.aborted) return;
    on.failed?.({ message: error.message, code: error.code, offline: error instanceof Offline });
  });
  return { stop: () => control.abort(), finished };
}

async function read(path, query, options, on) {
  const response = await checked(await reach(path, query, options));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = "", last = ""; ;) {
    const { value, done } = await reader.read().catch((error) => {
      if (error.name === "AbortError") throw error;
      throw new Offline(CLOSED);
    });
    if (done && (last === "end" || last === "failed")) return;
    if (done) throw new Offline(CLOSED);
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) if (!options.signal.aborted) last = tell(block, on) ?? last;
  }
}

/** Pass on an event and return its name. */
function tell(block, on) {
  const event = /^event: (.*)$/m.exec(block)?.[1];
  const data = /^data: (.*)$/m.exec(block)?.[1];
  if (event && data) on[event]?.(JSON.parse(data));
  return event;
}
