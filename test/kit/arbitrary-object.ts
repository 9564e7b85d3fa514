// Generates random objects of any declared kind in canonical form, for property tests.

import { canonicalQuantity, durationOfMillis, microTimeOfMillis, timeOfMillis } from "#base";
import { type Field, type Message, type ScalarName, type Shape, type TypeOf, canonical } from "#schema";
import fc from "fast-check";

const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.constantFrom("a", "Running", "é", "__proto__", "1", "yes", "a: b\nc\n"),
);
const instant = fc.integer({ min: 0, max: 4102444800 }).map((seconds) => seconds * 1000);
const leaf = fc.oneof(text, fc.maxSafeInteger(), fc.boolean(), fc.constant(null));
const anyObject = fc.dictionary(
  text,
  fc.oneof(leaf, fc.array(leaf), fc.dictionary(text, leaf, { noNullPrototype: true })),
  { noNullPrototype: true, maxKeys: 3 },
);

const scalars: Partial<Record<ScalarName, fc.Arbitrary<unknown>>> = {
  string: text,
  bool: fc.boolean(),
  int32: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  int64: fc.oneof(fc.maxSafeInteger(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
  // JSON cannot represent negative zero.
  double: fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (number === 0 ? 0 : number)),
  bytes: fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString("base64")),
  time: instant.map(timeOfMillis),
  microTime: instant.map(microTimeOfMillis),
  duration: fc.integer().map(durationOfMillis),
  quantity: fc
    .tuple(fc.integer(), fc.constantFrom("", "m", "Ki", "G", "e3"))
    .map(([amount, suffix]) => canonicalQuantity(`${amount}${suffix}`)),
  intOrString: fc.oneof(text, fc.integer({ min: 0, max: 65535 })),
  rawExtension: anyObject,
  fieldsV1: anyObject,
  json: anyObject,
};

export function arbitraryObject<M extends Message>(message: M): fc.Arbitrary<TypeOf<M>> {
  return fields(message, 0).map((value) =>
    canonical(message, {
      ...value,
      ...(message.kind && { kind: message.kind.kind, apiVersion: "v1" }),
    } as TypeOf<M>),
  );
}

function fields(message: Message, depth: number): fc.Arbitrary<Record<string, unknown>> {
  const parts = Object.entries(message.fields).map(([name, field]) => part(name, field, depth));
  return fc.tuple(...parts).map((found) => Object.assign({}, ...found) as Record<string, unknown>);
}

function part(name: string, field: Field, depth: number): fc.Arbitrary<Record<string, unknown>> {
  if (field.presence === "inline") return fields(field.shape as Message, depth);
  // Optional fields become rarer with depth: a pod has hundreds of fields.
  const always = field.presence === "required" || field.presence === "embedded";
  const given = shape(field.shape, depth + 1).map((value) => ({ [name]: value }));
  if (always) return given;
  return fc.oneof({ weight: 1 + depth * 2, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: given });
}

const cache = new WeakMap<object, fc.Arbitrary<unknown>>();

function shape(of: Shape, depth: number): fc.Arbitrary<unknown> {
  switch (of.shape) {
    case "scalar":
      return scalars[of.scalar]!;
    case "list":
      return fc.array(shape(of.of, depth), { maxLength: 2 });
    case "map":
      return fc.dictionary(text, shape(of.of, depth), { noNullPrototype: true, maxKeys: 2 });
    case "message": {
      const known = cache.get(of) ?? fields(of, depth);
      cache.set(of, known);
      return known;
    }
    case "recursive":
      return depth > 4 ? fc.constant({}) : fields(of.get(), depth + 2);
  }
}
