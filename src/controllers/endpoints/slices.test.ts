import assert from "node:assert/strict";
import { test } from "node:test";
import type { Endpoint } from "#api";
import { type SeenSlice, planSlices } from "./slices.ts";

const endpoint = (uid: string): Endpoint => ({
  addresses: [uid],
  conditions: { ready: true },
  targetRef: { uid },
});
const slice = (name: string, uids: string[], ports: object[] | null = []): SeenSlice =>
  ({ metadata: { name }, addressType: "IPv4", ports, endpoints: uids.map(endpoint) }) as unknown as SeenSlice;
const wanted = (...uids: string[]) => [{ addressType: "IPv4", ports: [], endpoints: uids.map(endpoint) }];
const shown = (plan: ReturnType<typeof planSlices>) => ({
  create: plan.create.map(({ endpoints }) => endpoints.length),
  update: plan.update.map(({ slice: { metadata }, endpoints }) => `${metadata.name} ${endpoints.length}`),
  remove: plan.remove.map(({ metadata }) => metadata.name),
});

const cases: [name: string, uids: string[], existing: SeenSlice[], expected: object][] = [
  ["slices that are up to date are left alone", [], [], { create: [0], update: [], remove: [] }],
  ["what is right is left alone", ["a"], [slice("s", ["a"])], { create: [], update: [], remove: [] }],
  [
    "new endpoints fill a slice with room",
    ["a", "b"],
    [slice("s", ["a"])],
    { create: [], update: ["s 2"], remove: [] },
  ],
  [
    "endpoints that do not fit get new slices",
    ["a", "b", "c", "d", "e"],
    [],
    { create: [2, 2, 1], update: [], remove: [] },
  ],
  [
    "slices that became empty are deleted",
    ["a"],
    [slice("s", ["a"]), slice("t", ["b"])],
    { create: [], update: [], remove: ["t"] },
  ],
  [
    "slices that are written anyway are filled up first",
    ["a", "c", "d"],
    [slice("s", ["a", "b"]), slice("t", ["c"])],
    { create: [], update: ["s 2"], remove: [] },
  ],
  [
    "endpoints that fit in no single slice get a new one",
    ["a", "b", "c"],
    [slice("s", ["a"])],
    { create: [2], update: [], remove: [] },
  ],
  [
    "slices of other ports are deleted",
    ["a"],
    [slice("s", ["a"], [{ name: "x", port: 1, protocol: "TCP" }])],
    { create: [1], update: [], remove: ["s"] },
  ],
];
for (const [name, uids, existing, expected] of cases)
  test(name, () => assert.deepEqual(shown(planSlices(wanted(...uids), existing, 2)), expected));
