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

test("calls to the runtime belong to the sync of their pod, or stand alone", async () => {
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

test("a call that fails is told as failed", async () => {
  const { sent, runtime } = begin(1_000_000);
  await assert.rejects(runtime.containerStatus("none"));
  assert.equal(sent[0]!.failed, true);
});

test("a request has a span with its answer", async () => {
  const { tracing, sent } = begin(1_000_000);
  await tracing.requests(async () => ({ status: 200, headers: {} }))(call);
  assert.equal(sent[0]!.name, "/pods");
  assert.equal(sent[0]!.attributes["http.status_code"], 200);
});

test("what is not sampled is not told", async () => {
  const { tracing, sent, runtime } = begin(0);
  await tracing.sync(podOf("a", [{ name: "c" }]), () => runtime.version());
  await tracing.requests(async () => ({ status: 200, headers: {} }))(call);
  assert.deepEqual(sent, []);
});
