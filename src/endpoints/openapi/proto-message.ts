// Encodes parts of OpenAPI documents as protobuf messages, from their JSON form.
import { printYaml } from "#schema";

export type Json = Record<string, unknown>;
export type Encode = (value: never) => Buffer;
/** The number and encoder of each field; lists are encoded item by item. */
type Layout = Readonly<Record<string, readonly [number: number, encode: Encode | Scalar]>>;

export const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 128);
  }
};
export const lengthed = (number: number, body: Buffer): Buffer =>
  Buffer.concat([varint(number * 8 + 2), varint(body.length), body]);
export const text: Encode = (value: string) => Buffer.from(value);

/** Encodes any value as YAML text. */
export const any: Encode = (value: unknown) => lengthed(2, Buffer.from(printYaml(value)));

/** Encodes a map as a list of names and values, in a message with a single field. */
export const named =
  (encode: Encode, number = 1): Encode =>
  (value: Json) =>
    Buffer.concat(
      Object.entries(value).map(([name, item]) =>
        lengthed(number, Buffer.concat([lengthed(1, Buffer.from(name)), lengthed(2, encode(item as never))])),
      ),
    );
export const wrapped =
  (number: number, encode: Encode): Encode =>
  (value) =>
    lengthed(number, encode(value));
export const strings: Encode = (value: readonly string[] | string) =>
  Buffer.concat([value].flat().map((item) => lengthed(1, Buffer.from(item))));

/** A field that is not a message or text. */
interface Scalar {
  /** Encodes the field with its number; a default value, which is not sent, is empty. */
  readonly field: (number: number, value: unknown) => Buffer;
}
const empty = Buffer.alloc(0);

export const flag: Scalar = {
  field: (number, value) => (value === true ? booleanField(number, true) : empty),
};
export const integer: Scalar = {
  field: (number, value) =>
    typeof value === "number" && Number.isSafeInteger(value) && value > 0
      ? Buffer.concat([varint(number * 8), varint(value)])
      : empty,
};
export const double: Scalar = {
  field: (number, value) => (Number(value) === 0 ? empty : doubleField(number, Number(value))),
};

/** A field of eight bytes, even if it is zero. */
export function doubleField(number: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([varint(number * 8 + 1), bytes]);
}

export const booleanField = (number: number, value: boolean): Buffer =>
  Buffer.concat([varint(number * 8), Buffer.from([value ? 1 : 0])]);

/**
 * Encodes the known fields of an object in order of their numbers, and fields starting with x- as extensions.
 */
export function message(layout: () => Layout, extensions: number): Encode {
  return (object: Json) => {
    const parts: [number, Buffer][] = [];
    for (const [key, value] of Object.entries(object)) {
      if (key.startsWith("x-")) {
        parts.push([
          extensions,
          lengthed(
            extensions,
            Buffer.concat([lengthed(1, Buffer.from(key)), lengthed(2, any(value as never))]),
          ),
        ]);
        continue;
      }
      const field = layout()[key];
      if (!field || value === undefined) continue;
      const [number, encode] = field;
      if ("field" in encode) parts.push([number, encode.field(number, value)]);
      else if (Array.isArray(value) && !whole.has(encode))
        for (const item of value) parts.push([number, lengthed(number, encode(item as never))]);
      else parts.push([number, lengthed(number, encode(value as never))]);
    }
    return Buffer.concat(parts.sort(([a], [b]) => a - b).map(([, bytes]) => bytes));
  };
}

/** Encoders that take a list as one value. */
const whole = new Set<Encode>([strings]);
