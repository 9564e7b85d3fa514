// JSON encoding and decoding. A usual document takes one scan, JSON.parse and one walk; unusual documents are
// decoded again from their text by the careful decoder.

import type { TypeOf } from "../infer.ts";
import { isRemembered, rawText } from "../raw.ts";
import type { Message } from "../shape.ts";
import { type DecodeState, type Finding, decodeNode } from "./careful-decoder.ts";
import {
  type Node,
  JsonSyntaxError,
  NumberNode,
  ObjectNode,
  defaultMaxDepth,
  parseTree,
  reportAllowance,
} from "./parse.ts";
import { lossyText } from "./lossy-text.ts";
import { countKeys, scan } from "./scan.ts";
import { stringifyJson } from "./stringify.ts";
import { irregular, newState } from "./walk-state.ts";
import { planOf, walkMessage } from "./fast-decoder.ts";

export interface Decoded<T> {
  readonly value: T;
  /** Paths of undeclared fields, such as `spec.containers[0].foo`, in order of appearance. */
  readonly unknown: readonly string[];
  /** Paths of duplicate fields. */
  readonly duplicate: readonly string[];
  /** Unknown and duplicate fields as messages, in order of appearance: `unknown field "spec.foo"`. */
  readonly strict: readonly string[];
}

export interface DecodeOptions {
  /** Maximum nesting depth of a document. */
  readonly maxDepth?: number;
}

const nothing: readonly string[] = Object.freeze([]);

/** A parsed document that has not been decoded as a kind yet. Decoded objects may share parts of its tree. */
export class ParsedDocument {
  readonly text: string;
  readonly tree: unknown;

  private constructor(text: string) {
    this.text = text;
    this.tree = JSON.parse(text);
  }

  /** Parses a document. Returns undefined if it is malformed; decoding its bytes then reports the error. */
  static of(bytes: Uint8Array): ParsedDocument | undefined {
    try {
      return new ParsedDocument(lossyText(bytes));
    } catch {
      return undefined;
    }
  }
}

/**
 * Decodes a document of the declared kind. Field names match exactly; null stands for the zero value; unknown
 * fields are dropped and reported. Throws a DecodeError for a wrong type and a JsonSyntaxError for a
 * malformed document.
 */
export function decodeJson<M extends Message>(
  message: M,
  input: Uint8Array | string | ParsedDocument,
  { maxDepth = defaultMaxDepth }: DecodeOptions = {},
): Decoded<TypeOf<M>> {
  const parsed = input instanceof ParsedDocument ? input : undefined;
  const text = parsed?.text ?? (typeof input === "string" ? input : lossyText(input as Uint8Array));
  const keys = countKeys(text);
  const value = keys === undefined ? undefined : decodeFast(message, text, keys, maxDepth, parsed?.tree);
  if (value !== undefined)
    return { value: value as TypeOf<M>, unknown: nothing, duplicate: nothing, strict: nothing };
  return decodeCarefully(message, text, { maxDepth });
}

/** Decodes without the fast path. The result must be the same as that of decodeJson. */
export function decodeCarefully<M extends Message>(
  message: M,
  text: string,
  { maxDepth = defaultMaxDepth }: DecodeOptions = {},
): Decoded<TypeOf<M>> {
  return decodeWithFindings(message, parseTree(text, { maxDepth }), text) as Decoded<TypeOf<M>>;
}

/** Decodes on the fast path; returns undefined if the document needs the careful decoder. */
function decodeFast(
  message: Message,
  text: string,
  keys: number,
  maxDepth: number,
  parsed: unknown,
): object | undefined {
  try {
    const tree: unknown = parsed ?? JSON.parse(text);
    if (typeof tree !== "object" || tree === null || Array.isArray(tree)) return undefined;
    const state = newState(true, true, maxDepth);
    const value = walkMessage(planOf(message), tree, state);
    if (state.unknown || state.keys !== keys) return undefined;
    // Raw objects without escapes are printed exactly as they were written.
    if (state.raw && (state.respelled || text.includes("\\"))) return undefined;
    return state.numbers && scan(text) === undefined ? undefined : value;
  } catch (error) {
    if (error === irregular || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function decodeWithFindings(
  message: Message,
  node: Node,
  text: string | undefined,
  truncates = false,
): Decoded<object> {
  const state: DecodeState = { text, findings: [], truncates };
  const value = decodeNode(message, node, state);
  const found = new Map<string, Finding>();
  const allowance = reportAllowance();
  // For kinds defined at run time, all duplicate fields are reported before any unknown field.
  const late = ({ type }: Finding): number => (message.more.open && type === "unknown" ? 1 : 0);
  const order = (a: Finding, b: Finding): number =>
    late(a) - late(b) || (a.offset === b.offset ? 0 : a.offset - b.offset);
  for (const finding of state.findings.sort(order)) {
    if (!allowance.takes(found.size, finding.path)) break;
    const sentence = `${finding.type} field ${JSON.stringify(finding.path)}`;
    if (!found.has(sentence)) found.set(sentence, finding);
  }
  const paths = (type: Finding["type"]) =>
    [...found.values()].filter((finding) => finding.type === type).map(({ path }) => path);
  return { value, unknown: paths("unknown"), duplicate: paths("duplicate"), strict: [...found.keys()] };
}

/**
 * Decodes data that is already parsed; the data is not modified. Unlike its JSON decoder, Go's unstructured
 * converter truncates integers to the size of their field, which `truncates` enables.
 */
export function fromJsonValue<M extends Message>(
  message: M,
  value: unknown,
  { maxDepth = defaultMaxDepth, truncates = false }: DecodeOptions & { readonly truncates?: boolean } = {},
): Decoded<TypeOf<M>> {
  const state = newState(false, true, defaultMaxDepth);
  try {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      const walked = walkMessage(planOf(message), value, state) as TypeOf<M>;
      if (!state.unknown) return { value: walked, unknown: nothing, duplicate: nothing, strict: nothing };
    }
  } catch (error) {
    if (error !== irregular) throw error;
  }
  return decodeWithFindings(message, nodeOf(value, maxDepth, { offset: 0 }), undefined, truncates) as Decoded<
    TypeOf<M>
  >;
}

function nodeOf(value: unknown, depthLeft: number, position: { offset: number }): Node {
  if (depthLeft < 0) throw new JsonSyntaxError("exceeded max depth");
  if (typeof value === "number" || typeof value === "bigint") return new NumberNode(String(value));
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value !== "object" || value === null) return null;
  if (Array.isArray(value)) return value.map((item) => nodeOf(item, depthLeft - 1, position));
  const node = new ObjectNode();
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    node.offsets.push(position.offset++);
    node.keys.push(key);
    node.values.push(nodeOf(item, depthLeft - 1, position));
  }
  return node;
}

/**
 * Returns the object in canonical form: the same reference if it already is, otherwise a copy that shares
 * what it can. Undeclared fields are dropped; throws a DecodeError for a wrong type.
 */
export function canonical<M extends Message>(message: M, value: TypeOf<M>): TypeOf<M> {
  return canonicalState(message, value).value as TypeOf<M>;
}

function canonicalState(
  message: Message,
  value: unknown,
): { readonly value: object; readonly remembered: boolean } {
  const state = newState(false, false, defaultMaxDepth);
  try {
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return { value: walkMessage(planOf(message), value, state), remembered: state.remembered };
  } catch (error) {
    if (error !== irregular) throw error;
  }
  // A value does not match its declared type: the careful decoder either accepts it or reports where it is.
  return {
    value: decodeWithFindings(message, nodeOf(value, defaultMaxDepth, { offset: 0 }), undefined).value,
    remembered: false,
  };
}

/**
 * Encodes an object as JSON: keys in the order of the declaration, with a kind's `kind` and `apiVersion`
 * first.
 */
export function encodeJson<M extends Message>(message: M, value: TypeOf<M>): string {
  const { value: whole, remembered } = canonicalState(message, value);
  return remembered ? withTexts(whole) : stringifyJson(whole);
}

/** Prints a value, with raw objects as the text they were parsed from. */
function withTexts(value: unknown): string {
  if (isRemembered(value)) return rawText(value);
  if (Array.isArray(value)) return `[${value.map(withTexts).join(",")}]`;
  if (typeof value !== "object" || value === null) return stringifyJson(value);
  return `{${Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .map(([key, item]) => `${JSON.stringify(key)}:${withTexts(item)}`)
    .join(",")}}`;
}
