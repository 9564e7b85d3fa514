import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openSqlite } from "./sqlite.ts";
import { storeSpace } from "./stats.ts";

const folder = mkdtempSync(join(tmpdir(), "orch-stats-"));
after(() => rmSync(folder, { recursive: true }));
const of = (bytes: number): Uint8Array => new Uint8Array(bytes);

test("the space of an open store is reported by resource, largest first", async () => {
  const dir = join(folder, "store");
  const store = await openSqlite({ dir });
  const put = (key: string, bytes: number | null) =>
    store.write({ key: `/registry/${key}`, value: bytes === null ? null : of(bytes), expect: "any" });
  await put("pods/default/a", 100);
  await put("pods/default/a", 300);
  await put("pods/default/b", 200);
  await put("pods/default/b", null);
  await put("example.com/widgets/default/w", 1000);
  const { resources, fileBytes } = await storeSpace(dir);
  await store.close();
  assert.deepEqual(resources, [
    {
      resource: "example.com/widgets",
      objects: 1,
      bytes: 1000,
      largestBytes: 1000,
      oldVersions: 0,
      oldBytes: 0,
    },
    // Replaced: 100 bytes; deleted: 200 bytes and the deletion marker.
    { resource: "pods", objects: 1, bytes: 300, largestBytes: 300, oldVersions: 3, oldBytes: 300 },
  ]);
  assert.ok(fileBytes > 0);
});

test("compacted versions are not counted", async () => {
  const dir = join(folder, "compacted");
  const store = await openSqlite({ dir });
  for (const bytes of [100, 200, 300])
    await store.write({ key: "/registry/pods/default/a", value: of(bytes), expect: "any" });
  await store.compact((await store.status()).revision);
  await store.close();
  const { resources } = await storeSpace(dir);
  assert.deepEqual(
    resources.map(({ objects, bytes, oldVersions }) => [objects, bytes, oldVersions]),
    [[1, 300, 0]],
  );
});

test("the error for a directory without a store names it", async () => {
  await assert.rejects(storeSpace(join(folder, "none")), /there is no store in .*none/);
});
