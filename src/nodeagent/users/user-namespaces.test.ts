import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Pod } from "#api";
import { namespaceMode } from "#cri";
import { userNamespaces } from "./user-namespaces.ts";

async function begin(t: TestContext, runtimeVersion = "v1.7.2") {
  const folder = await mkdtemp(join(tmpdir(), "orch-users-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const files = { folderOf: (uid: string) => join(folder, uid), podUids: () => readdir(folder) };
  const runtime = {
    version: async () => ({
      version: "v1",
      runtimeName: "containerd",
      runtimeVersion,
      runtimeApiVersion: "v1",
    }),
  };
  const make = () => userNamespaces({ files, runtime });
  const podOf = async (uid: string, hostUsers: boolean | undefined = false): Promise<Pod> => {
    await mkdir(join(folder, uid), { recursive: true });
    return { metadata: { uid }, spec: { hostUsers } } as unknown as Pod;
  };
  return { folder, make, podOf, users: make() };
}
const span = (number: number) => {
  const mapping = [{ hostId: number * 65_536, containerId: 0, length: 65_536 }];
  return { mode: namespaceMode.pod, uids: mapping, gids: mapping };
};

test("a pod with hostUsers uses the node's user namespace", async (t) => {
  const { users, podOf } = await begin(t);
  assert.deepEqual(await users.of(await podOf("a", true)), { mode: namespaceMode.node });
  assert.deepEqual(await users.of({ metadata: { uid: "b" }, spec: {} } as unknown as Pod), {
    mode: namespaceMode.node,
  });
});

test("each pod has its own stable ID range, stored like the kubelet's", async (t) => {
  const { users, podOf, folder } = await begin(t);
  const [a, b] = [await podOf("a"), await podOf("b")];
  assert.deepEqual([await users.of(a), await users.of(b)], [span(1), span(2)]);
  assert.deepEqual(await users.of(a), span(1));
  assert.equal(
    await readFile(join(folder, "a", "userns"), "utf8"),
    '{"uidMappings":[{"hostId":65536,"containerId":0,"length":65536}],"gidMappings":[{"hostId":65536,"containerId":0,"length":65536}]}',
  );
});

test("concurrent pods get different IDs", async (t) => {
  const { users, podOf } = await begin(t);
  const pods = await Promise.all(["a", "b", "c", "d"].map((uid) => podOf(uid)));
  const first = await Promise.all(pods.map(async (pod) => (await users.of(pod)).uids?.[0]?.hostId));
  assert.equal(new Set(first).size, 4);
});

test("pods keep their IDs across restarts, and IDs of removed pods are reused", async (t) => {
  const { users, podOf, make, folder } = await begin(t);
  await users.of(await podOf("a"));
  const b = await podOf("b");
  await users.of(b);
  await rm(join(folder, "a"), { recursive: true });
  const next = make();
  assert.deepEqual(await next.of(b), span(2));
  assert.deepEqual(await next.of(await podOf("c")), span(1));
});

for (const text of ['{"uidMappings":[],"gidMappings":[]}', '{"uidMappings":', "null"])
  test(`the mapping file ${text} is an error of the node, until it is removed`, async (t) => {
    const { users, podOf, folder } = await begin(t);
    await podOf("a");
    const b = await podOf("b");
    await writeFile(join(folder, "a", "userns"), text);
    await assert.rejects(users.of(b), /invalid user namespace configuration of pod a/);
    await rm(join(folder, "a"), { recursive: true });
    assert.deepEqual(await users.of(b), span(1));
  });

test("the range of a pod whose mapping file cannot be read is not given away", async (t) => {
  const { users, podOf, folder } = await begin(t);
  await podOf("a");
  await mkdir(join(folder, "a", "userns"));
  await assert.rejects(users.of(await podOf("b")), /EISDIR/);
});

test("a runtime without user namespace support is rejected", async (t) => {
  const { users, podOf } = await begin(t, "1.6.20~ds1");
  await assert.rejects(users.of(await podOf("a")), /containerd 1\.6\.20~ds1 has no user namespaces/);
  assert.deepEqual(await users.of(await podOf("b", true)), { mode: namespaceMode.node });
});
