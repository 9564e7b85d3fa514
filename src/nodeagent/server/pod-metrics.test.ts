import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics, virtualClock } from "#base";
import { dialects } from "#dialect";
import { on } from "../harness.fixture.ts";
import { uidOf } from "../pod.ts";
import { samplePod } from "../pod.fixture.ts";
import type { PodCgroups } from "../interfaces.ts";
import { createPodMetrics } from "./pod-metrics.ts";

function setUp() {
  const clock = virtualClock(Date.parse("2030-01-01T00:00:10Z"));
  const metrics = createMetrics();
  const recorder = createPodMetrics(metrics, dialects.orch, clock);
  const has = (...lines: string[]): void => {
    const text = metrics.expose();
    for (const line of lines) assert.ok(text.includes(`nodeagent_${line}\n`), `${line} in\n${text}`);
  };
  return { clock, recorder, has };
}

test("a pod's start is timed since it was first seen, and since its creation without image pulls", async () => {
  const { clock, recorder, has } = setUp();
  const pod = samplePod({}, { creationTimestamp: "2030-01-01T00:00:06Z" });
  recorder.added(pod);
  await clock.advance(1000);
  const over = recorder.acting("u", "syncing");
  recorder.pulled("u", 3000);
  await clock.advance(4000);
  over();
  recorder.running(pod);
  recorder.running(pod);
  has(
    "pod_start_duration_seconds_sum 5",
    "pod_start_duration_seconds_count 1",
    "pod_start_sli_duration_seconds_sum 6",
    "pod_worker_start_duration_seconds_sum 1",
  );
  has('pod_worker_duration_seconds_sum{operation_type="create"} 4', "containers_per_pod_count_sum 1");
  recorder.acting("u", "syncing")();
  recorder.acting("u", "terminating")();
  has(
    'pod_worker_duration_seconds_count{operation_type="sync"} 1',
    'pod_worker_duration_seconds_count{operation_type="kill"} 1',
  );
});

test("a pod that ran before the agent started does not count as a start", () => {
  const { recorder, has } = setUp();
  const pod = samplePod({}, {}, { phase: "Running" });
  recorder.added(pod);
  recorder.running(pod);
  has("pod_start_duration_seconds_count 0");
});

test("cgroup operations are timed by operation", async () => {
  const { recorder, has } = setUp();
  const inner: PodCgroups = {
    ensure: async () => "/g",
    release: async () => undefined,
    podUids: async () => new Set<string>(),
  };
  const groups = recorder.cgroups(inner);
  await groups.ensure(samplePod());
  await groups.ensure(samplePod());
  await groups.release("u");
  await groups.ensure(samplePod());
  has(
    'cgroup_manager_duration_seconds_count{operation_type="create"} 2',
    'cgroup_manager_duration_seconds_count{operation_type="update"} 1',
  );
  has('cgroup_manager_duration_seconds_count{operation_type="destroy"} 1');
});

test("relists, status writes and housekeeping are counted", () => {
  const { recorder, has } = setUp();
  recorder.relisted(20, 1000);
  recorder.written(500);
  recorder.cleared(2, 1);
  recorder.orphan();
  recorder.preempted("cpu");
  recorder.evicted("emptydirfs.limit");
  recorder.eventStreamOpened(true);
  recorder.eventLatency(250);
  recorder.discarded();
  recorder.fellBack();
  has("evented_pleg_connection_latency_seconds_sum 0.25", "pleg_discard_events 1");
  has("lifecycle_handler_http_fallbacks_total 1");
  has(
    'evictions{eviction_signal="emptydirfs.limit"} 1',
    "evented_pleg_connection_success_count 1",
    "evented_pleg_connection_error_count 0",
  );
  has(
    "pleg_relist_duration_seconds_sum 0.02",
    "pleg_relist_interval_seconds_sum 1",
    "pod_status_sync_duration_seconds_sum 0.5",
  );
  has(
    "orphan_pod_cleaned_volumes 2",
    "orphan_pod_cleaned_volumes_errors 1",
    "orphaned_runtime_pods_total 1",
    'preemptions{preemption_signal="cpu"} 1',
  );
});

test("started, failed and orphaned pods are counted", async () => {
  const { recorder, has } = setUp();
  await on({ podMetrics: recorder }, async (h) => {
    const container = { name: "main", image: "busybox:1", command: ["sleep", "1000"] };
    h.run({
      metadata: { name: "good" },
      spec: {
        initContainers: [{ name: "first", image: "busybox:1", command: ["sh", "-c", "exit 0"] }],
        containers: [container],
      },
    });
    h.run({
      metadata: { name: "bad" },
      spec: { containers: [{ ...container, envFrom: [{ configMapRef: { name: "absent" } }] }] },
    });
    await h.pass(5);
    has(
      'started_containers_total{container_type="container"} 2',
      'started_containers_total{container_type="init_container"} 1',
    );
    has(
      'started_containers_errors_total{code="CreateContainerConfigError",container_type="container"} 1',
      "pod_start_duration_seconds_count 1",
    );
    assert.deepEqual(h.pods.working(), [
      { lifecycle: "sync", config: "desired", static: "false" },
      { lifecycle: "sync", config: "desired", static: "false" },
    ]);
  });
});

test("a pod restarted under its uid is counted, static pods separately", async () => {
  const { recorder, has } = setUp();
  has('restarted_pods_total{static=""} 0', 'restarted_pods_total{static="true"} 0');
  const annotations = { [dialects.orch.names.annotations.configSource]: "file" };
  await on({ podMetrics: recorder }, async (h) => {
    const containers = [{ name: "main", image: "busybox:1", command: ["sleep", "1000"] }];
    const spec = { containers, terminationGracePeriodSeconds: 5 };
    const pods = [
      h.run({ metadata: { name: "static", annotations }, spec }),
      h.run({ metadata: { name: "other" }, spec }),
    ];
    await h.pass(2);
    for (const pod of pods) h.pods.drop(uidOf(pod));
    await h.pass(1);
    for (const pod of pods) h.pods.set(pod);
    await h.pass(20);
    has('restarted_pods_total{static=""} 1', 'restarted_pods_total{static="true"} 1');
  });
});
