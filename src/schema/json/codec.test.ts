import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  type Message, ParsedDocument, type TypeOf, apiPackage, bool, bytes, canonical, decodeJson, double, duration, embedded, encodeJson, fieldsV1, fromJsonValue, inline, int32, int64, intOrString, json, list, map, microTime,
  optional, orArray, orBool, orStrings, parseJson, pointer, quantity, rawExtension, recursive, required, string, stringifyJson, time,
} from "#schema"; // prettier-ignore

const { kind, message } = apiPackage({ package: "api.test.v1" });
const Meta = message("Meta", "", {
  name: optional(1, string, ""),
  made: embedded(2, time, ""),
  labels: optional(3, map(string), ""),
});
const Port = message("Port", "", { number: required(1, int32, ""), target: embedded(2, intOrString, "") });
const Source = message("Source", "", { path: optional(1, string, ""), inner: optional(2, Port, "") });
const Tree = message("Tree", "", {
  children: optional(2, map(recursive<object>(() => treeShape())), ""),
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
const Spec = message("Spec", "", {
  ports: required(1, list(Port), ""),
  source: inline(2, Source),
  count: optional(3, int32, ""),
  size: pointer(4, int64, ""),
  share: optional(5, double, ""),
  on: optional(6, bool, ""),
  maybe: pointer(7, bool, ""),
  args: optional(8, list(string), ""),
  limits: optional(9, map(quantity), ""),
  data: optional(10, map(bytes), ""),
  seen: optional(11, microTime, ""),
  wait: optional(12, duration, ""),
  raw: embedded(13, rawExtension, ""),
  any: optional(14, json, ""),
  managed: optional(15, fieldsV1, ""),
  tree: optional(16, Tree, ""),
  ids: optional(17, list(int64), ""),
  secret: required(18, bytes, ""),
  reference: required(19, Port, "", { nullable: true }),
});
const Thing = kind("Thing", "", { metadata: embedded(1, Meta, ""), spec: optional(2, Spec, "") });
type Thing = TypeOf<typeof Thing>;

const type = { kind: "Thing", apiVersion: "v1" } as const;
const spec = { ports: null, raw: null, secret: null, reference: null };
/** A document with this spec, and its encoding after decoding. */
const doc = (text: string): string =>
  `{"kind":"Thing","apiVersion":"v1","metadata":{"made":null},"spec":{"ports":null,${text}"raw":null,"secret":null,"reference":null}}`;
const read = (text: string): Record<string, unknown> =>
  decodeJson(Thing, doc(text && `${text},`)).value.spec as never;

const values: [name: string, text: string, spec: Record<string, unknown>][] = [
  ["an empty document decodes to nothing", "", {}],
  ["null is the zero value", '"count":null,"on":null,"args":null,"limits":null,"size":null,"seen":null,"path":null', {}],
  ["zero is dropped where zero and unset are the same", '"path":"","count":0,"share":0,"on":false,"args":[],"limits":{}', {}],
  ["zero is kept behind a pointer", '"size":0,"maybe":false', { size: 0, maybe: false }],
  ["an explicit empty message is kept", '"inner":{"number":1,"target":0}', { inner: { number: 1, target: 0 } }],
  ["missing required fields are filled in", '"inner":{}', { inner: { number: 0, target: 0 } }],
  ["a port is a number or a name", '"inner":{"number":1,"target":"http"}', { inner: { number: 1, target: "http" } }],
  ["a null port is zero", '"inner":{"number":1,"target":null}', { inner: { number: 1, target: 0 } }],
  ["quantities become canonical, given as text or as numbers", '"limits":{"a":"1.5","b":2,"c":0.5,"d":1e3," e":" 1Gi "}', { limits: { a: "1500m", b: "2", c: "500m", d: "1e3", " e": "1Gi" } }],
  ["bytes become canonical base64", '"data":{"a":"QQ==","b":"QR==","c":"","d":[65,66],"e":"QUJD\\nREVG"}', { data: { a: "QQ==", b: "QQ==", c: "", d: "QUI=", e: "QUJDREVG" } }],
  ["micro times become UTC", '"seen":"2020-01-01T01:00:00.000001+01:00"', { seen: "2020-01-01T00:00:00.000001Z" }],
  ["durations become canonical", '"wait":"90s"', { wait: "1m30s" }],
  ["integers beyond 2^53 are exact", '"size":9223372036854775807,"ids":[-9223372036854775808,1]', { size: 9223372036854775807n, ids: [-9223372036854775808n, 1] }],
  ["sixteen digits that a double holds are a number", '"size":9007199254740991', { size: 9007199254740991 }],
  ["doubles are doubles", '"share":1.5e3', { share: 1500 }],
  ["any JSON is accepted by fields of any type", '"any":[1,{"a":null}],"managed":{"f:a":{}}', { any: [1, { a: null }], managed: { "f:a": {} } }],
  ["a schema, a boolean, a list of schemas, or names", '"tree":{"children":{"a":{}},"either":true,"some":[{}],"names":["x"]}', { tree: { children: { a: {} }, either: true, some: [{}], names: ["x"] } }],
  ["schemas in all members of unions", '"tree":{"either":{"either":false},"some":{"names":{}}}', { tree: { either: { either: false }, some: { names: {} } } }],
  ["a value that is neither a schema nor a list is dropped where both are allowed", '"tree":{"some":"x","names":1}', { tree: {} }],
  ["escapes and unpaired surrogates", '"path":"\\u00e9\\ud83d\\ude00\\ud83d!"', { path: "é😀\ufffd!" }],
  ["a null list item or map value is zero", '"args":["a",null],"data":{"a":null}', { args: ["a", ""], data: { a: null } }],
]; // prettier-ignore
for (const [name, text, expected] of values)
  test(name, () => {
    assert.deepEqual(read(text), sortedAs({ ...spec, ...expected }));
    assert.deepEqual(Object.keys(read(text)), Object.keys(sortedAs({ ...spec, ...expected })));
  });

/** The object with its keys in declaration order. */
function sortedAs(value: Record<string, unknown>): Record<string, unknown> {
  const order = ["ports", "path", "inner", ...Object.keys(Spec.fields).slice(2)];
  return Object.fromEntries(order.filter((key) => key in value).map((key) => [key, value[key]]));
}

const wrongTypes: [text: string, path: string, message: string][] = [
  ['{"metadata":{"name":1}}', "metadata.name", "json: cannot unmarshal number into Go struct field Meta.metadata.name of type string"],
  ['{"spec":{"ports":{}}}', "spec.ports", "json: cannot unmarshal object into Go struct field Spec.spec.ports of type []v1.Port"],
  ['{"spec":{"ports":[{"number":"1"}]}}', "spec.ports[0].number", "json: cannot unmarshal string into Go struct field Port.spec.ports.number of type int32"],
  ['{"spec":{"ports":[{"number":1.0}]}}', "spec.ports[0].number", "json: cannot unmarshal number 1.0 into Go struct field Port.spec.ports.number of type int32"],
  ['{"spec":{"ports":[{"number":2147483648}]}}', "spec.ports[0].number", "json: cannot unmarshal number 2147483648 into Go struct field Port.spec.ports.number of type int32"],
  ['{"spec":{"count":1e3}}', "spec.count", "json: cannot unmarshal number 1e3 into Go struct field Spec.spec.count of type int32"],
  ['{"spec":{"size":9223372036854775808}}', "spec.size", "json: cannot unmarshal number 9223372036854775808 into Go struct field Spec.spec.size of type int64"],
  ['{"spec":{"ids":[1.5]}}', "spec.ids[0]", "json: cannot unmarshal number 1.5 into Go struct field Spec.spec.ids of type int64"],
  ['{"spec":{"on":"true"}}', "spec.on", "json: cannot unmarshal string into Go struct field Spec.spec.on of type bool"],
  ['{"spec":{"args":"a"}}', "spec.args", "json: cannot unmarshal string into Go struct field Spec.spec.args of type []string"],
  ['{"spec":[]}', "spec", "json: cannot unmarshal array into Go struct field Thing.spec of type v1.Spec"],
  ['{"metadata":{"labels":{"a":1}}}', "metadata.labels.a", "json: cannot unmarshal number into Go struct field Meta.metadata.labels of type string"],
  ['{"metadata":{"made":"yesterday"}}', "metadata.made", 'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"'],
  ['{"metadata":{"made":5}}', "metadata.made", "json: cannot unmarshal number into Go struct field Meta.metadata.made of type string"],
  ['{"spec":{"data":{"a":[1,300,"x"]}}}', "spec.data.a", "json: cannot unmarshal number 300 into Go struct field Spec.spec.data of type uint8"],
  ['{"spec":{"data":{"a":["x"]}}}', "spec.data.a", "json: cannot unmarshal string into Go struct field Spec.spec.data of type uint8"],
  ['{"spec":{"limits":{"cpu":"x"}}}', "spec.limits.cpu", "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"],
  ['{"spec":{"data":{"a":"?"}}}', "spec.data.a", "illegal base64 data at input byte 0"],
  ['{"spec":{"wait":"1d"}}', "spec.wait", 'time: unknown unit "d" in duration "1d"'],
  ['{"spec":{"tree":{"either":"yes"}}}', "spec.tree.either", "boolean or JSON schema expected"],
  ["[]", "", "json: cannot unmarshal array into Go value of type v1.Thing"],
  // The first wrong type is reported, but errors of custom unmarshalers take precedence.
  ['{"spec":{"on":1,"args":1}}', "spec.on", "json: cannot unmarshal number into Go struct field Spec.spec.on of type bool"],
  ['{"spec":{"on":1,"wait":"1d"}}', "spec.wait", 'time: unknown unit "d" in duration "1d"'],
  ['{"spec":{"on":1,"limits":{"cpu":"x"}}}', "spec.limits.cpu", "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"],
  ['{"spec":{"data":{"a":"?"},"on":1}}', "spec.data.a", "illegal base64 data at input byte 0"],
  ['{"spec":{"on":1,"data":{"a":"?"}}}', "spec.on", "json: cannot unmarshal number into Go struct field Spec.spec.on of type bool"],
]; // prettier-ignore
for (const [text, path, expected] of wrongTypes)
  test(`${text} is refused at "${path}"`, () =>
    assert.throws(() => decodeJson(Thing, text), { name: "DecodeError", path, message: expected }));

const broken: [text: string, message: string][] = [
  ["", "unexpected end of JSON input"],
  ["{", "unexpected end of JSON input"],
  ["{}x", "invalid character 'x' after top-level value"],
  ["{a:1}", "invalid character 'a' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 2}', "invalid character '2' after object key:value pair"],
  ['{"a":[1 2]}', "invalid character '2' after array element"],
  ['{"a":[1,]}', "invalid character ']' looking for beginning of value"],
  ['{"a":tru}', "invalid character '}' in literal true (expecting 'e')"],
  ['{"a":01}', "invalid character '1' after object key:value pair"],
  ['{"a":1.}', "invalid character '}' after decimal point in numeric literal"],
  ['{"a":1e}', "invalid character '}' in exponent of numeric literal"],
  ['{"a":-}', "invalid character '}' in numeric literal"],
  ['{"a":"\n"}', "invalid character '\\n' in string literal"],
  ['{"a":"\\x"}', "invalid character 'x' in string escape code"],
  ['{"a":"\\u12g4"}', "invalid character 'g' in \\u hexadecimal character escape"],
  ["\ufeff{}", "invalid character '\ufeff' looking for beginning of value"],
];
for (const [text, expected] of broken)
  test(`${JSON.stringify(text)} is not valid JSON`, () =>
    assert.throws(() => decodeJson(Thing, text), { name: "JsonSyntaxError", message: expected }));

const texts: [name: string, bytes: number[], text: string][] = [
  ["valid characters", [...Buffer.from("aé€😀")], "aé€😀"],
  ["bytes that begin no character", [0x61, 0xff, 0x80, 0xc0, 0x62], "a\ufffd\ufffd\ufffdb"],
  ["a truncated character", [0xe2, 0x82], "\ufffd\ufffd"],
  ["an interrupted character", [0xf0, 0x9f, 0x98, 0x61], "\ufffd\ufffd\ufffda"],
  ["an overlong form", [0xe0, 0x80, 0x80], "\ufffd\ufffd\ufffd"],
  ["a surrogate", [0xed, 0xa0, 0x80], "\ufffd\ufffd\ufffd"],
  ["a number above the last character", [0xf4, 0x90, 0x80, 0x80], "\ufffd\ufffd\ufffd\ufffd"],
];
for (const [name, bytes, text] of texts)
  test(`${name}: each byte that is not UTF-8 is replaced`, () => {
    const sent = Buffer.concat([
      Buffer.from('{"metadata":{"name":"'),
      Buffer.from(bytes),
      Buffer.from('"}}'),
    ]);
    assert.equal(decodeJson(Thing, sent).value.metadata.name, text);
  });

test("a document nested too deeply is rejected, wherever the nesting is", () => {
  const bomb = (before: string, after: string) => `${before}${"[".repeat(2000)}${"]".repeat(2000)}${after}`;
  for (const text of [
    bomb("", ""),
    bomb('{"x":', "}"),
    bomb('{"spec":{"any":', "}}"),
    bomb('{"spec":{"managed":', "}}"),
    bomb('{"spec":{"args":', "}}"),
  ])
    assert.throws(() => decodeJson(Thing, text), { message: "exceeded max depth" });
  const nested = `{"spec":{"tree":${'{"children":{"a":'.repeat(600)}{}${"}}".repeat(600)}}}`;
  assert.throws(() => decodeJson(Thing, nested), { message: "exceeded max depth" });
  assert.doesNotThrow(() => decodeJson(Thing, nested, { maxDepth: 1300 }));
});

const strict: [name: string, text: string, sentences: string[]][] = [
  ["unknown fields are reported with their path", '{"foo":1,"spec":{"ports":[{"bar":{}}],"Count":1}}', ['unknown field "foo"', 'unknown field "spec.ports[0].bar"', 'unknown field "spec.Count"']],
  ["duplicate fields are reported with their path", '{"kind":"Thing","metadata":{"name":"a","name":"b","labels":{"x":"1","x":"2"}},"kind":"Thing"}', ['duplicate field "metadata.name"', 'duplicate field "metadata.labels.x"', 'duplicate field "kind"']],
  ["unknown and duplicate fields are reported once, in order of appearance", '{"spec":{"a":1,"count":1,"count":2,"a":1},"metadata":{"z":1},"metadata":{"z":1}}', ['unknown field "spec.a"', 'duplicate field "spec.count"', 'unknown field "metadata.z"', 'duplicate field "metadata"']],
  ["duplicates are found despite space before a colon", '{"kind" :"Thing","kind":"Thing"}', ['duplicate field "kind"']],
  ["nothing inside raw objects is reported", '{"spec":{"raw":{"a":1,"a":2},"any":{"b":1,"b":2},"managed":{"c":1,"c":1}}}', []],
  ["a key with a quote is escaped in the message", '{"a\\"b":1}', ['unknown field "a\\"b"']],
]; // prettier-ignore
for (const [name, text, sentences] of strict) {
  test(name, () => {
    const { unknown, duplicate, strict } = decodeJson(Thing, text);
    assert.deepEqual(strict, sentences);
    const paths = (prefix: string) =>
      sentences
        .filter((sentence) => sentence.startsWith(prefix))
        .map((sentence) => JSON.parse(sentence.slice(prefix.length)) as string);
    assert.deepEqual([unknown, duplicate], [paths("unknown field "), paths("duplicate field ")]);
  });
}

test("at most a hundred findings are reported", () => {
  const text = `{${Array.from({ length: 300 }, (_, i) => `"x${i}":1`).join(",")}}`;
  assert.equal(decodeJson(Thing, text).strict.length, 100);
});

test("duplicate objects are merged, any other duplicate replaces the value", () => {
  const { value } = decodeJson(
    Thing,
    '{"metadata":{"name":"a","labels":{"x":"1"}},"metadata":{"labels":{"y":"2"}},"spec":{"args":["a","b"],"args":["c"]}}',
  );
  assert.deepEqual(value.metadata, { name: "a", made: null, labels: { x: "1", y: "2" } });
  assert.deepEqual(value.spec?.args, ["c"]);
});

test("parsed data is decoded the same way and not modified", () => {
  const given = {
    spec: { count: 0, ports: [{ target: "a", number: 1 }], what: 1 },
    metadata: {},
    apiVersion: "v1",
    kind: "Thing",
  };
  const before = JSON.stringify(given);
  const { value, unknown } = fromJsonValue(Thing, given);
  assert.deepEqual(value, {
    ...type,
    metadata: { made: null },
    spec: { ...spec, ports: [{ number: 1, target: "a" }] },
  });
  assert.deepEqual(unknown, ["spec.what"]);
  assert.equal(JSON.stringify(given), before);
  assert.throws(() => fromJsonValue(Thing, { spec: { count: 1.5 } }), { path: "spec.count" });
  assert.throws(() => fromJsonValue(Thing, "x"), { name: "DecodeError" });
});

test("data converted as by Go keeps the low bits of large integers", () => {
  const given = { spec: { count: 2147483648, ports: [{ number: -4294967297 }], reference: { number: 1 } } };
  const { value } = fromJsonValue(Thing, given, { truncates: true });
  assert.deepEqual([value.spec!.count, value.spec!.ports![0]!.number], [-2147483648, -1]);
  assert.throws(() => fromJsonValue(Thing, given), { path: "spec.count" });
  const wide = { spec: { ports: [{ target: 2147483648 }] } };
  assert.throws(() => fromJsonValue(Thing, wide, { truncates: true }), { path: "spec.ports[0].target" });
});

test("an object in canonical form is returned unchanged, including its parts", () => {
  const value = decodeJson(Thing, doc('"path":"p","limits":{"cpu":"1"},')).value;
  assert.equal(canonical(Thing, value), value);
  const changed = { ...value, metadata: { ...value.metadata, labels: {} } };
  const result = canonical(Thing, changed);
  assert.deepEqual(result.metadata, { made: null });
  assert.equal(result.spec, value.spec);
  assert.deepEqual(changed.metadata.labels, {});
});

test("canonical form drops undefined, unknown and zero fields, adds required ones, and orders the keys", () => {
  const loose = {
    spec: { on: false, count: undefined, ports: [] },
    metadata: { labels: { a: "b" }, name: "" },
    apiVersion: "v1",
    kind: "Thing",
    extra: 1,
  };
  const whole = encodeJson(Thing, loose as unknown as Thing);
  assert.equal(
    whole,
    '{"kind":"Thing","apiVersion":"v1","metadata":{"made":null,"labels":{"a":"b"}},"spec":{"ports":[],"raw":null,"secret":null,"reference":null}}',
  );
  assert.throws(() => canonical(Thing, { metadata: { name: 5 } } as unknown as Thing), {
    name: "DecodeError",
    path: "metadata.name",
  });
});

const rawTexts: [given: string, printed?: string][] = [
  ['{"b":1,"a":[1,"x",{"c":null,"b":true}]}'],
  ['{"z":{},"__proto__":[],"":""}'],
  ['{ "b" : [ 1 , 2 ] }', '{"b":[1,2]}'],
  ['{"2":1,"1":2}'],
  ['{"a":{"10":1,"9":2}}'],
  ['{"a":-0}'],
  ['{"a":[-0,1.0]}'],
  ['{"a":[12345678901234567890]}'],
  ['{"a":1e3}'],
  ['{"a":"\\u0041\\/"}'],
  ['{"\\u0041":1}'],
  [`{"a":"<&>\u2028\u007f"}`],
];
for (const [given, printed = given] of rawTexts)
  test(`the raw object ${JSON.stringify(given)} is printed as it was parsed`, () => {
    const { value } = decodeJson(Thing, `{"spec":{"raw":${given}}}`);
    const text = encodeJson(Thing, value);
    assert.ok(text.includes(`"raw":${printed}`), text);
  });

test("large integers and raw objects are printed as they were parsed", () => {
  const text = doc('"size":9223372036854775807,"any":{"1":1.0,"0":1e2},').replace(
    '"raw":null',
    '"raw":{"b":1.50,"a":"\\/","2":[12345678901234567890]}',
  );
  // "any" is between "size" and "raw" in the document, but after "raw" in the declaration
  const { value } = decodeJson(Thing, text.replace(" ", ""));
  const printed = encodeJson(Thing, value);
  assert.ok(printed.includes('"size":9223372036854775807'), printed);
  assert.ok(printed.includes('"raw":{"b":1.50,"a":"\\/","2":[12345678901234567890]}'), printed);
  assert.ok(printed.includes('"any":{"1":1.0,"0":1e2}'), printed);
  (value.spec!.raw as Record<string, unknown>)["a"] = "changed";
  assert.ok(encodeJson(Thing, value).includes('"a":"changed"'));
});

test("whitespace between the tokens of a raw object is not part of its text", () => {
  const { value } = decodeJson(Thing, '{"spec":{"raw": { "a" : 1.0, "b":" x " } }}');
  assert.ok(encodeJson(Thing, value).includes('"raw":{"a":1.0,"b":" x "}'));
});

test("`__proto__` is an ordinary key", () => {
  const text = '{"kind":"Thing","metadata":{"made":null,"labels":{"__proto__":"x"}}}';
  assert.equal(encodeJson(Thing, decodeJson(Thing, text).value), text);
  const limits = decodeJson(Thing, '{"spec":{"limits":{"__proto__":"1.5"}}}').value.spec!.limits!;
  assert.deepEqual(Object.entries(limits), [["__proto__", "1500m"]]);
});

test("an explicit zero time is distinguished from an absent one when decoded, and encoded as null", () => {
  const zero = "0001-01-01T00:00:00.000000Z";
  for (const more of ["", ',"unknown":1']) {
    const { value } = decodeJson(Thing, `{"spec":{"seen":"${zero}"${more}}}`);
    assert.equal(value.spec?.seen, zero);
    assert.doesNotMatch(encodeJson(Thing, value), /seen":"/);
  }
});

test("untyped data keeps exact integers and reports duplicates", () => {
  const { value, duplicate } = parseJson(
    '{"a":9007199254740993,"b":{"c":1,"c":2},"d":[{"e":1,"e":1}],"f":1.5}',
  );
  assert.deepEqual(value, { a: 9007199254740993n, b: { c: 2 }, d: [{ e: 1 }], f: 1.5 });
  assert.deepEqual(duplicate, ["b.c", "d[0].e"]);
  assert.equal(stringifyJson(value), '{"a":9007199254740993,"b":{"c":2},"d":[{"e":1}],"f":1.5}');
});

const text = fc.string({ unit: "grapheme", maxLength: 20 });
const nullable = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const things: fc.Arbitrary<unknown> = fc.record({
  kind: fc.constant("Thing"),
  apiVersion: fc.constant("v1"),
  metadata: fc.record({
    name: nullable(text),
    labels: nullable(fc.dictionary(text, text, { noNullPrototype: true })),
  }),
  spec: nullable(
    fc.record({
      ports: nullable(
        fc.array(
          fc.record({
            number: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
            target: fc.oneof(text, fc.integer({ min: 0, max: 65535 })),
          }),
        ),
      ),
      path: nullable(text),
      count: nullable(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
      size: nullable(fc.oneof(fc.maxSafeInteger(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }))),
      share: nullable(fc.double({ noNaN: true, noDefaultInfinity: true })),
      maybe: nullable(fc.boolean()),
      args: nullable(fc.array(text)),
      limits: nullable(
        fc.dictionary(text, fc.constantFrom("1", "1.5", "100m", "1Gi", "1024Ki"), { noNullPrototype: true }),
      ),
      any: nullable(fc.jsonValue()),
      raw: nullable(fc.dictionary(text, fc.jsonValue(), { noNullPrototype: true })),
    }),
  ),
});

test("an encoded object decodes to an equal object, which encodes to the same text", () => {
  fc.assert(
    fc.property(things, (thing) => {
      const whole = canonical(Thing, thing as Thing);
      const printed = encodeJson(Thing, whole);
      const again = decodeJson(Thing, printed);
      assert.deepEqual(again.strict, []);
      assert.equal(encodeJson(Thing, again.value), printed);
      assert.equal(canonical(Thing, whole), whole);
    }),
  );
});

test("the fast and the careful decoder agree", () => {
  fc.assert(
    fc.property(things, (thing) => {
      const printed = stringifyJson(thing);
      const quick = decodeJson(Thing, printed);
      const careful = decodeJson(Thing, printed.replace(/^\{/, '{"unknown" :1,'));
      assert.equal(encodeJson(Thing, careful.value), encodeJson(Thing, quick.value));
      assert.deepEqual(careful.unknown, ["unknown"]);
    }),
  );
});

test("any text is either decoded or rejected", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (given) => {
      try {
        decodeJson(Thing, given);
      } catch (error) {
        assert.match((error as Error).name, /^(DecodeError|JsonSyntaxError)$/);
      }
    }),
  );
});

test("where empty differs from absent, an empty value is decoded as such, but never encoded", () => {
  const Amounts = message("Amounts", "", {
    items: optional(1, list(string), "", { keepEmpty: true }),
    amounts: optional(2, map(quantity), "", { keepEmpty: true }),
    plain: optional(3, list(string), ""),
  });
  const given = { items: [], amounts: {}, plain: [] };
  assert.deepEqual(decodeJson(Amounts, JSON.stringify(given)).value, { items: [], amounts: {} });
  assert.deepEqual(decodeJson(Amounts, `{"unknown":1,"items":[],"amounts":{}}`).value, {
    items: [],
    amounts: {},
  });
  assert.deepEqual(fromJsonValue(Amounts, given).value, { items: [], amounts: {} });
  assert.equal(encodeJson(Amounts, given), "{}");
});

const documents: [name: string, text: string][] = [
  ["an ordinary document", '{"metadata":{"name":"n"},"spec":{"ports":[{"number":1}]}}'],
  ["one with unknown fields", '{"spec":{"odd":1,"count":1,"count":2}}'],
  ["one with escapes", '{"metadata":{"name":"\\u0061"},"spec":{"raw":{"a":"\\n"}}}'],
];
for (const [name, text] of documents)
  test(`${name} decodes the same from a parsed document as from bytes`, () => {
    const bytes = Buffer.from(text);
    assert.deepEqual(decodeJson(Thing, ParsedDocument.of(bytes)!), decodeJson(Thing, bytes));
  });

test("a malformed document has no parsed form", () => {
  assert.equal(ParsedDocument.of(Buffer.from("{")), undefined);
  assert.equal(ParsedDocument.of(Buffer.from([0x22, 0xff])), undefined);
});
