import assert from "node:assert/strict";
import { test } from "node:test";
import { RangeAllocation, inDialect } from "#api";
import { dialects } from "#dialect";
import { decodeEnvelope, protobufCodec } from "#schema";
import type { Resource } from "#registry";
import { openMemory } from "#store";
import { addressRange } from "./address-range.ts";
import { bitsOf, rangeAllocations } from "./range-allocations.ts";

const bits: [positions: number[], bytes: number[]][] = [
  [[], []],
  [[0], [1]],
  [
    [0, 9],
    [2, 1],
  ],
  [[7, 7], [128]],
  [[23], [128, 0, 0]],
];
for (const [positions, bytes] of bits)
  test(`the bits of ${JSON.stringify(positions)} are one big-endian number`, () =>
    assert.deepEqual([...bitsOf(positions)], bytes));

test("only addresses within the range have positions", () => {
  const range = addressRange("10.0.0.0/24");
  const positions = ["10.0.0.1", "10.0.0.254", "10.0.0.0", "10.0.0.255", "10.0.1.1", "fd00::1", "port 1"];
  assert.deepEqual(positions.map(range.positionOf), [1, 254, ...Array<undefined>(5)]);
});

async function harness(media: "protobuf" | "json" = "protobuf") {
  const dialect = dialects.orch;
  const store = await openMemory();
  const services: object[] = [];
  let change = 0;
  const write = rangeAllocations({
    services: {
      store,
      source: { lastChange: () => change, listCached: () => services },
      objectOf: (spec: object) => ({ spec }),
    } as unknown as Resource,
    dialect,
    storePrefix: "/registry",
    media,
    ranges: ["10.0.0.0/24", "fd00::/112"],
    ports: { from: 30_000, to: 30_015 },
  });
  const add = (spec: object): void => {
    services.push(spec);
    change++;
  };
  const stored = async () => {
    const schema = inDialect(dialect, RangeAllocation);
    const { entries } = await store.read({ prefix: "/registry/" });
    return entries.map(({ key, value }) => {
      const { raw, kind, apiVersion } = decodeEnvelope(value, dialect.wire.protobufMagic);
      const { range, data } = protobufCodec(schema).decode(raw, { kind, apiVersion });
      return [
        key.slice("/registry/ranges/".length),
        kind,
        range,
        Buffer.from(data ?? "", "base64").toString("hex"),
      ];
    });
  };
  return { store, write, add, stored };
}

test("the allocated addresses and node ports are stored", async () => {
  const { write, add, stored } = await harness();
  add({ type: "ClusterIP", clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "fd00::9"] });
  add({ type: "NodePort", clusterIPs: ["10.0.0.10"], ports: [{ nodePort: 30_001 }, { nodePort: 29_000 }] });
  add({ type: "ClusterIP", clusterIP: "None", clusterIPs: ["None"] });
  await write();
  assert.deepEqual(await stored(), [
    ["secondaryserviceips", "RangeAllocation", "fd00::/112", "0100"],
    ["serviceips", "RangeAllocation", "10.0.0.0/24", "0201"],
    ["servicenodeports", "RangeAllocation", "30000-30015", "02"],
  ]);
});

test("nothing is written unless allocations have changed", async () => {
  const { store, write, add, stored } = await harness();
  await write();
  const { revision } = await store.status();
  add({ type: "ExternalName" });
  await write();
  await write();
  assert.equal((await store.status()).revision, revision);
  add({ clusterIPs: ["10.0.0.2"] });
  await write();
  assert.equal((await store.status()).revision, revision + 1);
  assert.equal((await stored())[1]![3], "02");
});

test("allocations are JSON if objects are stored as JSON", async () => {
  const { store, write } = await harness("json");
  await write();
  const [entry] = (await store.read({ key: "/registry/ranges/serviceips" })).entries;
  const { kind, range } = JSON.parse(Buffer.from(entry!.value).toString()) as Record<string, string>;
  assert.deepEqual([kind, range], ["RangeAllocation", "10.0.0.0/24"]);
});
