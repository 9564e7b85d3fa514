import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openStore, type StoreChoice } from "./open.ts";

const dir = mkdtempSync(join(tmpdir(), "store-"));
const cases: [name: string, choice: StoreChoice, survives: boolean][] = [
  ["memory", { memory: true }, false],
  ["a directory", { dir: join(dir, "deep", "store") }, true],
];
for (const [name, choice, survives] of cases) {
  test(`a store in ${name} ${survives ? "survives" : "does not survive"} being closed`, async () => {
    const first = await openStore(choice);
    await first.write({ key: "a", value: Buffer.from("1"), expect: "absent" });
    await first.close();
    const second = await openStore(choice);
    assert.equal((await second.read({ prefix: "" })).entries.length, survives ? 1 : 0);
    await second.close();
  });
}
test("a store in etcd is opened by its endpoints", async () => {
  const store = await openStore({
    etcd: {
      endpoints: ["http://127.0.0.1:1"],
      deadlines: { connectMilliseconds: 100, readMilliseconds: 200 },
    },
  });
  await assert.rejects(store.read({ key: "a" }));
  await store.close();
  rmSync(dir, { recursive: true });
});
