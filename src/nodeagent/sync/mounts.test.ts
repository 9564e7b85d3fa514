import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container } from "#api";
import { samplePod } from "../pod.fixture.ts";
import type { SyncContext } from "./context.ts";
import { containerMounts } from "./mounts.ts";

/** Returns the sub path that a container with this expression mounts. */
async function subPathOf(subPathExpr: string): Promise<string> {
  let found = "";
  const context = {
    volumes: { subPath: async (_: unknown, __: unknown, { path }: { path: string }) => (found = path) },
    files: { writeHosts: async () => "/hosts" },
    settings: {},
  } as unknown as SyncContext;
  const container = { name: "c", volumeMounts: [{ name: "v", mountPath: "/v", subPathExpr }] };
  await containerMounts(
    context,
    samplePod(),
    container as unknown as Container,
    {
      volumes: new Map([["v", { hostPath: "/volume" }]]),
      environment: new Map([
        ["A", "a"],
        ["EMPTY", ""],
      ]),
      podIps: [],
      hostsText: "",
    },
    new AbortController().signal,
  );
  return found;
}

test("variables of a sub path are expanded", async () =>
  assert.equal(await subPathOf("$(A)/$$(A)/b"), "a/$(A)/b"));
const missing: [expression: string, message: string][] = [
  ["x/$(EMPTY)", "missing value for EMPTY"],
  ["$(Z)/$(A)/$(B)/$(Z)", "missing value for B, Z"],
];
for (const [expression, message] of missing)
  test(`the sub path ${expression} is refused: ${message}`, () =>
    assert.rejects(subPathOf(expression), { name: "ConfigError", message }));
