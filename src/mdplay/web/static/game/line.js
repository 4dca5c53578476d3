// The line of positions: the moves played so far, the ones taken back, and where we are among them.
//
// The server keeps no game.  A position is named by its moves; where chance plays a part, by its text and its points, so
// that a game of thousands of moves costs no more than its last one.
import { get } from "../lib/api.js";

const LONGEST = 5800; // characters of the moves in one request

export class Line {
  constructor(info) {
    Object.assign(this, { info, params: "", start: undefined, nodes: [], at: 0 });
  }

  get node() {
    return this.nodes[this.at];
  }

  get doc() {
    return this.node.doc;
  }

  get end() {
    return this.nodes.length - 1;
  }

  get path() {
    return `/games/${this.info.id}`;
  }

  /** What tells the server about the position after i moves. */
  question(i = this.at) {
    const node = this.nodes[i];
    if (!this.info.chance) return { params: this.params, from: this.start, moves: this.moves(i).join(",") };
    return node.doc ? { params: this.params, from: node.doc.position, base: node.doc.points.join(",") } : node.query;
  }

  moves(i = this.end) {
    return this.nodes.slice(1, i + 1).map((node) => node.move);
  }

  /** Begin a line anew; a position that the server refuses leaves the line as it was. */
  async open({ params = "", from, moves = "", base, at = null }) {
    from ??= moves ? undefined : this.info.starts[params];
    const doc = await get(`${this.path}/position`, { params, from, moves, base });
    const known = this.info.chance ? [] : doc.events;
    Object.assign(this, { params, start: from });
    this.nodes = [{ move: null }, ...known.map((move, i) => ({ move, by: doc.past[i]?.player }))];
    Object.assign(this.nodes.at(-1), { doc, drawn: this.info.chance ? doc.events : [] });
    const shown = at === null || at === "" ? NaN : Number(at);
    this.at = Number.isInteger(shown) ? Math.max(0, Math.min(this.end, shown)) : this.end;
  }

  /** Take over a record that the server has read; where chance plays, its events stand between the moves. */
  async load({ params, from, moves }) {
    await this.open({ params, from: from || undefined, moves: moves.join(",") });
    if (!this.info.chance) return;
    const { doc } = this,
      played = doc.past,
      nodes = [{ move: null, drawn: [] }];
    for (const event of moves) {
      const ply = played[nodes.length - 1];
      if (ply && ply.move === event) nodes.push({ move: event, by: ply.player, drawn: [] });
      else nodes.at(-1).drawn.push(event);
    }
    let known = [];
    for (const node of nodes) {
      known = [...known, ...(node.move === null ? [] : [node.move]), ...node.drawn];
      node.query = { params, from: from || undefined, moves: known.join(",") };
    }
    nodes.at(-1).doc = doc;
    Object.assign(this, { nodes, at: nodes.length - 1 });
  }

  /** Return the document of a position; asked for when it is first needed. */
  async document(i = this.at) {
    const node = this.nodes[i];
    node.doc ??= await get(`${this.path}/position`, this.question(i));
    return node.doc;
  }

  /** Play a move after the current one; another future than the one known is cut off. */
  async play(action) {
    const { doc } = this,
      move = doc.legal.find((m) => m.action === action),
      next = this.nodes[this.at + 1];
    if (next && next.move === move.move && !this.info.chance) {
      this.at += 1;
      return this.document();
    }
    const question = this.question();
    const moves = this.info.chance ? move.move : [...this.moves(this.at), move.move].join(",");
    const after = await get(`${this.path}/position`, { ...question, moves });
    this.nodes.length = this.at + 1;
    this.nodes.push({ move: move.move, action, doc: after, by: doc.player, drawn: after.events.slice(1) });
    this.at += 1;
    return after;
  }

  /** The game for a record: a start, and every event since; of a game too long for one request, its end. */
  told() {
    const event = (node, i) => [...(i ? [node.move] : []), ...(node.drawn ?? [])].join(",");
    const events = this.nodes.map(event),
      length = (from) => events.slice(from).join(",").length;
    let first = 0;
    while (length(first) > LONGEST) first += 1;
    const rest = first ? events.slice(first + 1) : events;
    return {
      params: this.params,
      from: first ? this.nodes[first].doc?.position : this.start,
      moves: rest.filter(Boolean).join(","),
      cut: first,
    };
  }

  /** Forget all values, as when they are asked against another opponent. */
  forget() {
    for (const node of this.nodes) Object.assign(node, { verdict: null, values: null, slip: "", asked: false });
  }

  /** Mark the moves that gave something away: "?" one class, "??" a win for a loss; only exact values can tell. */
  judge() {
    this.nodes.forEach((node, i) => {
      node.slip = i && this.info.players === 2 ? this.slip(i) : "";
    });
  }

  slip(i) {
    const before = this.nodes[i - 1].verdict,
      after = this.nodes[i].verdict;
    if (!sure(before) || !sure(after)) return "";
    const sign = this.mover(i) ? -1 : 1;
    const lost = side(before.height * sign) - side(after.height * sign);
    return lost > 0 ? "?".repeat(Math.min(2, lost)) : "";
  }

  /** Who made the i-th move. */
  mover(i) {
    const node = this.nodes[i];
    return node.by ?? this.nodes[i - 1]?.doc?.player ?? this.nodes.at(-1).doc?.past?.[i - 1]?.player ?? (i - 1) % 2;
  }
}

const sure = (verdict) => verdict?.exact && !verdict.bound && !verdict.mean;
const side = (height) => Math.sign(Math.round(height * 1e6));
