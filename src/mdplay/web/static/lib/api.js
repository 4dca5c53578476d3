// Talk to the server: documents, and streams of events that can be left at any time.

const ROOT = "/api/v1";
const RETRIES = 6;

export class Refused extends Error {}

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
  throw new Refused(typeof told?.detail === "string" ? told.detail : `the server answered ${response.status}`);
}

/** Ask; a server with its hands full is asked again. */
async function ask(path, query, options) {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(address(path, query), options);
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

/** Read a stream of events; `on` has a function for each, and `closed` for the end, however it came.
 *
 * Not EventSource: that connects again when a stream ends, and cannot tell why it failed.
 */
export function stream(path, query, on, body) {
  const control = new AbortController();
  const options = { ...(body === undefined ? {} : sending(body)), signal: control.signal };
  const finished = read(path, query, options, on)
    .catch((error) => {
      if (error.name !== "AbortError") on.failed?.({ message: error.message });
    })
    .finally(() => on.closed?.());
  return { stop: () => control.abort(), finished };
}

async function read(path, query, options, on) {
  const response = await ask(path, query, options);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; ;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) if (!options.signal.aborted) tell(block, on);
  }
}

function tell(block, on) {
  const event = /^event: (.*)$/m.exec(block)?.[1];
  const data = /^data: (.*)$/m.exec(block)?.[1];
  if (event && data) on[event]?.(JSON.parse(data));
}
