import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "#apiserver";
import { createLog, silentLog, virtualClock } from "#base";
import { type AnyObject, eventRecorder, kinds } from "#client";

const now = Date.UTC(2030, 0, 1);
const podNamed = (name: string): AnyObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default", uid: name, creationTimestamp: null },
});
const pod = podNamed("web");

for (const form of ["core", "events"] as const)
  test(`in the ${form} form a repeated event is counted, a different one is separate, and a deleted one is recreated`, async () => {
    await using server = await startServer({ store: "memory" });
    const { client } = server;
    const events = client.of(kinds.events);
    const recorder = eventRecorder({
      client,
      clock: virtualClock(now),
      log: silentLog,
      component: "mine",
      form,
    });
    const written = async (): Promise<string[]> =>
      (await events.list({ namespace: "default" })).items
        .map(
          ({ note, series, deprecatedCount, reportingController }) =>
            `${note} ${series?.count ?? deprecatedCount ?? 1} ${reportingController}`,
        )
        .toSorted();
    for (const note of ["a", "b", "a", "a"]) recorder.event(pod, "Normal", "Tried", note);
    await recorder.sent();
    assert.deepEqual(await written(), ["a 3 mine", "b 1 mine"]);
    await events.deleteMany({ namespace: "default" });
    recorder.event(pod, "Normal", "Tried", "a");
    await recorder.sent();
    assert.deepEqual(await written(), ["a 4 mine"]);
  });

test("events of several components about one object at the same time are all kept", async () => {
  await using server = await startServer({ store: "memory" });
  const { client } = server;
  const clock = virtualClock(now);
  const recorders = ["one", "two", "three"].map((component) =>
    eventRecorder({ client, clock, log: silentLog, component }),
  );
  for (let round = 0; round < 2; round++)
    for (const recorder of recorders) {
      recorder.event(pod, "Normal", "Tried", "a");
      await recorder.sent();
    }
  const { items } = await client.of(kinds.events).list({ namespace: "default" });
  assert.deepEqual(
    items
      .map(({ reportingController, deprecatedCount }) => `${reportingController} ${deprecatedCount}`)
      .toSorted(),
    ["one 2", "three 2", "two 2"],
  );
});

test("an event in the newer group names its instance as component-suffix", async () => {
  await using server = await startServer({ store: "memory" });
  const { client } = server;
  const clock = virtualClock(now);
  const recorder = eventRecorder({
    client,
    clock,
    log: silentLog,
    component: "mine",
    host: "h1",
    form: "events",
  });
  recorder.event(pod, "Normal", "Tried", "a");
  await recorder.sent();
  const { items } = await client.of(kinds.events).list({ namespace: "default" });
  assert.deepEqual(
    items.map((event) => event.reportingInstance),
    ["mine-h1"],
  );
});

test("a message is truncated to the server's limit, and events per object are rate limited", async () => {
  await using server = await startServer({ store: "memory" });
  const { client } = server;
  const clock = virtualClock(now);
  const recorder = eventRecorder({ client, clock, log: silentLog, component: "mine", form: "events" });
  for (let at = 0; at < 40; at++) recorder.event(pod, "Normal", "Tried", at + "n".repeat(2000));
  recorder.event(podNamed("other"), "Normal", "Tried", "short");
  await recorder.sent();
  const { items } = await client.of(kinds.events).list({ namespace: "default" });
  assert.deepEqual([items.length, Math.max(...items.map(({ note }) => note?.length ?? 0))], [26, 1024]);
  recorder.stop();
});

test("an event rejected by a terminating namespace is not logged as an error", async () => {
  const lines: string[] = [];
  const log = createLog({ sink: { write: (line) => void lines.push(line), flush: () => undefined } });
  await using server = await startServer({ store: "memory" });
  const { client } = server;
  const recorder = eventRecorder({ client, clock: virtualClock(now), log, component: "mine" });
  const { apiVersion, kind, metadata } = pod;
  recorder.event({ apiVersion, kind, metadata: { ...metadata, namespace: "gone" } }, "Normal", "Tried", "a");
  await recorder.sent();
  assert.deepEqual(lines, []);
});
