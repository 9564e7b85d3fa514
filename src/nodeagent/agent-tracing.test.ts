import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog, virtualClock } from "#base";
import { fakeRuntime } from "#cri";
import { dialects } from "#dialect";
import type { Call } from "#http";
import type { Span } from "#tracing";
import { agentTracing } from "./agent-tracing.ts";
import { podOf } from "./managers/managers.fixture.ts";

function begin(samplingRatePerMillion: number) {
  const clock = virtualClock();
  const sent: Span[] = [];
  const tracing = agentTracing({
    dialect: dialects.orch,
    clock,
    log: silentLog,
    nodeName: "n1",
    configuration: { samplingRatePerMillion },
    exporter: { ended: (span) => void sent.push(span), close: async () => undefined },
  });
  return { tracing, sent, runtime: tracing.runtime(fakeRuntime({ clock })) };
}
const call = { method: "GET", path: "/pods", protocol: "1.1", headers: {} } as unknown as Call;

test("runtime calls are child spans of the pod sync that makes them, or root spans", async () => {
  const { tracing, sent, runtime } = begin(1_000_000);
  await tracing.sync(podOf("a", [{ name: "c" }]), () => runtime.version());
  await runtime.listImages();
  const [inside, sync, alone] = sent;
  assert.deepEqual(
    sent.map(({ name }) => name),
    ["runtime.v1.RuntimeService/Version", "syncPod", "runtime.v1.ImageService/ListImages"],
  );
  assert.equal(inside!.parentId, sync!.id);
  assert.equal(alone!.parentId, "");
  assert.equal(sync!.attributes["orch.pod.uid"], "a");
});

test("the span of a failing call is marked as failed", async () => {
  const { sent, runtime } = begin(1_000_000);
  await assert.rejects(runtime.containerStatus("none"));
  assert.equal(sent[0]!.failed, true);
});

test("the span of a request has its status code", async () => {
  const { tracing, sent } = begin(1_000_000);
  await tracing.requests(async () => ({ status: 200, headers: {} }))(call);
  assert.equal(sent[0]!.name, "/pods");
  assert.equal(sent[0]!.attributes["http.status_code"], 200);
});

test("spans that are not sampled are not exported", async () => {
  const { tracing, sent, runtime } = begin(0);
  await tracing.sync(podOf("a", [{ name: "c" }]), () => runtime.version());
  await tracing.requests(async () => ({ status: 200, headers: {} }))(call);
  assert.deepEqual(sent, []);
});
