// Matching in time linear in the text: all threads of the program advance together, one code point at a time.
// Tests without a match position use a DFA whose states are built on demand.

import type { Instruction, RegexProgram } from "./program.ts";
import type { Assertion } from "./syntax.ts";
import { chargeWalk, walkFactor } from "../walk-limit.ts";

/** Work limit of one search: threads times code points. */
const maxSteps = 4_000_000;
/** Cost of a step, and of building a state per position in it. */
const stepCost = 0.5;
const stateCost = 1;
const maxStates = 1000;

export class RegexWorkError extends Error {
  override readonly name = "RegexWorkError";
}

export interface Match {
  readonly start: number;
  readonly end: number;
}

const isWord = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122);

function holds(assertion: Assertion, before: number, after: number): boolean {
  switch (assertion) {
    case "textStart":
      return before < 0;
    case "textEnd":
      return after < 0;
    case "lineStart":
      return before < 0 || before === 10;
    case "lineEnd":
      return after < 0 || after === 10;
    case "boundary":
      return isWord(before) !== isWord(after);
    case "notBoundary":
      return isWord(before) === isWord(after);
  }
}

function within(ranges: Int32Array, code: number): boolean {
  let low = 0;
  let high = ranges.length / 2 - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (code < ranges[2 * middle]!) high = middle - 1;
    else if (code > ranges[2 * middle + 1]!) low = middle + 1;
    else return true;
  }
  return false;
}

/** Threads in order of preference, each program position at most once. */
class Threads {
  readonly list: number[] = [];
  readonly starts: number[] = [];
  readonly #seen: Uint32Array;
  #mark = 0;
  constructor(size: number) {
    this.#seen = new Uint32Array(size);
  }
  clear(): void {
    this.list.length = 0;
    this.starts.length = 0;
    this.#mark += 1;
  }
  visit(at: number): boolean {
    if (this.#seen[at] === this.#mark) return false;
    this.#seen[at] = this.#mark;
    return true;
  }
}

export class Matcher {
  readonly #code: readonly Instruction[];
  readonly #start: number;
  readonly #now: Threads;
  readonly #next: Threads;
  readonly #automaton: Automaton | undefined;
  readonly #pending: number[] = [];
  /** Whether a match can begin with an ASCII character; undefined if it can begin without a character. */
  readonly #first: Uint8Array | undefined;

  constructor({ code, start }: RegexProgram) {
    this.#code = code;
    this.#start = start;
    this.#now = new Threads(code.length);
    this.#next = new Threads(code.length);
    const local = (each: Instruction) =>
      each.op === "assert" && each.assertion !== "textStart" && each.assertion !== "textEnd";
    this.#first = firstCharacters(code, start);
    this.#automaton = code.some(local) ? undefined : new Automaton(code, start);
  }

  test(text: string): boolean {
    return this.#automaton ? this.#automaton.test(text) : this.find(text, 0) !== undefined;
  }

  /** Returns the leftmost match from a position on; of several starting there, the preferred one. */
  find(text: string, from: number, work: { steps: number } = { steps: 0 }): Match | undefined {
    let now = this.#now;
    let next = this.#next;
    now.clear();
    let found: Match | undefined;
    let before = from > 0 ? codeBefore(text, from) : -1;
    for (let at = from; ;) {
      if (now.list.length === 0 && !found && this.#first) {
        const to = skipped(text, at, this.#first);
        if (to > at) before = text.charCodeAt(to - 1);
        at = to;
      }
      const after = at < text.length ? text.codePointAt(at)! : -1;
      if (!found) this.#follow(now, this.#start, at, before, after);
      if (now.list.length === 0 && (found || after < 0)) return found;
      work.steps += now.list.length + 1;
      chargeWalk((now.list.length + 1) * stepCost);
      if (work.steps > maxSteps) throw new RegexWorkError("regular expression takes too long");
      next.clear();
      const to = at + (after > 0xffff ? 2 : 1);
      for (let index = 0; index < now.list.length; index += 1) {
        const instruction = this.#code[now.list[index]!]!;
        const start = now.starts[index]!;
        if (instruction.op === "match") {
          found = { start, end: at };
          break;
        }
        if (instruction.op === "set" && after >= 0 && within(instruction.ranges, after)) {
          const following = to < text.length ? text.codePointAt(to)! : -1;
          this.#follow(next, instruction.next, start, after, following);
        }
      }
      if (after < 0) return found;
      [now, next] = [next, now];
      before = after;
      at = to;
    }
  }

  /** Adds a thread and everything it reaches without consuming input. */
  #follow(threads: Threads, first: number, start: number, before: number, after: number): void {
    const pending = this.#pending;
    pending.push(first);
    while (pending.length > 0) {
      const at = pending.pop()!;
      if (!threads.visit(at)) continue;
      const instruction = this.#code[at]!;
      if (instruction.op === "split") pending.push(instruction.second, instruction.first);
      else if (instruction.op === "assert") {
        if (holds(instruction.assertion, before, after)) pending.push(instruction.next);
      } else {
        threads.list.push(at);
        threads.starts.push(start);
      }
    }
  }
}

/** Returns which ASCII characters a match can begin with; undefined if it may begin with none. */
function firstCharacters(code: readonly Instruction[], start: number): Uint8Array | undefined {
  const first = new Uint8Array(128);
  const seen = new Set<number>();
  const pending = [start];
  while (pending.length > 0) {
    const at = pending.pop()!;
    if (seen.has(at)) continue;
    seen.add(at);
    const instruction = code[at]!;
    if (instruction.op === "split") pending.push(instruction.first, instruction.second);
    else if (instruction.op !== "set") return undefined;
    else for (let char = 0; char < 128; char += 1) first[char]! |= Number(within(instruction.ranges, char));
  }
  return first;
}

/** Returns the next position at which a match can begin. */
function skipped(text: string, from: number, first: Uint8Array): number {
  let at = from;
  while (at < text.length && first[text.charCodeAt(at)] === 0) at += 1;
  chargeWalk((at - from) * walkFactor);
  return at;
}

function codeBefore(text: string, at: number): number {
  const low = text.charCodeAt(at - 1);
  return (low & 0xfc00) === 0xdc00 && at > 1 ? text.codePointAt(at - 2)! : low;
}

interface State {
  readonly positions: readonly number[];
  readonly matches: boolean;
  /** Whether the state matches if the text ends here. */
  readonly matchesAtEnd: boolean;
  readonly next: (State | undefined)[];
}

/** The DFA for expressions whose assertions concern only the ends of the text. */
class Automaton {
  readonly #code: readonly Instruction[];
  readonly #start: number;
  readonly #bounds: Int32Array;
  readonly #ascii = new Uint16Array(128);
  readonly #states = new Map<string, State>();
  #initial: State | undefined;
  #steps = 0;

  constructor(code: readonly Instruction[], start: number) {
    this.#code = code;
    this.#start = start;
    const bounds = new Set<number>([0]);
    for (const instruction of code) {
      if (instruction.op !== "set") continue;
      for (let at = 0; at < instruction.ranges.length; at += 2) {
        bounds.add(instruction.ranges[at]!);
        bounds.add(instruction.ranges[at + 1]! + 1);
      }
    }
    this.#bounds = Int32Array.from([...bounds].toSorted((left, right) => left - right));
    for (let code = 0; code < 128; code += 1) this.#ascii[code] = this.#search(code);
  }

  test(text: string): boolean {
    this.#steps = 0;
    if (this.#states.size > maxStates) this.#forget();
    let state = (this.#initial ??= this.#state([this.#start], true));
    for (let at = 0; at < text.length;) {
      if (state.matches) return true;
      let code = text.charCodeAt(at);
      at += 1;
      if ((code & 0xfc00) === 0xd800) {
        code = text.codePointAt(at - 1)!;
        if (code > 0xffff) at += 1;
      }
      const kind = code < 128 ? this.#ascii[code]! : this.#search(code);
      state = state.next[kind] ?? this.#advance(state, kind);
    }
    return state.matches || state.matchesAtEnd;
  }

  #forget(): void {
    this.#states.clear();
    this.#initial = undefined;
  }

  /** Returns the equivalence class of a code point: no set of the program distinguishes its members. */
  #search(code: number): number {
    let low = 0;
    let high = this.#bounds.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#bounds[middle]! <= code) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #advance(state: State, kind: number): State {
    const code = this.#bounds[kind]!;
    const moved: number[] = [];
    for (const position of state.positions) {
      const instruction = this.#code[position]!;
      if (instruction.op === "set" && within(instruction.ranges, code)) moved.push(instruction.next);
    }
    moved.push(this.#start);
    const next = this.#state(moved, false);
    state.next[kind] = next;
    return next;
  }

  /** Returns the state in which these positions are live. */
  #state(from: readonly number[], atStart: boolean): State {
    const positions = this.#closure(from, atStart, false);
    this.#steps += positions.length + 1;
    chargeWalk((positions.length + 1) * stateCost);
    if (this.#steps > maxSteps) throw new RegexWorkError("regular expression takes too long");
    const key = (atStart ? "^" : "") + positions.join();
    const known = this.#states.get(key);
    if (known) return known;
    const isMatch = (position: number) => this.#code[position]!.op === "match";
    const state: State = {
      positions,
      matches: positions.some(isMatch),
      matchesAtEnd: this.#closure(positions, atStart, true).some(isMatch),
      next: [],
    };
    if (this.#states.size > 4 * maxStates) this.#forget();
    this.#states.set(key, state);
    return state;
  }

  #closure(from: readonly number[], atStart: boolean, atEnd: boolean): number[] {
    const seen = new Set<number>();
    const found: number[] = [];
    const pending = [...from];
    while (pending.length > 0) {
      const at = pending.pop()!;
      if (seen.has(at)) continue;
      seen.add(at);
      const instruction = this.#code[at]!;
      if (instruction.op === "split") pending.push(instruction.second, instruction.first);
      else if (instruction.op === "assert") {
        const passes = instruction.assertion === "textStart" ? atStart : atEnd;
        if (passes) pending.push(instruction.next);
        else if (instruction.assertion === "textEnd") found.push(at);
      } else found.push(at);
    }
    return found.toSorted((left, right) => left - right);
  }
}
