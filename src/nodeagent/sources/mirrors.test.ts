import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "#api";
import { silentLog, virtualClock } from "#base";
import type { ApiClient } from "#client";
import { dialects } from "#dialect";
import { samplePod } from "../pod.fixture.ts";
import { type Mirrors, mirrors } from "./mirrors.ts";

const dialect = dialects.orch;
const { configHash, configSource, configMirror } = dialect.names.annotations;
const staticPod = (hash: string): Pod =>
  samplePod({}, { uid: hash, annotations: { [configHash]: hash, [configSource]: "file" } });
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** Fakes a server that holds mirror pods and reports changes of them like a watch. */
function setUp(pods: () => readonly Pod[], ready = () => true) {
  const log: string[] = [];
  const stop = new AbortController();
  let count = 0;
  const held = new Map<string, Pod>();
  const resource = {
    get: async () => ({ metadata: { uid: "node-uid" } }),
    create: async (pod: Pod) => {
      const uid = `m${++count}`;
      const stored = { ...pod, metadata: { ...pod.metadata, uid } };
      held.set(uid, stored);
      log.push(
        `create ${uid} ${pod.metadata.annotations?.[configMirror]} owned by ${pod.metadata.ownerReferences?.[0]?.uid}`,
      );
      return stored;
    },
    delete: async (_: string, { uid }: { uid: string }) => {
      log.push(`delete ${uid}`);
      const gone = held.get(uid);
      held.delete(uid);
      if (gone) made.seen(gone, true);
    },
  };
  const made: Mirrors = mirrors({
    client: { dialect, of: () => resource } as unknown as ApiClient,
    clock: virtualClock(),
    log: silentLog,
    nodeName: "n1",
    pods,
    ready,
    onMirror: () => undefined,
  });
  const following = made.follow(stop.signal);
  return { log, mirror: made, end: async () => (stop.abort(), following) };
}

test("mirror pods are created, replaced and deleted with their static pods", async () => {
  let pods = [staticPod("h1")];
  const { log, mirror, end } = setUp(() => pods);
  await settled();
  assert.deepEqual(log, ["create m1 h1 owned by node-uid"]);
  assert.equal(mirror.of(pods[0]!)?.metadata.uid, "m1");
  pods = [staticPod("h2")];
  mirror.wake();
  await settled();
  assert.deepEqual(log.slice(1), ["delete m1", "create m2 h2 owned by node-uid"]);
  assert.equal(mirror.of(staticPod("h1")), undefined);
  pods = [];
  mirror.wake();
  await settled();
  assert.deepEqual(log.slice(3), ["delete m2"]);
  await end();
});

test("the mirror of a changed static pod stays until the old pod has ended", async () => {
  let pods = [staticPod("h1")];
  const { log, mirror, end } = setUp(() => pods);
  await settled();
  pods = [staticPod("h1"), staticPod("h2")];
  mirror.wake();
  await settled();
  assert.deepEqual(log.slice(1), []);
  assert.equal(mirror.of(pods[0]!)?.metadata.uid, "m1");
  pods = [staticPod("h2")];
  mirror.wake();
  await settled();
  assert.deepEqual(log.slice(1), ["delete m1", "create m2 h2 owned by node-uid"]);
  await end();
});

test("a mirror deleted by a user is created again", async () => {
  const pod = staticPod("h1");
  const { log, mirror, end } = setUp(() => [pod]);
  await settled();
  mirror.seen(mirror.of(pod)!, true);
  await settled();
  assert.deepEqual(log, ["create m1 h1 owned by node-uid", "create m2 h1 owned by node-uid"]);
  await end();
});

test("mirrors are not created before all sources have synced, nor for pods of the API server", async () => {
  let ready = false;
  const { log, mirror, end } = setUp(
    () => [samplePod()],
    () => ready,
  );
  const old = samplePod({}, { uid: "old", name: "old", annotations: { [configMirror]: "h0" } });
  mirror.seen(old, false);
  mirror.wake();
  await settled();
  assert.deepEqual(log, []);
  ready = true;
  mirror.wake();
  await settled();
  assert.deepEqual(log, ["delete old"]);
  await end();
});
