import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodCache } from "./containers/pod-cache.ts";
import { registryOf } from "./registry.ts";

test("the sandbox of a pod is the newest ready one", () => {
  const seen = new Map([
    [
      "a",
      [
        { id: "new", ready: true },
        { id: "old", ready: true },
      ],
    ],
    [
      "b",
      [
        { id: "new", ready: false },
        { id: "old", ready: true },
      ],
    ],
    ["ended", [{ id: "new", ready: false }]],
  ]);
  const cache = { cached: (uid: string) => ({ sandboxes: seen.get(uid) }) } as unknown as PodCache;
  const registry = registryOf({ entries: new Map(), cache, mirrorOf: () => undefined });
  assert.deepEqual(
    ["a", "b", "ended"].map((uid) => registry.sandboxId(uid)),
    ["new", "old", undefined],
  );
});
