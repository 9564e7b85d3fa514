import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap, PartialObjectMetadata, listOf } from "#api";
import { dialects } from "#dialect";
import { decodeEnvelope, protobufCodec } from "#schema";
import type { CachedObject } from "#watchcache";
import { endSlices } from "#kit";
import { serve } from "../../../server.fixture.ts";
import { splicedLongList } from "#endpoints";

// Long lists are assembled differently from short ones: the concatenated pages of a long list must equal
// the whole list.
const { must, place } = await serve({});
const dialect = dialects.orch;
const path = "/api/v1/namespaces/default/configmaps";
const odd = [
  "",
  "plain",
  "two\nlines\n",
  "  leading",
  "ü\u2028<&>",
  "yes",
  "0x10",
  "a: b # c",
  "word ".repeat(40),
  "'\"\\",
  "\ttab",
  "- x",
  "[]",
  "items: []\n",
];
const count = 300;
for (let i = 0; i < count; i++) {
  await must(201, "POST", path, {
    body: {
      metadata: { name: `thing-${String(i).padStart(3, "0")}`, labels: { n: String(i) } },
      data: { value: odd[i % odd.length]!, [`key-${i}`]: odd[(i * 7) % odd.length]! },
    },
  });
}

const meta = "meta.orch.io";
const forms: [name: string, accept: string, query: string, between: (parts: string[]) => string][] = [
  ["pretty JSON", "application/json", "pretty=true", (parts) => parts.join(",\n    ")],
  ["YAML", "application/yaml", "", (parts) => parts.join("")],
  [
    "metadata in JSON",
    `application/json;as=PartialObjectMetadataList;v=v1;g=${meta}`,
    "",
    (parts) => parts.join(","),
  ],
  ["a table", `application/json;as=Table;v=v1;g=${meta}`, "", (parts) => parts.join(",")],
  [
    "a pretty table",
    `application/json;as=Table;v=v1;g=${meta}`,
    "pretty=true",
    (parts) => parts.join(",\n    "),
  ],
];

/** Returns the text between the start and the end of the list. */
function itemsIn(text: string, name: string): string {
  const [from, to] =
    name === "YAML"
      ? [/^items:\n/m, /^kind: /m]
      : name.startsWith("pretty") || name === "a pretty table"
        ? [/"(items|rows)": \[\n {4}/, /\n {2}\]\n\}$/]
        : [/"(items|rows)":\[/, /\]\}\n$/];
  const begin = from.exec(text)!;
  const rest = text.slice(begin.index + begin[0].length);
  return rest.slice(0, to.exec(rest)!.index);
}

/** Masks the ages in a table, which change during the test. */
const ageless = (text: string): string => text.replace(/"\d+(s|m|m\d+s)"/g, '"old"');

for (const [name, accept, query, together] of forms) {
  test(`a long list as ${name} equals its concatenated pages`, async () => {
    const whole = await must(200, "GET", `${path}?${query}`, { accept });
    const parts: string[] = [];
    let token = "";
    do {
      const page = await must(200, "GET", `${path}?${query}&limit=100&continue=${token}`, { accept });
      parts.push(itemsIn(page.text, name));
      token = /"?continue"?: ?"?([^"\n,]+)/.exec(page.text)?.[1] ?? "";
    } while (token !== "");
    assert.equal(parts.length, 3);
    assert.equal(ageless(itemsIn(whole.text, name)), ageless(together(parts)));
  });
}

const binaries = [
  ["objects", dialect.wire.protobufMediaType, listOf(ConfigMap)],
  [
    "metadata",
    `${dialect.wire.protobufMediaType};as=PartialObjectMetadataList;v=v1;g=${meta}`,
    listOf(PartialObjectMetadata),
  ],
] as const;
for (const [name, accept, schema] of binaries) {
  test(`a long list of ${name} in protobuf equals its concatenated pages`, async () => {
    const items = (bytes: Uint8Array): unknown[] => {
      const { kind, raw } = decodeEnvelope(bytes, dialect.wire.protobufMagic);
      assert.equal(kind, name === "objects" ? "ConfigMapList" : "PartialObjectMetadataList");
      return (protobufCodec(schema as (typeof binaries)[0][2]).decode(raw) as unknown as { items: unknown[] })
        .items;
    };
    const whole = items((await must(200, "GET", path, { accept })).bytes);
    assert.equal(whole.length, count);
    const halves = await Promise.all(
      ["n<150", "n>149"].map((selector) =>
        must(200, "GET", `${path}?labelSelector=${encodeURIComponent(selector)}`, { accept }),
      ),
    );
    assert.deepEqual(
      whole,
      halves.flatMap(({ bytes }) => items(bytes)),
    );
  });
}

test("a list spliced in chunks equals one spliced at once", async () => {
  const line = (i: number): CachedObject =>
    ({
      line: Buffer.from(`{"kind":"K","metadata":{"name":"${i}","x":"${"y".repeat(i % 700)}"}}\n`),
      typeHeaderBytes: 12,
    }) as CachedObject;
  const items = Array.from({ length: 9000 }, (_, i) => line(i));
  let calls = 0;
  const splice = (some: readonly CachedObject[]): Uint8Array => {
    calls++;
    return Buffer.from(
      some.map((item) => `{${item.line.subarray(item.typeHeaderBytes, -1).toString()}`).join(","),
    );
  };
  const whole = Buffer.from(splice(items)).toString();
  calls = 0;
  assert.equal(Buffer.concat(await splicedLongList(items, splice)).toString(), whole);
  assert.equal((JSON.parse(`[${whole}]`) as unknown[]).length, 9000);
  assert.ok(calls > 2, `${calls} pieces`);
  assert.deepEqual(await splicedLongList([], splice), []);
});

test("other tasks can run while a long list is encoded", async () => {
  let turns = 0;
  let over = false;
  const count = (): void => {
    turns++;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  await must(200, "GET", path, { accept: "application/yaml" });
  over = true;
  assert.ok(turns > 2, `${turns} turns`);
});

test("other work runs between the items of a short list of large objects", async (t) => {
  const accept = `application/json;as=Table;v=v1;g=${meta}`;
  const turnsOf = async (characters: number): Promise<number> => {
    const maps = `/api/v1/namespaces/${await place()}/configmaps`;
    for (const name of ["a", "b", "c", "d"])
      await must(201, "POST", maps, { body: { metadata: { name }, data: { k: "x".repeat(characters) } } });
    const turns = endSlices(t);
    await must(200, "GET", maps, { accept });
    t.mock.restoreAll();
    return turns();
  };
  const small = await turnsOf(10);
  const large = await turnsOf(400_000);
  assert.ok(large >= small + 3, `${large} turns instead of ${small}`);
});
