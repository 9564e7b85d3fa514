// YAML to plain JSON data. The library finds the events; what they mean is decided here, because the
// reference's reading differs from every stock schema, and because duplicate keys must be told with their
// line.

import { type Event, EVENT_ID, SCALAR_STYLE, type ScalarEvent, getScalarValue, parseEvents } from "js-yaml";
import { setOwn } from "#base";
import { parseUniqueJson } from "../json/parse.ts";
import { YamlError } from "./error.ts";
import { goFloat } from "./go-float.ts";
import { resolvePlain, resolveTagged, shortTag } from "./resolve.ts";

export interface ParsedYaml {
  readonly value: unknown;
  /** `line 3: key "name" already set in map`, for each key that stands twice. The last one counts. */
  readonly duplicate: readonly string[];
}

const deepest = 500;
/** Keys, values, and where lists and maps end. Nobody writes so much by hand, and programs send JSON. */
const mostEvents = 250_000;

/** Every document of a text; an empty one is null. */
export function parseYamlDocuments(input: string | Uint8Array): ParsedYaml[] {
  const source = typeof input === "string" ? input : textOf(input);
  try {
    const events = parseEvents(source, { maxDepth: deepest });
    if (events.length > mostEvents) throw new YamlError("yaml: exceeded max number of values");
    return new Composer(source, events).documents();
  } catch (error) {
    throw error instanceof YamlError ? error : reworded(error);
  }
}

/** The first document, which is the one that counts where a single object is expected. */
export function parseYaml(input: string | Uint8Array): ParsedYaml {
  const source = typeof input === "string" ? input : textOf(input);
  return readAsJson(source) ?? parseYamlDocuments(source)[0] ?? { value: null, duplicate: [] };
}

/**
 * What the two may read differently: halves of a character written as escapes, keys that merge, and numbers
 * that are too long for one of them.
 */
const ambiguous = /\\u[dD][89a-fA-F]|"<<"|\d{16}/;

/**
 * JSON is YAML too, and programs mostly send it where YAML is meant: read as what it is, it costs a small
 * part.
 */
function readAsJson(source: string): ParsedYaml | undefined {
  if (!source.startsWith("{") || ambiguous.test(source)) return undefined;
  try {
    const parsed = parseUniqueJson(source, { maxDepth: deepest });
    return parsed && { value: parsed.value, duplicate: [] };
  } catch {
    return undefined;
  }
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new YamlError("yaml: invalid UTF-8 text");
  }
}

function reworded(error: unknown): Error {
  if (error instanceof RangeError) return new YamlError(`yaml: exceeded max depth of ${deepest}`);
  const { reason, mark } = error as { reason?: string; mark?: { line: number } };
  return reason === undefined
    ? (error as Error)
    : new YamlError(`yaml: ${mark ? `line ${mark.line + 1}: ` : ""}${reason}`);
}

interface Anchored {
  readonly value: unknown;
  /** How many values it holds, itself included. */
  readonly size: number;
}

const open: unique symbol = Symbol("open");

class Composer {
  readonly #source: string;
  readonly #events: readonly Event[];
  #at = 0;
  #anchors = new Map<string, Anchored | typeof open>();
  #duplicate: string[] = [];
  #values = 0;
  #aliased = 0;
  /** Where each line begins; found when the first line number is asked for. */
  #lineStarts: readonly number[] | undefined;

  constructor(source: string, events: readonly Event[]) {
    this.#source = source;
    this.#events = events;
  }

  documents(): ParsedYaml[] {
    const found: ParsedYaml[] = [];
    while (this.#at < this.#events.length) {
      this.#at++; // the document's own event
      this.#anchors = new Map();
      this.#duplicate = [];
      let value: unknown = null;
      if (this.#events[this.#at]!.type !== EVENT_ID.POP) value = this.#value();
      this.#at++;
      found.push({ value, duplicate: this.#duplicate });
    }
    return found;
  }

  #value(): unknown {
    const event = this.#events[this.#at++]!;
    this.#values++;
    switch (event.type) {
      case EVENT_ID.ALIAS:
        return this.#alias(this.#source.slice(event.anchorStart, event.anchorEnd));
      case EVENT_ID.SCALAR:
        return this.#anchor(event, () => this.#scalar(event));
      case EVENT_ID.SEQUENCE:
        return this.#anchor(event, () => this.#sequence());
      case EVENT_ID.MAPPING:
        return this.#anchor(event, () => this.#mapping());
      default:
        throw new YamlError("yaml: unexpected end of a value");
    }
  }

  #anchor(event: { readonly anchorStart: number; readonly anchorEnd: number }, read: () => unknown): unknown {
    if (event.anchorStart < 0) return read();
    const name = this.#source.slice(event.anchorStart, event.anchorEnd);
    this.#anchors.set(name, open);
    const before = this.#values;
    const value = read();
    this.#anchors.set(name, { value, size: this.#values - before + 1 });
    return value;
  }

  /**
   * An alias stands for a copy. Copies of copies grow without bound, so their share is limited as documents
   * get large.
   */
  #alias(name: string): unknown {
    const anchored = this.#anchors.get(name);
    if (anchored === undefined) throw new YamlError(`yaml: unknown anchor '${name}' referenced`);
    if (anchored === open) throw new YamlError(`yaml: anchor '${name}' value contains itself`);
    this.#values += anchored.size;
    this.#aliased += anchored.size;
    const allowed =
      this.#values <= 400_000
        ? 0.99
        : this.#values >= 4_000_000
          ? 0.1
          : 0.99 - (0.89 * (this.#values - 400_000)) / 3_600_000;
    if (this.#aliased > 100 && this.#values > 1000 && this.#aliased / this.#values > allowed)
      throw new YamlError("yaml: document contains excessive aliasing");
    return anchored.value;
  }

  #tagOf(event: ScalarEvent): string {
    return event.tagStart < 0 ? "" : shortTag(this.#source.slice(event.tagStart, event.tagEnd));
  }

  #scalar(event: ScalarEvent): unknown {
    const text = getScalarValue(this.#source, event);
    const tag = this.#tagOf(event);
    const value = tag
      ? resolveTagged(tag, text)
      : event.style === SCALAR_STYLE.PLAIN
        ? resolvePlain(text)
        : text;
    if (typeof value === "number" && !Number.isFinite(value))
      throw new YamlError(`json: unsupported value: ${value > 0 ? "+Inf" : value < 0 ? "-Inf" : "NaN"}`);
    return value;
  }

  #sequence(): unknown[] {
    const items: unknown[] = [];
    while (this.#events[this.#at]!.type !== EVENT_ID.POP) items.push(this.#value());
    this.#at++;
    return items;
  }

  #mapping(): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    while (this.#events[this.#at]!.type !== EVENT_ID.POP) {
      const event = this.#events[this.#at]!;
      if (event.type === EVENT_ID.SCALAR && this.#isMerge(event)) {
        this.#at++;
        this.#merge(result, this.#value());
        continue;
      }
      const key = this.#key(event);
      const value = this.#value();
      if (Object.hasOwn(result, key))
        this.#duplicate.push(`line ${this.#lineOf(event)}: key ${JSON.stringify(key)} already set in map`);
      setOwn(result, key, value);
    }
    this.#at++;
    return result;
  }

  #lineOf(event: Event): number {
    const at =
      event.type === EVENT_ID.SCALAR
        ? event.valueStart
        : event.type === EVENT_ID.ALIAS
          ? event.anchorStart
          : 0;
    this.#lineStarts ??= lineStartsOf(this.#source);
    return linesUpTo(this.#lineStarts, at);
  }

  /** A key as JSON needs it: text. */
  #key(event: Event): string {
    const key =
      event.type === EVENT_ID.SCALAR && event.tagStart < 0 && event.style === SCALAR_STYLE.PLAIN
        ? this.#plainKey(event)
        : this.#value();
    switch (typeof key) {
      case "string":
        return key;
      case "boolean":
      case "bigint":
        return String(key);
      case "number":
        return Number.isInteger(key) && Math.abs(key) < 1e21 ? String(key) : goFloat(Math.fround(key));
      default:
        throw new YamlError(`yaml: line ${this.#lineOf(event)}: invalid map key: ${JSON.stringify(key)}`);
    }
  }
  #plainKey(event: ScalarEvent): unknown {
    const value = resolvePlain(getScalarValue(this.#source, event));
    if (typeof value === "number" && !Number.isFinite(value)) {
      this.#at++;
      return Number.isNaN(value) ? ".nan" : value > 0 ? ".inf" : "-.inf";
    }
    return this.#value();
  }

  #isMerge(event: ScalarEvent): boolean {
    const tag = this.#tagOf(event);
    return (
      tag === "!!merge" ||
      (tag === "" && event.style === SCALAR_STYLE.PLAIN && getScalarValue(this.#source, event) === "<<")
    );
  }

  #merge(into: Record<string, unknown>, from: unknown): void {
    // Of several, the earlier ones take precedence.
    const sources: readonly unknown[] = Array.isArray(from) ? from.toReversed() : [from];
    for (const source of sources) {
      if (typeof source !== "object" || source === null || Array.isArray(source))
        throw new YamlError("yaml: map merge requires map or sequence of maps as the value");
      for (const [key, value] of Object.entries(source)) setOwn(into, key, value);
    }
  }
}

function lineStartsOf(source: string): number[] {
  const starts = [0];
  for (let at = source.indexOf("\n"); at >= 0; at = source.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** How many lines begin at or before this place, which is the number of its line. */
function linesUpTo(starts: readonly number[], at: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (starts[middle]! <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}
