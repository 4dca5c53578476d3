// A question to the server that is answered by a stream of events.  It is in one of four states:
//
//   idle      nothing was asked, or the question was left
//   running   asked; `notice` says why it takes long
//   done      the stream came to its end
//   failed    `message` says why.  A reason that passes (the server is busy or gone) is waited for, and the question is
//             asked again by itself; `retry` asks it again at once
import { h } from "./dom.js";
import { reconnected, stream } from "./api.js";
import { capital } from "./words.js";

const BUSY = 503;
const TRIES = 8,
  LONGEST = 15; // seconds between two tries

export class Question {
  /** `changed` is called with the question after each change of its state or notice. */
  constructor(changed = () => {}) {
    Object.assign(this, { changed, state: "idle", notice: "", message: "", again: 0, tries: 0 });
  }

  get running() {
    return this.state === "running";
  }

  /** Ask; `on` has a function for each event, and `end` for the end. */
  ask(path, query, on = {}, body = undefined) {
    this.leave();
    this.tries = 0;
    this.begin = () => this.run(path, query, on, body);
    this.begin();
  }

  run(path, query, on, body) {
    this.leave();
    const mine = () => this.stream === own;
    const own = (this.stream = stream(
      path,
      query,
      {
        ...on,
        notice: ({ text }) => {
          this.notice = text;
          this.changed(this);
        },
        failed: (told) => mine() && this.fail(told),
        end: () => {
          if (!mine()) return;
          this.stream = null;
          this.become("done");
          on.end?.();
        },
      },
      body,
    ));
    this.become("running");
  }

  fail({ message, code, offline }) {
    const { begin } = this;
    this.stream = null;
    this.tries += 1;
    this.again = code === BUSY && this.tries <= TRIES ? Math.min(2 ** (this.tries - 1), LONGEST) : 0;
    this.message = capital(message);
    this.passes = Boolean(offline || this.again);
    if (offline)
      reconnected().then(() => {
        if (this.state === "failed" && this.begin === begin) begin();
      });
    else if (this.again) this.timer = setTimeout(begin, 1000 * this.again);
    this.become("failed");
  }

  /** Ask again what failed. */
  retry() {
    this.tries = 0;
    this.begin?.();
  }

  /** Leave the question: its answer is not wanted any more. */
  stop() {
    this.leave();
    this.begin = null;
    this.become("idle");
  }

  leave() {
    clearTimeout(this.timer);
    this.stream?.stop();
    this.stream = null;
  }

  become(state) {
    this.state = state;
    this.notice = "";
    this.changed(this);
  }
}

/** What stands where the answer would: why there is none, when it is asked for again, and a button. */
export function trouble(question) {
  const { message, again } = question,
    sentence = `${message.replace(/\.$/, "")}.`;
  return h(
    "div",
    { class: "trouble", role: "alert" },
    h("p", {}, again ? `${sentence} Trying again in ${again} s …` : sentence),
    h("button", { class: "quiet small filled", type: "button", onclick: () => question.retry() }, "Try again"),
  );
}
