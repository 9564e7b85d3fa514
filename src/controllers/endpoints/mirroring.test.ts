import assert from "node:assert/strict";
import { test } from "node:test";
import type { Endpoints } from "#api";
import { type ApiClient, kinds } from "#client";
import { until, withController } from "../cluster.fixture.ts";
import { endpointSliceMirroringController, mirrored } from "./mirroring.ts";

const namespace = "default";
const address = (at: number) => ({ ip: `10.2.${Math.floor(at / 250)}.${(at % 250) + 1}` });
const endpointsOf = (count: number): Endpoints =>
  ({
    metadata: { name: "web", namespace },
    subsets: [{ addresses: Array.from({ length: count }, (_, at) => address(at)), ports: [{ port: 80 }] }],
  }) as Endpoints;

const counts: [name: string, count: number, sizes: number[], skipped: number][] = [
  ["the addresses of a subset are put into one slice", 150, [150], 0],
  ["addresses beyond the limit are skipped", 1003, [1000], 3],
];
for (const [name, count, sizes, skipped] of counts)
  test(name, () => {
    const found = mirrored(endpointsOf(count));
    assert.deepEqual(
      found.desired.map(({ endpoints }) => endpoints.length),
      sizes,
    );
    assert.equal(found.skipped, skipped);
  });

test("ports that one address has in several subsets are mirrored in one slice", () => {
  const { desired } = mirrored({
    metadata: {},
    subsets: [
      { addresses: [address(1)], ports: [{ name: "a", port: 80 }] },
      { addresses: [address(1)], ports: [{ name: "b", port: 81 }] },
    ],
  } as Endpoints);
  assert.deepEqual(
    desired.map(({ ports }) => ports.map(({ name }) => name).toSorted()),
    [["a", "b"]],
  );
});

async function createMirrored(client: ApiClient, annotations: Record<string, string>): Promise<void> {
  await client
    .of(kinds.services)
    .create({ metadata: { name: "web", namespace }, spec: { ports: [{ port: 80 }] } } as never);
  const { subsets } = endpointsOf(1);
  await client.of(kinds.endpoints).create({ metadata: { name: "web", namespace, annotations }, subsets });
}

test("a mirrored slice follows the annotations", () =>
  withController(endpointSliceMirroringController, async ({ client }) => {
    await createMirrored(client, { first: "1", second: "2" });
    const annotations = async () => {
      const [slice] = (await client.of(kinds.endpointSlices).list({ namespace })).items;
      return slice && JSON.stringify(slice.metadata.annotations);
    };
    await until(async () => (await annotations()) === '{"first":"1","second":"2"}');
    const metadata = { annotations: { first: "3", second: null } };
    await client.of(kinds.endpoints).patch("web", "merge", { metadata }, { namespace });
    await until(async () => (await annotations()) === '{"first":"3"}');
    const [slice] = (await client.of(kinds.endpointSlices).list({ namespace })).items;
    assert.equal(slice!.metadata.generateName, undefined);
  }));

test("an event reports addresses that are not mirrored", () =>
  withController(endpointSliceMirroringController, async ({ client }) => {
    await client
      .of(kinds.services)
      .create({ metadata: { name: "web", namespace }, spec: { ports: [{ port: 80 }] } } as never);
    await client.of(kinds.endpoints).create(endpointsOf(1001));
    const event = await until(async () => {
      const { items } = await client.of(kinds.events).list({ namespace });
      return items.find(({ reason }) => reason === "TooManyAddressesToMirror");
    });
    assert.match(JSON.stringify(event), /A max of 1000 addresses .* 1 addresses were skipped/);
  }));

test("the operator's limit of mirrored addresses per subset is applied", () => {
  const found = mirrored(endpointsOf(5), 2);
  assert.deepEqual([found.desired[0]?.endpoints.length, found.skipped], [2, 3]);
});
