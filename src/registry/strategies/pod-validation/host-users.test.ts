import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodSpec } from "#api";
import { hostUsersErrors } from "./host-users.ts";

const everything = { hostNetwork: true, hostPID: true, hostIPC: true };
const volumes = [
  { name: "a", emptyDir: {} },
  { name: "b", hostPath: { path: "/" } },
];
const cases: [name: string, spec: object, fields: readonly string[]][] = [
  ["a pod that shares the node's users may have anything", { hostUsers: true, ...everything, volumes }, []],
  ["so may one that says nothing", { ...everything, volumes }, []],
  [
    "one with users of its own keeps to volumes that are its own",
    { hostUsers: false, volumes },
    ["spec.volumes[1]"],
  ],
  [
    "and to its own namespaces",
    { hostUsers: false, ...everything },
    ["spec.hostNetwork", "spec.HostPID", "spec.HostIPC"],
  ],
];
for (const [name, spec, fields] of cases)
  test(name, () =>
    assert.deepEqual(
      hostUsersErrors(spec as PodSpec, "spec").map(({ field }) => field),
      fields,
    ),
  );
