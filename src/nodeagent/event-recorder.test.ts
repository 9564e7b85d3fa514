import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics, silentLog, virtualClock } from "#base";
import { Unreachable, eventRecorder } from "#client";
import { dialects } from "#dialect";
import { eventMetrics } from "./event-metrics.ts";
import { fakeApi } from "./fake-api.fixture.ts";

const node = { kind: "Node", name: "n1", uid: "n1" };
const pod = (name: string) => ({
  kind: "Pod",
  apiVersion: "v1",
  namespace: "ns",
  name,
  uid: `uid-${name}`,
  fieldPath: "spec.containers{c}",
});

function setUp(
  limits: { queriesPerSecond?: number; burst?: number; queueSize?: number } = {},
  dialect = dialects.orch,
) {
  const clock = virtualClock(Date.UTC(2024, 0, 1));
  const api = fakeApi(dialect);
  const metrics = createMetrics();
  const recorder = eventRecorder({
    client: api.client,
    clock,
    log: silentLog,
    component: dialect.cli.agent,
    host: "n1",
    lossesRegarding: node,
    observer: eventMetrics(metrics, dialect),
    queriesPerSecond: 0,
    burst: 0,
    ...limits,
  });
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, api, metrics, recorder, settle };
}

test("an event is created with all fields of the core API", async () => {
  const { api, recorder, settle } = setUp();
  recorder.event(pod("a"), "Normal", "Started", "Started container c");
  await settle();
  const at = "2024-01-01T00:00:00Z";
  const event = api.bodies[0] as { metadata: { name: string } };
  assert.match(event.metadata.name, /^a\.[0-9a-f]{16}$/);
  assert.deepEqual(
    { ...event, metadata: { ...event.metadata, name: "" } },
    {
      kind: "Event",
      apiVersion: "v1",
      metadata: { name: "", namespace: "ns", creationTimestamp: null },
      involvedObject: pod("a"),
      reason: "Started",
      message: "Started container c",
      source: { component: "nodeagent", host: "n1" },
      firstTimestamp: at,
      lastTimestamp: at,
      count: 1,
      type: "Normal",
      eventTime: null,
      reportingComponent: "nodeagent",
      reportingInstance: "n1",
    },
  );
});

test("an event of the node is created in the default namespace, with the dialect's name of the agent", async () => {
  const { api, recorder, settle } = setUp({}, dialects.kubernetes);
  recorder.event(node, "Normal", "NodeReady", "Node n1 status is now: NodeReady");
  await settle();
  assert.deepEqual(api.requests, ["POST /api/v1/namespaces/default/events"]);
  assert.equal(
    (api.bodies[0] as { source: { component: string } }).source.component,
    dialects.kubernetes.cli.agent,
  );
});

test("a repeated event is counted by a patch, and is created again if it was deleted", async () => {
  const { api, clock, recorder, settle } = setUp();
  const recordAgain = async (): Promise<void> => {
    recorder.event(pod("a"), "Warning", "BackOff", "waits");
    await settle();
  };
  await recordAgain();
  await clock.advance(5000);
  await recordAgain();
  assert.match(api.requests[1]!, /^PATCH \/api\/v1\/namespaces\/ns\/events\/a\./);
  assert.deepEqual(api.bodies[1], { count: 2, lastTimestamp: "2024-01-01T00:00:05Z", message: "waits" });
  api.objects.clear();
  await recordAgain();
  assert.deepEqual(
    api.requests.slice(2).map((line) => line.split(" ", 1)[0]),
    ["PATCH", "POST"],
  );
  assert.equal((api.bodies.at(-1) as { count: number }).count, 3);
});

test("events that differ only in their message are aggregated after ten", async () => {
  const { api, recorder, settle } = setUp();
  for (let i = 0; i < 14; i++) {
    recorder.event(pod("a"), "Warning", "Unhealthy", `answer ${i}`);
    await settle();
  }
  const messages = [...api.objects.values()].map((event) => [event["message"], event["count"]]);
  assert.equal(messages.length, 10);
  assert.deepEqual(messages.at(-1), ["(combined from similar events): answer 13", 5]);
  const reporters = [...api.objects.values()].map((event) => event["reportingComponent"]);
  assert.deepEqual(new Set(reporters.slice(0, 9)).size, 1);
  assert.notEqual(reporters[0], "");
  assert.equal(reporters.at(-1), "", "an aggregated event has no reporting component");
});

test("events are limited per object: known events are counted later, new ones are dropped and reported", async () => {
  const { api, clock, metrics, recorder, settle } = setUp();
  for (let i = 0; i < 30; i++) {
    recorder.event(pod("a"), "Warning", `Reason${i % 25}`, "same");
    await settle();
  }
  assert.equal(api.requests.length, 25);
  recorder.event(pod("a"), "Warning", "Fresh", "same");
  assert.match(metrics.expose(), /nodeagent_events_dropped_total\{reason="object limit"\} 1/);
  await clock.advance(60_000);
  await settle();
  const summary = api.bodies.at(-1) as { reason: string; involvedObject: object; message: string };
  assert.deepEqual([summary.reason, summary.involvedObject], ["EventsDropped", node]);
  assert.match(summary.message, /^1 events/);
  await clock.advance(300_000);
  recorder.event(pod("a"), "Warning", "Reason0", "same");
  await settle();
  assert.equal(
    (api.bodies.at(-1) as { count: number }).count,
    3,
    "the withheld repetition is counted with the next",
  );
});

test("the rate is limited: a burst is sent at once, the rest over time", async () => {
  const { api, clock, recorder, settle } = setUp({ queriesPerSecond: 2, burst: 3 });
  for (let i = 0; i < 8; i++) recorder.event(pod(`p${i}`), "Normal", "Started", "x");
  await settle();
  assert.equal(api.requests.length, 3);
  await clock.advance(1000);
  await settle();
  assert.equal(api.requests.length, 5);
});

test("without a rate limit the burst is ignored: everything is sent at once", async () => {
  const { api, recorder, settle } = setUp({ queriesPerSecond: 0, burst: 1 });
  for (let i = 0; i < 8; i++) recorder.event(pod(`p${i}`), "Normal", "Started", "x");
  await settle();
  assert.equal(api.requests.length, 8);
});

test("a full queue drops the newest events and reports that", async () => {
  const { api, clock, metrics, recorder, settle } = setUp({ queriesPerSecond: 1, burst: 1, queueSize: 2 });
  for (let i = 0; i < 5; i++) recorder.event(pod(`p${i}`), "Normal", "Started", "x");
  await settle();
  assert.match(metrics.expose(), /events_dropped_total\{reason="queue full"\} 3/);
  for (let second = 0; second < 90; second++) await clock.advance(1000);
  await settle();
  assert.equal((api.bodies.at(-1) as { reason: string }).reason, "EventsDropped");
});

test("events are retried while the server is unreachable, but not after a rejection", async () => {
  const { api, clock, metrics, recorder, settle } = setUp();
  api.answer = () => new Unreachable("gone");
  recorder.event(pod("a"), "Normal", "Started", "x");
  await settle();
  await clock.advance(15_000);
  assert.ok(api.requests.length >= 2);
  api.answer = () => undefined;
  await clock.advance(10_000);
  await settle();
  assert.equal(api.objects.size, 1);
  api.answer = () => ({ status: 403, body: { reason: "Forbidden", message: "no" } });
  const before = api.requests.length;
  recorder.event(pod("b"), "Normal", "Started", "x");
  await settle();
  await clock.advance(60_000);
  assert.equal(api.requests.length, before + 1);
  assert.match(metrics.expose(), /events_dropped_total\{reason="refused"\} 1/);
});

test("a stopped recorder ignores events and does not count them as dropped", async () => {
  const { api, metrics, recorder, settle } = setUp({ queueSize: 1 });
  recorder.stop();
  for (let i = 0; i < 3; i++) recorder.event(pod(`p${i}`), "Normal", "Started", "x");
  await settle();
  assert.deepEqual(api.requests, []);
  assert.doesNotMatch(metrics.expose(), /events_dropped_total\{/);
});
