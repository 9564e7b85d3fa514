import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  apiPackage, bool, bytes, decodeEnvelope, double, duration, embedded, encodeEnvelope, fieldsV1, float, inline, int32, int64, intOrString, json, list, map, microTime, optional, orArray, orBool, orStrings,
  pointer, protobufCodec, quantity, rawBytes, rawExtension, recursive, required, string, time, TooManyFields, uint32, uint64, type Message, type TypeOf,
} from "#schema"; // prettier-ignore

const { kind, message } = apiPackage({ package: "api.test.v1" });
const Inner = message("Inner", "", { text: optional(1, string, ""), flag: pointer(2, bool, "") });
const Part = message("Part", "", { host: optional(3, string, ""), inner: optional(1, Inner, "") });
const Tree = message("Tree", "", {
  name: required(1, string, ""),
  children: optional(2, list(recursive<object>(() => treeShape())), ""),
  either: optional(
    3,
    orBool<object>(() => treeShape()),
    "",
  ),
  some: optional(
    4,
    orArray<object>(() => treeShape()),
    "",
  ),
  names: optional(
    5,
    orStrings<object>(() => treeShape()),
    "",
  ),
});
function treeShape(): Message {
  return Tree;
}
const Thing = kind("Thing", "", {
  made: embedded(8, time, ""),
  seen: optional(9, microTime, ""),
  name: required(1, string, ""),
  part: inline(2, Part),
  count: optional(3, int32, ""),
  big: optional(4, int64, ""),
  share: optional(5, double, ""),
  lists: optional(6, list(string), ""),
  numbers: optional(7, list(int32), ""),
  labels: optional(10, map(string), ""),
  limits: optional(11, map(quantity), ""),
  port: optional(12, intOrString, ""),
  data: optional(13, map(bytes), ""),
  extra: optional(14, map(list(string)), ""),
  raw: embedded(15, rawExtension, ""),
  managed: optional(16, fieldsV1, ""),
  any: optional(17, json, ""),
  wait: optional(18, duration, ""),
  inners: required(19, list(Inner), ""),
  verbs: optional(20, list(string), "", { wrapped: true }),
  tree: optional(21, Tree, ""),
  seal: optional(22, bytes, ""),
});
const thing = protobufCodec(Thing);
const typeMeta = { apiVersion: "test/v1", kind: "Thing" } as const;
type Thing = TypeOf<typeof Thing>;
const hex = (value: Uint8Array): string => Buffer.from(value).toString("hex");
const fromHex = (text: string): Uint8Array => Buffer.from(text.replaceAll(" ", ""), "hex");

/**
 * The fields that every Thing writes: non-pointer scalars, the inlined message and embedded messages, even if
 * empty.
 */
const empty: Thing = { ...typeMeta, made: null, name: "", raw: null, inners: null };
const frame = {
  before: "0a 00",
  inlined: "12 02 1a 00",
  count: "18 00",
  big: "20 00",
  share: "29 0000000000000000",
  made: "42 00",
  raw: "7a 00",
};
const bytesOf = (
  change: Partial<Record<keyof typeof frame | "lists" | "numbers" | "maps" | "after", string>>,
): Uint8Array => {
  const at = { ...frame, lists: "", numbers: "", maps: "", after: "", ...change };
  return fromHex(
    at.before +
      at.inlined +
      at.count +
      at.big +
      at.share +
      at.lists +
      at.numbers +
      at.made +
      at.maps +
      at.raw +
      at.after,
  );
};

const vectors: [name: string, value: Partial<Thing>, bytes: Uint8Array][] = [
  ["plain scalars are written even when empty, messages and lists are not", {}, bytesOf({})],
  ["a string is its length and its UTF-8", { name: "hé" }, bytesOf({ before: "0a 03 68c3a9" })],
  ["an inlined message is nested, although its fields belong to the parent in JSON", { host: "h", inner: { flag: false } }, bytesOf({ inlined: "12 09 0a 04 0a00 1000 1a 01 68" })],
  ["a negative int32 takes ten bytes", { count: -2 }, bytesOf({ count: "18 feffffffffffffffff01" })],
  ["an int64 beyond 2^53 is exact", { big: 9223372036854775807n as never }, bytesOf({ big: "20 ffffffffffffffff7f" })],
  ["a negative int64 beyond 2^53 is exact", { big: -9223372036854775808n as never }, bytesOf({ big: "20 80808080808080808001" })],
  ["an int64 beyond 2^32 is split correctly", { big: 1234567890123 }, bytesOf({ big: "20 cb89ec8ff723" })],
  ["a double is eight bytes", { share: 0.5 }, bytesOf({ share: "29 000000000000e03f" })],
  ["repeated values follow each other", { lists: ["a", ""], numbers: [1, 300] }, bytesOf({ lists: "32 01 61 32 00", numbers: "38 01 38 ac02" })],
  ["a time is seconds and zero nanoseconds", { made: "2008-01-01T01:01:01Z" }, bytesOf({ made: "42 08 08 cda1e6bb04 10 00" })],
  ["a micro time keeps its nanoseconds", { seen: "2002-01-01T01:01:01.000002Z" }, bytesOf({ maps: "4a 09 08 cd94c4e103 10 d00f" })],
  ["map keys are sorted", { labels: { b: "2", a: "1" } }, bytesOf({ maps: "52 06 0a0161 120131 52 06 0a0162 120132" })],
  ["a quantity is a message of its text", { limits: { cpu: "1" } }, bytesOf({ maps: "5a 0a 0a 03 637075 12 03 0a0131" })],
  ["a port by number and by name", { port: 80 }, bytesOf({ maps: "62 06 08 00 10 50 1a 00" })],
  ["a port by name", { port: "http" }, bytesOf({ maps: "62 0a 08 01 10 00 1a 04 68747470" })],
  ["bytes are bytes", { data: { k: "AP8=" } }, bytesOf({ maps: "6a 07 0a016b 12 02 00ff" })],
  ["a list inside a map is wrapped in a message", { extra: { k: ["v", "w"] } }, bytesOf({ maps: "72 0b 0a016b 12 06 0a0176 0a0177" })],
  ["a raw object is its text", { raw: { a: 1 } }, bytesOf({ raw: "7a 09 0a 07 7b2261223a317d" })],
  ["a field set is its text", { managed: {} }, bytesOf({ after: "8201 04 0a 02 7b7d" })],
  ["a duration is its nanoseconds", { wait: "1s" }, bytesOf({ after: "9201 06 08 8094ebdc03" })],
  ["a list of messages", { inners: [{ text: "a" }, {}] }, bytesOf({ after: "9a01 03 0a0161 9a01 02 0a00" })],
  ["a wrapped list", { verbs: ["get"] }, bytesOf({ after: "a201 05 0a 03 676574" })],
  ["a message contains itself and its union alternatives", { tree: { name: "a", either: true, some: [{ name: "b" }], names: ["c"] } }, bytesOf({ after: "aa01 13 0a0161 1a 02 0801 22 05 12 03 0a0162 2a 03 120163" })],
]; // prettier-ignore
for (const [name, value, expected] of vectors)
  test(`${name}, encoded and decoded`, () => {
    const whole = { ...empty, ...value };
    assert.equal(hex(thing.encode(whole)), hex(expected));
    assert.deepEqual(thing.decode(expected, typeMeta), whole);
  });

test("decoded fields are in the order of the declaration, and zeros of optional ones are dropped", () => {
  const decoded = thing.decode(
    thing.encode({ ...empty, labels: { a: "b" }, count: 0, host: "h", name: "n" }),
    typeMeta,
  );
  assert.deepEqual(Object.keys(decoded), [
    "kind",
    "apiVersion",
    "made",
    "name",
    "host",
    "labels",
    "raw",
    "inners",
  ]);
});

test("absent fields of an empty message get their zero values", () =>
  assert.deepEqual(thing.decode(new Uint8Array(0), typeMeta), empty));

test("unknown fields are skipped, whatever their wire type", () => {
  const unknown = fromHex("c03e 05 c13e 0102030405060708 c23e 02 0102 c33e 08 01 c43e c53e 01020304");
  assert.deepEqual(thing.decode(Buffer.concat([thing.encode(empty), unknown]), typeMeta), empty);
});

const malformed: [name: string, bytes: string, message: RegExp][] = [
  ["a string beyond the end", "0a 05 61", /unexpected end/],
  ["a length without its bytes", "0a", /unexpected end/],
  ["an endless varint", "18 ffffffffffffffffffff01", /more than 64 bits/],
  ["field number zero", "00 00", /illegal protobuf tag/],
  ["a known field with another wire type", "08 01", /wrong protobuf wire type 0 for field Thing.name/],
  ["a nested field that runs over its message", "12 02 1a 05 61 61 61 61 61", /runs over the end/],
  ["a group that never ends", "c33e 08 01", /unexpected end/],
  ["a group that ends with another's number", "c33e cc3e", /another's number/],
  ["an end of a group that never began", "c43e", /illegal protobuf tag/],
  ["an invalid quantity", "5a 08 0a 01 61 12 03 0a 01 78", /quantities must match/],
  ["a time out of range", "42 0c 08 ffffffffffffffff7f 10 00", /out of range/],
];
for (const [name, bytes, expected] of malformed)
  test(`${name} is refused`, () => assert.throws(() => thing.decode(fromHex(bytes)), expected));

test("a message nested too deeply is rejected", () => {
  let bytes: Uint8Array = fromHex("0a0161");
  for (let i = 0; i < 300; i++) bytes = Buffer.concat([fromHex("12"), length(bytes.length), bytes]);
  assert.throws(() => protobufCodec(Tree).decode(bytes), /nest deeper than 200/);
});
const length = (size: number): Uint8Array =>
  size < 128 ? Uint8Array.of(size) : Uint8Array.of((size & 127) | 128, size >>> 7);

test("the caller's limit on fields holds at any depth", () => {
  const bytes = thing.encode({ ...empty, inners: [{ text: "a" }, { text: "b" }] });
  let fewest = 0;
  while (!reads(bytes, fewest)) fewest++;
  const more = thing.encode({ ...empty, inners: [{ text: "a" }, { text: "b" }, { text: "c" }] });
  assert.deepEqual(
    [reads(more, fewest), reads(more, fewest + 1), reads(more, fewest + 2)],
    [false, false, true],
    "one for the item, one for its text",
  );
});
function reads(bytes: Uint8Array, mostFields: number): boolean {
  try {
    thing.decode(bytes, typeMeta, mostFields);
    return true;
  } catch (error) {
    if (error instanceof TooManyFields) return false;
    throw error;
  }
}

test("any bytes are either decoded or rejected", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      try {
        thing.decode(bytes);
      } catch (error) {
        assert.match((error as Error).name, /^(ProtobufError|QuantityError)$/);
      }
    }),
    { numRuns: 500 },
  );
});

test("raw objects keep their text, and bytes that are not JSON stay bytes", () => {
  const raw = '{"a":1.0,"2":1,"1":[12345678901234567890]}';
  const value = thing.decode(thing.encode({ ...empty, raw: Buffer.from(raw) as never }), typeMeta);
  assert.equal(Buffer.from(thing.encode(value)).includes(raw), true);
  (value.raw as Record<string, unknown>)["a"] = 2;
  assert.equal(Buffer.from(thing.encode(value)).includes('"a":2'), true);
  const binary = Uint8Array.of(0x6b, 0x38, 0);
  assert.deepEqual(
    thing.decode(thing.encode({ ...empty, raw: binary as never }), typeMeta).raw,
    Buffer.from(binary),
  );
});

test("large objects that outgrow the buffer survive the round trip", () => {
  const value = {
    ...empty,
    labels: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`key-${i}`, "é".repeat(i % 60)])),
  };
  assert.deepEqual(thing.decode(thing.encode(value), typeMeta), value);
});

test("`__proto__` is an ordinary key", () => {
  const value = { ...empty, labels: JSON.parse('{"__proto__":"x"}') as Record<string, string> };
  assert.deepEqual(Object.keys(thing.decode(thing.encode(value), typeMeta).labels!), ["__proto__"]);
});

test("random objects survive the round trip", () => {
  const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 50 });
  fc.assert(
    fc.property(
      fc.record({
        name: text,
        count: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
        big: fc.maxSafeInteger(),
        share: fc.double({ noNaN: true, noDefaultInfinity: true }),
        lists: fc.array(text, { minLength: 1 }),
        labels: fc.dictionary(text, text, { minKeys: 1, noNullPrototype: true }),
      }),
      (given) => {
        const value = { ...empty, ...given };
        const decoded = thing.decode(thing.encode(value), typeMeta);
        const dropped = Object.fromEntries(
          Object.entries(value).filter(([, item]) => item !== 0 && !Object.is(item, -0)),
        );
        assert.deepEqual(decoded, { ...dropped });
      },
    ),
  );
});

const Peer = message("Peer", "", {
  id: required(1, uint64, ""),
  small: optional(2, uint32, ""),
  ratio: optional(3, float, ""),
  ok: required(4, bool, ""),
  ids: required(5, list(int64), ""),
  value: required(6, rawBytes, ""),
  one: pointer(7, int32, ""),
  inner: optional(8, Inner, ""),
  labels: required(9, map(string), ""),
  body: optional(10, bytes, ""),
});
const peer = protobufCodec(Peer, { style: "proto3" });

test("for gRPC peers, zeros are omitted and repeated numbers are packed", () => {
  assert.equal(
    hex(peer.encode({ id: 0, small: 0, ok: false, ids: [], value: new Uint8Array(0), labels: {} })),
    "",
  );
  assert.equal(
    hex(
      peer.encode({ id: 1, ok: true, ids: [1, 300], value: Uint8Array.of(7), one: 0, labels: {}, inner: {} }),
    ),
    "080120012a0301ac0232010738004200",
  );
});
test("from gRPC peers, absent required fields become zero, others stay absent, and packing does not matter", () => {
  const nothing = { id: 0, ok: false, ids: [], value: new Uint8Array(0), labels: {} };
  assert.deepEqual(peer.decode(new Uint8Array(0)), nothing);
  assert.deepEqual(peer.decode(fromHex("2801 28ac02")).ids, [1, 300]);
  assert.deepEqual(peer.decode(fromHex("2a03 01ac02")).ids, [1, 300]);
  assert.deepEqual(peer.decode(fromHex("08 ffffffffffffffffff01")).id, 18446744073709551615n);
  assert.deepEqual(peer.decode(fromHex("1d 0000003f 38 00 52 01 ff")), {
    ...nothing,
    ratio: 0.5,
    one: 0,
    body: Buffer.from([255]),
  });
});

test("an envelope contains the type in addition to the bytes", () => {
  const magic = Uint8Array.of(0x6b, 0x38, 0x73, 0);
  const wrapped = encodeEnvelope({ apiVersion: "v1", kind: "Pod" }, Uint8Array.of(1, 2), magic);
  assert.equal(
    hex(wrapped),
    "6b387300" + "0a090a027631 1203506f64".replaceAll(" ", "") + "12020102" + "1a00" + "2200",
  );
  const opened = decodeEnvelope(wrapped, magic);
  assert.deepEqual(
    { ...opened, raw: hex(opened.raw) },
    { apiVersion: "v1", kind: "Pod", raw: "0102", contentEncoding: "", contentType: "" },
  );
  assert.throws(() => decodeEnvelope(Uint8Array.of(1, 2, 3, 4), magic), { name: "ProtobufError" });
});
