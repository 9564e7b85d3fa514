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
  ["a pod in the host user namespace has no restrictions", { hostUsers: true, ...everything, volumes }, []],
  ["a pod without hostUsers has no restrictions", { ...everything, volumes }, []],
  [
    "a pod with a user namespace may use only some volume types",
    { hostUsers: false, volumes },
    ["spec.volumes[1]"],
  ],
  [
    "a pod with a user namespace may not use host namespaces",
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
