import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { MemoryStore } from "#store";
import { settingsFor } from "../library/settings.ts";
import { limitToCount, ownAddresses } from "./own-addresses.ts";

const cases: [
  name: string,
  present: readonly string[] | undefined,
  own: string,
  count: number,
  all: readonly string[],
][] = [
  ["unusable endpoints are replaced", undefined, "10.0.0.2", 2, ["10.0.0.2"]],
  ["a server adds itself", ["10.0.0.3"], "10.0.0.2", 2, ["10.0.0.2", "10.0.0.3"]],
  [
    "a server that is already listed changes nothing",
    ["10.0.0.3", "10.0.0.2"],
    "10.0.0.2",
    2,
    ["10.0.0.3", "10.0.0.2"],
  ],
  [
    "the address after the server's own is removed",
    ["10.0.0.1", "10.0.0.3"],
    "10.0.0.2",
    2,
    ["10.0.0.1", "10.0.0.2"],
  ],
  ["the order wraps around", ["10.0.0.1", "10.0.0.2"], "10.0.0.3", 2, ["10.0.0.2", "10.0.0.3"]],
  ["several addresses are removed", ["10.0.0.1", "10.0.0.2", "10.0.0.3"], "10.0.0.3", 1, ["10.0.0.3"]],
];
for (const [name, present, own, count, all] of cases) {
  test(name, () => assert.deepEqual(limitToCount(present, own, count), all));
}

test("--apiserver-count takes effect with --endpoint-reconciler-type=master-count", async () => {
  const store = new MemoryStore();
  const flags = ["--endpoint-reconciler-type=master-count", "--apiserver-count=2"];
  const settings = settingsFor(dialects.orch, { store: "memory", flags });
  const { whileRunning } = ownAddresses(settings, store, "/registry", true);
  assert.deepEqual(await whileRunning(["10.0.0.1", "10.0.0.2"]), ["10.0.0.2", "127.0.0.1"]);
  await store.close();
});
