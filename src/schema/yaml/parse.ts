// YAML to plain JSON data. The library produces the events; they are interpreted here, because the reference
// differs from every stock schema and because duplicate keys must be reported with their line.

import {
  type DocumentEvent,
  type Event,
  EVENT_ID,
  SCALAR_STYLE,
  type ScalarEvent,
  getScalarValue,
  parseEvents,
} from "js-yaml";
import { deepCopy, setOwn } from "#base";
import { parseUniqueJson } from "../json/parse.ts";
import { YamlError } from "./error.ts";
import { yamlNumber } from "./yaml-number.ts";
import { resolvePlain, resolveTagged, shortTag } from "./resolve.ts";

export interface ParsedYaml {
  readonly value: unknown;
  /** `line 3: key "name" already set in map`, for each duplicate key. The last one wins. */
  readonly duplicate: readonly string[];
}

const maxNesting = 500;
/**
 * Maximum number of events of a document: keys, values, and ends of lists and maps. No handwritten document
 * comes close, and programs send JSON.
 */
const maxEvents = 250_000;
/**
 * Maximum number of characters that aliases repeat. The size of a document does not bound it, and no object of
 * that size can be stored.
 */
const maxAliasedLength = 4 << 20;

/** Parses all documents of a text; an empty document is null. */
export function parseYamlDocuments(input: string | Uint8Array): ParsedYaml[] {
  const source = typeof input === "string" ? input : textOf(input);
  try {
    const events = parseEvents(source, { maxDepth: maxNesting });
    if (events.length > maxEvents) throw new YamlError("yaml: exceeded max number of values");
    return new Composer(source, events).documents();
  } catch (error) {
    throw error instanceof YamlError ? error : reworded(error);
  }
}

/** Parses the first document, for callers that expect a single object. */
export function parseYaml(input: string | Uint8Array): ParsedYaml {
  const source = typeof input === "string" ? input : textOf(input);
  return readAsJson(source) ?? parseYamlDocuments(source)[0] ?? { value: null, duplicate: [] };
}

/**
 * Text that JSON and YAML may read differently: escaped surrogates, merge keys, and numbers with too many
 * digits for a double.
 */
const ambiguous = /\\u[dD][89a-fA-F]|"<<"|\d{16}/;

/**
 * JSON is a subset of YAML and most programs send it where YAML is expected. Parsing it as JSON costs a
 * fraction.
 */
function readAsJson(source: string): ParsedYaml | undefined {
  if (!source.startsWith("{") || ambiguous.test(source)) return undefined;
  try {
    const parsed = parseUniqueJson(source, { maxDepth: maxNesting });
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
  if (error instanceof RangeError) return new YamlError(`yaml: exceeded max depth of ${maxNesting}`);
  const { reason, mark } = error as { reason?: string; mark?: { line: number } };
  return reason === undefined
    ? (error as Error)
    : new YamlError(`yaml: ${mark ? `line ${mark.line + 1}: ` : ""}${reason}`);
}

interface Anchored {
  readonly value: unknown;
  /** Number of values it contains, itself included. */
  readonly size: number;
  /** Number of characters of its keys and scalars. */
  readonly length: number;
  /** Number of collections that contain its innermost value. */
  readonly depth: number;
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
  #length = 0;
  #aliasedLength = 0;
  #depth = 0;
  /** Maximum depth since the start of the innermost anchored value. */
  #deepest = 0;
  /** Offset of each line; computed when a line number is first needed. */
  #lineStarts: readonly number[] | undefined;

  constructor(source: string, events: readonly Event[]) {
    this.#source = source;
    this.#events = events;
  }

  documents(): ParsedYaml[] {
    const found: ParsedYaml[] = [];
    while (this.#at < this.#events.length) {
      this.#checkVersion(this.#events[this.#at++] as DocumentEvent);
      this.#anchors = new Map();
      this.#duplicate = [];
      let value: unknown = null;
      if (this.#events[this.#at]!.type !== EVENT_ID.POP) value = this.#value();
      this.#at++;
      found.push({ value, duplicate: this.#duplicate });
    }
    return found;
  }

  /** The reference reads YAML 1.1 and rejects documents that declare another version. */
  #checkVersion({ directives }: DocumentEvent): void {
    if (directives.some((each) => each.kind === "yaml" && each.version !== "1.1"))
      throw new YamlError("yaml: found incompatible YAML document");
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
    const [values, length, deepest] = [this.#values, this.#length, this.#deepest];
    this.#deepest = this.#depth;
    const value = read();
    this.#anchors.set(name, {
      value,
      size: this.#values - values + 1,
      length: this.#length - length,
      depth: this.#deepest - this.#depth,
    });
    this.#deepest = Math.max(this.#deepest, deepest);
    return value;
  }

  /**
   * An alias is expanded to a copy, because callers change values in place. Nested aliases grow exponentially,
   * so the allowed share of aliased values shrinks as documents get larger.
   */
  #alias(name: string): unknown {
    const anchored = this.#anchors.get(name);
    if (anchored === undefined) throw new YamlError(`yaml: unknown anchor '${name}' referenced`);
    if (anchored === open) throw new YamlError(`yaml: anchor '${name}' value contains itself`);
    this.#values += anchored.size;
    this.#aliased += anchored.size;
    this.#length += anchored.length;
    this.#aliasedLength += anchored.length;
    const allowed =
      this.#values <= 400_000
        ? 0.99
        : this.#values >= 4_000_000
          ? 0.1
          : 0.99 - (0.89 * (this.#values - 400_000)) / 3_600_000;
    const tooMany = this.#aliased > 100 && this.#values > 1000 && this.#aliased / this.#values > allowed;
    if (tooMany || this.#aliasedLength > maxAliasedLength)
      throw new YamlError("yaml: document contains excessive aliasing");
    this.#checkDepth(this.#depth + anchored.depth);
    return deepCopy(anchored.value);
  }

  #checkDepth(depth: number): void {
    if (depth > maxNesting) throw new YamlError(`yaml: exceeded max depth of ${maxNesting}`);
    this.#deepest = Math.max(this.#deepest, depth);
  }

  #tagOf(event: ScalarEvent): string {
    return event.tagStart < 0 ? "" : shortTag(this.#source.slice(event.tagStart, event.tagEnd));
  }

  #scalar(event: ScalarEvent): unknown {
    const text = getScalarValue(this.#source, event);
    this.#length += text.length;
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
    this.#checkDepth(++this.#depth);
    while (this.#events[this.#at]!.type !== EVENT_ID.POP) items.push(this.#value());
    this.#at++;
    this.#depth--;
    return items;
  }

  #mapping(): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    this.#checkDepth(++this.#depth);
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
    this.#depth--;
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

  /** Converts a key to a string, as JSON requires. */
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
        return Number.isInteger(key) && Math.abs(key) < 1e21 ? String(key) : yamlNumber(Math.fround(key));
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
    // Earlier sources take precedence over later ones.
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

/** Returns the number of the line that contains the offset. */
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
