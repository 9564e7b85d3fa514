import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodStatus } from "#api";
import { ApiError, silentLog, virtualClock } from "#base";
import type { ApiClient } from "#client";
import { samplePod } from "../pod.fixture.ts";
import { statusWriter } from "./writer.ts";

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

function setUp(answer: (patch: { status: PodStatus }) => Promise<void> = async () => undefined) {
  const clock = virtualClock();
  const sent: PodStatus[] = [];
  const deleted: unknown[] = [];
  const resource = {
    patch: async (_: string, __: string, patch: { status: PodStatus }) => {
      sent.push(patch.status);
      await answer(patch);
      return { metadata: { resourceVersion: String(10 * sent.length) } };
    },
    delete: async (_: string, parameters: unknown) => void deleted.push(parameters),
  };
  const complained: string[] = [];
  const log = { ...silentLog, error: (message: string) => void complained.push(message) };
  const writer = statusWriter({
    client: { of: () => resource } as unknown as ApiClient,
    clock,
    log,
    signal: new AbortController().signal,
  });
  return { clock, sent, deleted, complained, writer };
}
const pod = samplePod({}, {}, { phase: "Pending" });

test("an unchanged status is not sent", async () => {
  const { sent, writer } = setUp();
  writer.write(pod, { phase: "Pending" });
  await settled();
  assert.deepEqual(sent, []);
});

test("a change is sent once, and later patches contain only new changes", async () => {
  const { sent, writer } = setUp();
  writer.write(pod, { phase: "Running", reason: "r" });
  await settled();
  writer.write(pod, { phase: "Running", reason: "r" });
  writer.write(pod, { phase: "Running", reason: "s" });
  await settled();
  assert.deepEqual(sent, [{ phase: "Running", reason: "r" }, { reason: "s" }]);
});

test("while a request is in flight, only the newest pending status is kept", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let first = true;
  const { sent, writer } = setUp(() => {
    const wait = first ? promise : Promise.resolve();
    first = false;
    return wait;
  });
  for (const reason of ["a", "b", "c", "d"]) {
    writer.write(pod, { phase: "Running", reason });
    await settled();
  }
  resolve();
  await writer.settled("u");
  assert.deepEqual(sent, [{ phase: "Running", reason: "a" }, { reason: "d" }]);
});

test("an unavailable server is retried until it responds", async () => {
  let away = 3;
  const { clock, sent, writer } = setUp(async () => {
    if (away-- > 0) throw new Error("connection refused");
  });
  writer.write(pod, { phase: "Running" });
  for (let i = 0; i < 10; i++) {
    await settled();
    await clock.advance(1000);
  }
  assert.equal(sent.length, 4);
  assert.equal(writer.published(pod).phase, "Running");
});

const otherUid = {
  causes: [{ reason: "FieldValueInvalid", message: "field is immutable", field: "metadata.uid" }],
};
for (const [name, error, complaints] of [
  ["a write for a deleted pod", new ApiError(404, "NotFound", "no"), 0],
  ["a write that conflicts with another pod of the same name", new ApiError(409, "Conflict", "no"), 0],
  ["a write whose uid precondition fails", new ApiError(422, "Invalid", "no", otherUid), 0],
  ["a rejected status", new ApiError(422, "Invalid", "no"), 1],
] as const) {
  test(`${name} is not retried`, async () => {
    const { clock, sent, complained, writer } = setUp(() => Promise.reject(error));
    writer.write(pod, { phase: "Running" });
    for (let i = 0; i < 10; i++) {
      await settled();
      await clock.advance(5000);
    }
    assert.deepEqual([sent.length, complained.length], [1, complaints]);
    await writer.settled("u");
  });
}

test("removal waits for the pending status and is guarded by the uid", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { deleted, writer } = setUp(() => promise);
  writer.write(pod, { phase: "Succeeded" });
  const removing = writer.remove(pod);
  await settled();
  assert.deepEqual(deleted, []);
  resolve();
  await removing;
  assert.deepEqual(deleted, [{ namespace: "n", graceSeconds: 0, uid: "u" }]);
});

test("fields changed by another writer are restored when seen in a later object", async () => {
  const { sent, writer } = setUp();
  const at = (resourceVersion: string, status: PodStatus) => samplePod({}, { resourceVersion }, status);
  const times = { lastProbeTime: null, lastTransitionTime: null };
  const own = { ...times, type: "Ready", status: "True" };
  const foreign = { ...times, type: "x/mine", status: "True" };
  writer.write(at("1", { phase: "Pending" }), { phase: "Running", conditions: [own, foreign] });
  await settled();
  sent.length = 0;
  const changed = { phase: "Running", conditions: [own, { ...foreign, status: "False" }] };
  for (const seen of [
    at("1", { phase: "Pending" }),
    at("10", changed),
    at("11", changed),
    at("12", { ...changed, phase: "Failed" }),
  ])
    writer.restore(seen);
  await settled();
  assert.deepEqual(sent, []);
  writer.restore(
    at("13", {
      phase: "Pending",
      message: "m",
      conditions: [{ ...own, status: "False", reason: "r" }, foreign],
    }),
  );
  await settled();
  assert.deepEqual(sent, [
    { phase: "Running", message: null, conditions: [{ reason: null, ...own }] },
  ] as never);
});

test("addresses are replaced as lists", async () => {
  const { sent, writer } = setUp();
  writer.write(pod, { phase: "Pending", hostIPs: [{ ip: "192.0.2.1" }], podIPs: [{ ip: "10.0.0.1" }] });
  await settled();
  writer.write(pod, { phase: "Pending", hostIPs: [{ ip: "192.0.2.2" }], podIPs: [{ ip: "10.0.0.1" }] });
  await settled();
  assert.deepEqual(sent.slice(1), [
    {
      hostIPs: [{ ip: "192.0.2.2" }, { ip: "192.0.2.1", $patch: "delete" }],
      "$setElementOrder/hostIPs": [{ ip: "192.0.2.2" }],
    },
  ]);
});
