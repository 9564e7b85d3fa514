// The careful decoder, from JSON nodes to canonical form. It collects unknown and duplicate fields as paths
// in order of appearance, reports what is wrong and where, and handles duplicate fields as the reference
// does: objects are merged, anything else is replaced.

import {
  DurationError,
  QuantityError,
  TimeError,
  canonicalDuration,
  microTimeOrZero,
  canonicalQuantity,
  canonicalTime,
  setOwn,
} from "#base";
import { alwaysShown, dropsZero, flatFields, zeroOf, zeroOfField } from "../flat.ts";
import { rememberText } from "../raw.ts";
import {
  type Field,
  type Message,
  type OpenFields,
  type OpenWalk,
  type Scalar,
  type ScalarName,
  type Shape,
  bytes,
  int32,
  string,
  uint32,
} from "../shape.ts";
import { canonicalBase64 } from "./base64.ts";
import { DecodeError, type Mismatch } from "./decode-error.ts";
import {
  type Node,
  NumberNode,
  ObjectNode,
  compactText,
  defaultMaxDepth,
  integerOf,
  plainValue,
} from "./parse.ts";
import { sortedMap } from "./sorted-map.ts";
import { nameOf } from "./type-name.ts";

export interface Finding {
  readonly type: "unknown" | "duplicate";
  readonly path: string;
  readonly offset: number;
}

export interface DecodeState {
  /** The text the nodes point into; undefined if they were built from data. */
  readonly text: string | undefined;
  readonly findings: Finding[];
  /** Whether a 64-bit integer in a 32-bit field keeps its low bits instead of being rejected. */
  readonly truncates: boolean;
  /**
   * The first value of the wrong type. As in kube-apiserver it is reported only if no custom unmarshaler
   * (times, quantities, schemas) fails first.
   */
  wrongType?: DecodeError;
}

/**
 * Location of a value: `path` with indexes, for findings, and `names` of fields only, as in kube-apiserver's
 * type errors.
 */
interface Location {
  readonly path: string;
  readonly names: string;
  readonly owner: Message | undefined;
  /**
   * Set for values decoded separately from their surroundings: errors name a `value` as if it were the
   * document, and a `field` by the field that holds it.
   */
  readonly separate?: "value" | "field";
}

const below = (location: Location, key: string, owner: Message): Location => {
  const path = inside(location, key);
  if (location.separate === "field") return { ...location, path };
  // The metadata of an open kind is decoded separately, after everything else.
  if (owner.more.open) return { path, names: "", owner: undefined, separate: "value" };
  const names = location.names ? `${location.names}.${key}` : key;
  return { path, names, owner, ...(location.separate && { separate: location.separate }) };
};

/**
 * Sorts entries by key if the value was extracted from an already decoded document, like the metadata of an
 * open kind.
 */
const inOrder = <T>(entries: Iterable<[string, T]>, { separate }: Location): Iterable<[string, T]> =>
  separate === "value" ? [...entries].sort(([one], [other]) => (one < other ? -1 : 1)) : entries;

const inside = (location: Location, key: string): string => (location.path ? `${location.path}.${key}` : key);

export function decodeNode(message: Message, node: Node, state: DecodeState): object {
  const root: Location = { path: "", names: "", owner: undefined };
  const read = (valueOf(message, [node], root, state) ?? zeroOf(message)) as object;
  if (state.wrongType) throw state.wrongType;
  return read;
}

/** Decodes the nodes given for one field, usually a single one. Returns null if the last one is null. */
function valueOf(shape: Shape, nodes: readonly Node[], location: Location, state: DecodeState): unknown {
  const last = nodes.at(-1)!;
  switch (shape.shape) {
    case "message":
      return messageOf(shape, nodes, location, state);
    case "map":
      return mapOf(shape.of, nodes, location, state, shape);
    case "recursive":
      return shape.or
        ? unionOf(shape.or, shape.get(), last, location, state)
        : messageOf(shape.get(), nodes, location, state);
    case "list":
      if (last === null) return null;
      if (!Array.isArray(last)) return recordWrongType(state, wrongType(last, shape, location));
      return last.map(
        (item: Node, i) =>
          valueOf(shape.of, [item], { ...location, path: `${location.path}[${i}]` }, state) ??
          zeroOf(shape.of),
      );
    case "scalar": {
      const given = nodes.findLast((node) => node !== null);
      return last === null && (given === undefined || !dropsZero.has(shape.scalar))
        ? nullOf(shape.scalar)
        : scalarOf(shape, given!, location, state);
    }
  }
}

function nullOf(scalar: ScalarName): null {
  if (scalar === "duration") throw new DecodeError('time: invalid duration ""');
  return null;
}

function messageOf(
  message: Message,
  nodes: readonly Node[],
  location: Location,
  state: DecodeState,
): unknown {
  const objects = nodes.slice(nodes.lastIndexOf(null) + 1);
  if (objects.length === 0) return null;
  const fields = flatFields(message);
  const found = new Map<string, Node[]>();
  const others = new Map<string, Node>();
  for (const object of objects) {
    if (!(object instanceof ObjectNode)) {
      recordWrongType(state, wrongType(object, message, location));
      continue;
    }
    const seen = new Set<string>();
    object.keys.forEach((key, i) => {
      if (message.more.open && !fields.some(({ name }) => name === key)) {
        if (seen.has(key))
          state.findings.push({ type: "duplicate", path: inside(location, key), offset: object.offsets[i]! });
        seen.add(key);
        others.set(key, object.values[i]!);
        return;
      }
      if (!fields.some(({ name }) => name === key))
        return void state.findings.push({
          type: "unknown",
          path: inside(location, key),
          offset: object.offsets[i]!,
        });
      if (seen.has(key))
        state.findings.push({ type: "duplicate", path: inside(location, key), offset: object.offsets[i]! });
      seen.add(key);
      const known = found.get(key);
      if (known) known.push(object.values[i]!);
      else found.set(key, [object.values[i]!]);
    });
  }
  const values = new Map<string, unknown>();
  for (const [key, given] of inOrder(found, location)) {
    const { field } = fields.find(({ name }) => name === key)!;
    values.set(key, keep(field, valueOf(field.shape, given, below(location, key, message), state)));
  }
  const result: Record<string, unknown> = {};
  for (const { name, field } of fields) {
    const value = values.get(name);
    if (value !== undefined) result[name] = value;
    else if (alwaysShown(field)) result[name] = zeroOfField(field);
  }
  if (message.more.open) readOthers(message.more.open, others, result, state);
  return result;
}

/** Decodes the fields of an open kind. Duplicate fields are reported before unknown ones. */
function readOthers(
  open: OpenFields,
  others: ReadonlyMap<string, Node>,
  result: Record<string, unknown>,
  state: DecodeState,
): void {
  const [unknownPaths, unknownMetadata]: [string[], string[]] = [[], []];
  const walk: OpenWalk = {
    own: true,
    keys: 0,
    depthLeft: defaultMaxDepth,
    unknown: false,
    numbers: false,
    unknownPaths,
    unknownMetadata,
  };
  for (const key of [...others.keys()].sort()) {
    const duplicate = (path: string, offset: number): void =>
      void state.findings.push({ type: "duplicate", path, offset });
    const value = open.read(key, plainValue(others.get(key)!, duplicate, key), walk);
    if (value !== undefined) setOwn(result, key, value);
  }
  for (const path of [...unknownPaths.sort(), ...unknownMetadata.sort()])
    state.findings.push({ type: "unknown", path, offset: Infinity });
}

/** Returns the value as the field's presence keeps it, or undefined to omit it. */
function keep(field: Field, value: unknown): unknown {
  if (value === null) return undefined;
  if (field.presence !== "optional" || field.more.keepEmpty) return value;
  switch (field.shape.shape) {
    case "scalar":
      return dropsZero.has(field.shape.scalar) && (value === 0 || value === "" || value === false)
        ? undefined
        : value;
    case "list":
      return (value as unknown[]).length === 0 ? undefined : value;
    case "map":
      return Object.keys(value as object).length === 0 ? undefined : value;
    default:
      return value;
  }
}

function mapOf(
  of: Shape,
  nodes: readonly Node[],
  location: Location,
  state: DecodeState,
  shape: Shape,
): unknown {
  const objects = nodes.slice(nodes.lastIndexOf(null) + 1);
  if (objects.length === 0) return null;
  const result: Record<string, unknown> = {};
  for (const object of objects) {
    if (!(object instanceof ObjectNode)) {
      recordWrongType(state, wrongType(object, shape, location));
      continue;
    }
    const seen = new Set<string>();
    const indexes = object.keys.map((key, i): [string, number] => [key, i]);
    for (const [key, i] of inOrder(indexes, location)) {
      const path = inside(location, key);
      if (seen.has(key)) state.findings.push({ type: "duplicate", path, offset: object.offsets[i]! });
      seen.add(key);
      setOwn(result, key, valueOf(of, [object.values[i]!], { ...location, path }, state) ?? zeroOf(of));
    }
  }
  return sortedMap(result);
}

function unionOf(
  or: "bool" | "array" | "strings",
  message: Message,
  node: Node,
  location: Location,
  state: DecodeState,
): unknown {
  if (node === null) return null;
  // kube-apiserver decodes these with a custom unmarshaler, so unknown fields inside are not reported.
  const separateState: DecodeState = { text: state.text, findings: [], truncates: false };
  const read = unionValue(or, message, node, { ...location, separate: "field" }, separateState);
  if (separateState.wrongType) throw separateState.wrongType;
  return read;
}

function unionValue(
  or: "bool" | "array" | "strings",
  message: Message,
  node: Node,
  location: Location,
  separateState: DecodeState,
): unknown {
  if (node instanceof ObjectNode) return messageOf(message, [node], location, separateState);
  if (or === "bool") {
    if (typeof node === "boolean") return node;
    throw new DecodeError("boolean or JSON schema expected", location.path);
  }
  if (!Array.isArray(node) || node.length === 0) return null;
  return node.map((item: Node, i) => {
    const here = { ...location, path: `${location.path}[${i}]` };
    return or === "strings"
      ? scalarOf(string, item ?? "", here, separateState)
      : (messageOf(message, [item], here, separateState) ?? zeroOf(message));
  });
}

const ranges: Partial<Record<ScalarName, readonly [bigint, bigint]>> = {
  int32: [-(1n << 31n), (1n << 31n) - 1n],
  uint32: [0n, (1n << 32n) - 1n],
  int64: [-(1n << 63n), (1n << 63n) - 1n],
  uint64: [0n, (1n << 64n) - 1n],
};

const isInt64 = (value: number | bigint): boolean =>
  BigInt(value) >= ranges.int64![0] && BigInt(value) <= ranges.int64![1];

function scalarOf(shape: Scalar, node: Node, location: Location, state: DecodeState): unknown {
  const { scalar } = shape;
  const wrong = () => recordWrongType(state, wrongType(node, shape, location));
  switch (scalar) {
    case "string":
      if (typeof node !== "string") return wrong();
      return node;
    case "bool":
      if (typeof node !== "boolean") return wrong();
      return node;
    case "int32":
    case "uint32":
    case "int64":
    case "uint64": {
      if (!(node instanceof NumberNode)) return wrong();
      const value = integerOf(node.literal);
      const [least, most] = ranges[scalar]!;
      if (state.truncates && scalar === "int32" && value !== undefined && isInt64(value))
        return Number(BigInt.asIntN(32, BigInt(value)));
      if (value === undefined || BigInt(value) < least || BigInt(value) > most) return wrong();
      return value;
    }
    case "double":
    case "float": {
      const value = node instanceof NumberNode ? Number(node.literal) : NaN;
      if (!Number.isFinite(value)) return wrong();
      return value;
    }
    case "bytes":
      return bytesOf(node, location, state, wrong);
    case "rawBytes":
      return wrong();
    case "time":
      return withPath(location, () => canonicalTime(textOf(node, shape, location)));
    case "microTime":
      return withPath(location, () => microTimeOrZero(textOf(node, shape, location)));
    case "duration":
      return withPath(location, () => canonicalDuration(textOf(node, shape, location)));
    case "quantity":
      return withPath(location, () =>
        canonicalQuantity(
          node instanceof NumberNode ? node.literal : typeof node === "string" ? node.trim() : "",
        ),
      );
    case "intOrString":
      return typeof node === "string" ? node : numberOf(node, shape, location, state);
    case "fieldsV1":
      return plainValue(node);
    case "rawExtension":
    case "json": {
      const value = plainValue(node);
      if (node instanceof ObjectNode && state.text !== undefined)
        rememberText(value, compactText(state.text.slice(node.start, node.end)));
      return value;
    }
  }
}

/** Returns a number inside a type with a custom unmarshaler, whose errors are thrown immediately. */
function numberOf(node: Node, into: Scalar, location: Location, { text }: DecodeState): unknown {
  const own: DecodeState = { text, findings: [], truncates: false };
  const value = scalarOf(int32, node, location, own);
  if (own.wrongType)
    throw new DecodeError(own.wrongType.message, location.path, { ...mismatchOf(node), into });
  return value;
}

/** The element type of a byte list. */
const uint8: Scalar = { ...uint32, typeName: "uint8" };

function bytesOf(node: Node, location: Location, state: DecodeState, wrong: () => null): string | null {
  if (typeof node === "string")
    try {
      return canonicalBase64(node);
    } catch (error) {
      const illegal = { ...mismatchOf(node), into: bytes };
      return recordWrongType(state, new DecodeError((error as Error).message, location.path, illegal));
    }
  if (!Array.isArray(node)) return wrong();
  const given = node.map((item: Node) => {
    const byte = item instanceof NumberNode ? integerOf(item.literal) : item === null ? 0 : undefined;
    if (typeof byte === "number" && byte >= 0 && byte <= 255) return byte;
    recordWrongType(state, wrongType(item, uint8, location));
    return 0;
  });
  return Buffer.from(given).toString("base64");
}

/**
 * Returns the string of a type with a custom unmarshaler. A value of another type is rejected immediately, as
 * a failure to decode a string.
 */
function textOf(node: Node, into: Scalar, location: Location): string {
  if (typeof node === "string") return node;
  const { message } = wrongType(node, string, location);
  throw new DecodeError(message, location.path, { ...mismatchOf(node), into });
}

/** Adds the path to an error thrown by a custom unmarshaler. */
function withPath<T>(location: Location, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (
      error instanceof QuantityError ||
      error instanceof TimeError ||
      error instanceof DurationError ||
      !(error instanceof DecodeError)
    )
      throw new DecodeError((error as Error).message, location.path);
    throw error;
  }
}

const kindOf = (node: Node): Mismatch["given"] =>
  typeof node === "string"
    ? "string"
    : typeof node === "boolean"
      ? "bool"
      : node instanceof NumberNode
        ? "number"
        : Array.isArray(node)
          ? "array"
          : node === null
            ? "null"
            : "object";

const mismatchOf = (node: Node): Omit<Mismatch, "into"> => ({
  given: kindOf(node),
  ...(node instanceof NumberNode && { literal: node.literal }),
});

const recordWrongType = (state: DecodeState, error: DecodeError): null => {
  state.wrongType ??= error;
  return null;
};

/** Builds a type error with kube-apiserver's wording and type names. */
function wrongType(node: Node, shape: Shape, location: Location): DecodeError {
  const numeric =
    shape.shape === "scalar" &&
    (shape.scalar in ranges || shape.scalar === "double" || shape.scalar === "float");
  const given = node instanceof NumberNode && numeric ? `number ${node.literal}` : kindOf(node);
  const into = location.owner ? `struct field ${location.owner.name}.${location.names}` : "value";
  return new DecodeError(
    `json: cannot unmarshal ${given} into Go ${into} of type ${nameOf(shape)}`,
    location.path,
    { ...mismatchOf(node), into: shape },
  );
}
