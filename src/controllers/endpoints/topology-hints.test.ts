import assert from "node:assert/strict";
import { test } from "node:test";
import type { Endpoint, Node } from "#api";
import { type SeenSlice, planSlices } from "./slices.ts";
import { isOverloaded, withHints, withOwnZones, withoutHints, zoneShares } from "./topology-hints.ts";

const labels = { zone: "zone", controlPlaneRole: "control", nodeRolePrefix: "role/" };
const node = (zone: string | undefined, cpu: string, own: object = {}, ready = "True"): Node =>
  ({
    metadata: { labels: { ...(zone && { zone }), ...own } },
    status: { allocatable: { cpu }, conditions: [{ type: "Ready", status: ready }] },
  }) as unknown as Node;

const shared: [name: string, nodes: Node[], expected: Record<string, number> | undefined][] = [
  ["zones are weighted by CPU", [node("a", "3"), node("b", "500m"), node("b", "500m")], { a: 0.75, b: 0.25 }],
  [
    "nodes that are not ready do not count",
    [node("a", "1"), node("b", "1"), node("b", "9", {}, "False")],
    { a: 0.5, b: 0.5 },
  ],
  [
    "control plane nodes do not count",
    [node("a", "1"), node("b", "1"), node("b", "9", { control: "" })],
    { a: 0.5, b: 0.5 },
  ],
  ["a single zone is not enough", [node("a", "1"), node("a", "1")], undefined],
  [
    "a node without a zone disables shares",
    [node("a", "1"), node("b", "1"), node(undefined, "1")],
    undefined,
  ],
  ["a node without CPU disables shares", [node("a", "1"), node("b", "0")], undefined],
];
for (const [name, nodes, expected] of shared)
  test(name, () => {
    const shares = zoneShares(nodes, labels);
    assert.deepEqual(shares && Object.fromEntries(shares), expected);
  });

const endpoint = (uid: string, zone: string | undefined, ready = true): Endpoint => ({
  addresses: [uid],
  conditions: { ready },
  targetRef: { uid },
  ...(zone && { zone }),
});
const halves = new Map([
  ["a", 0.5],
  ["b", 0.5],
]);
/** `a a b!` are two ready endpoints in zone a and one in zone b that is not ready; `?` has no zone. */
const endpoints = (text: string): Endpoint[] =>
  text
    .split(" ")
    .map((each, index) => endpoint(`u${index}`, each[0] === "?" ? undefined : each[0], !each.endsWith("!")));
const hintsOf = (list: readonly Endpoint[]): string =>
  list.map(({ hints }) => hints?.forZones?.map(({ name }) => name).join() ?? "-").join(" ");

const hinted: [name: string, text: string, expected: string][] = [
  ["every endpoint is assigned to its own zone", "a b a b", "a b a b"],
  ["a zone with a surplus gives endpoints away", "a a a b", "b a a b"],
  ["a zone without endpoints receives some", "a a a a", "b b a a"],
  ["endpoints that are not ready have no hints", "a b b!", "a b -"],
  ["too few endpoints have no hints", "a", "-"],
  ["an endpoint without a zone disables hints", "a b ?", "- - -"],
  ["a share that cannot be met disables hints", "a a b", "- - -"],
];
for (const [name, text, expected] of hinted)
  test(name, () => {
    const desired = [{ addressType: "IPv4", ports: [], endpoints: endpoints(text) }];
    const { plan } = withHints(planSlices(desired, [], 100), [], halves);
    assert.equal(hintsOf(plan.create[0]!.endpoints), expected);
  });

test("slices whose hints are still valid are left alone, and lose all hints when hints are disabled", () => {
  const desired = [{ addressType: "IPv4", ports: [], endpoints: endpoints("a b") }];
  const first = withHints(planSlices(desired, [], 100), [], halves).plan.create[0]!;
  const slice = { metadata: { name: "s" }, ...first } as unknown as SeenSlice;
  const again = withHints(planSlices(desired, [slice], 100), [slice], halves);
  assert.deepEqual(again.plan, { create: [], update: [], remove: [] });
  assert.deepEqual(
    again.allocated,
    new Map([
      ["a", 1],
      ["b", 1],
    ]),
  );
  const off = withoutHints(planSlices(desired, [slice], 100), [slice]);
  assert.deepEqual(
    off.update.map((each) => hintsOf(each.endpoints)),
    ["- -"],
  );
});

const loads: [name: string, allocated: [string, number][], expected: boolean][] = [
  [
    "evenly allocated zones are not overloaded",
    [
      ["a", 2],
      ["b", 2],
    ],
    false,
  ],
  [
    "slightly uneven zones are not overloaded",
    [
      ["a", 3],
      ["b", 3],
    ],
    false,
  ],
  [
    "a zone with half of its required endpoints is overloaded",
    [
      ["a", 3],
      ["b", 1],
    ],
    true,
  ],
  ["a zone without endpoints is overloaded", [["a", 3]], true],
];
for (const [name, allocated, expected] of loads)
  test(name, () => assert.equal(isOverloaded(new Map(allocated), halves), expected));

test("with a traffic distribution every ready endpoint is hinted for its own zone, also in unchanged slices", () => {
  const desired = [{ addressType: "IPv4", ports: [], endpoints: endpoints("a b! ?") }];
  const created = withOwnZones(planSlices(desired, [], 10), []);
  assert.equal(hintsOf(created.create[0]!.endpoints), "a - ");
  const slice = { addressType: "IPv4", ports: [], endpoints: desired[0]!.endpoints } as unknown as SeenSlice;
  const changed = withOwnZones(planSlices(desired, [slice], 10), [slice]);
  assert.equal(hintsOf(changed.update[0]!.endpoints), "a - ");
  const hinted = { ...slice, endpoints: changed.update[0]!.endpoints } as unknown as SeenSlice;
  assert.deepEqual(withOwnZones(planSlices(desired, [hinted], 10), [hinted]).update, []);
});
