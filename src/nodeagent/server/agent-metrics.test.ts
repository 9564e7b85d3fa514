import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "#api";
import { createMetrics, systemClock, virtualClock } from "#base";
import { type ContainerRuntime, fakeRuntime } from "#cri";
import { dialects } from "#dialect";
import { inject } from "#http";
import type { PodRegistry, WorkingPod } from "../interfaces.ts";
import { agentMetrics, measuredRequests, measuredRuntime } from "./agent-metrics.ts";

const { orch } = dialects;

test("calls to the runtime are counted, timed and their errors counted", async () => {
  const metrics = createMetrics();
  const clock = virtualClock();
  const fake = fakeRuntime({ clock });
  const runtime: ContainerRuntime = measuredRuntime(fake, metrics, orch, clock);
  await runtime.listPodSandboxes();
  await runtime.listPodSandboxes();
  await assert.rejects(runtime.startContainer("nope"));
  await runtime.runPodSandbox({ metadata: { name: "p", uid: "u", namespace: "n" } }, "kata");
  fake.faults.fail("RunPodSandbox", new Error("no room"));
  await assert.rejects(runtime.runPodSandbox({ metadata: { name: "q", uid: "v", namespace: "n" } }, "kata"));
  const text = metrics.expose();
  assert.match(text, /^nodeagent_runtime_operations_total\{operation_type="list_podsandbox"\} 2$/m);
  assert.match(text, /^nodeagent_runtime_operations_errors_total\{operation_type="start_container"\} 1$/m);
  assert.match(text, /^nodeagent_run_podsandbox_duration_seconds_count\{runtime_handler="kata"\} 2$/m);
  assert.match(text, /^nodeagent_run_podsandbox_errors_total\{runtime_handler="kata"\} 1$/m);
  assert.match(
    text,
    /^nodeagent_started_pods_total 2\n[^]*nodeagent_started_pods_errors_total 1|^nodeagent_started_pods_errors_total 1\n[^]*nodeagent_started_pods_total 2$/m,
  );
  assert.match(
    text,
    /^nodeagent_runtime_operations_duration_seconds_count\{operation_type="list_podsandbox"\} 2$/m,
  );
});

test("requests are counted by the first component of their path", async () => {
  const metrics = createMetrics();
  const handle = measuredRequests(
    metrics,
    orch,
    systemClock,
  )("readwrite", () => Promise.resolve({ status: 200, headers: {} }));
  for (const path of ["/pods", "/exec/a/b/c", "/wp-admin"])
    await inject(handle, { method: "GET", path, headers: {} });
  for (const method of ["A1", "A2"]) await inject(handle, { method, path: "/pods", headers: {} });
  const text = metrics.expose();
  assert.match(text, /^nodeagent_http_requests_total\{.*method="other",path="pods",.*\} 2$/m);
  for (const [path, long] of [
    ["pods", "false"],
    ["exec", "true"],
    ["other", "false"],
  ]) {
    assert.match(
      text,
      new RegExp(
        `^nodeagent_http_requests_total\\{long_running="${long}",method="GET",path="${path}",server_type="readwrite"\\} 1$`,
        "m",
      ),
    );
    assert.match(
      text,
      new RegExp(
        `^nodeagent_http_inflight_requests\\{long_running="${long}",method="GET",path="${path}",server_type="readwrite"\\} 0$`,
        "m",
      ),
    );
  }
});

test("pods and containers are counted on each scrape", () => {
  const metrics = createMetrics();
  const pod = (phase: string, annotations: object = {}): Pod =>
    ({
      metadata: { uid: phase, annotations },
      spec:
        phase === "Running"
          ? {
              ephemeralContainers: [{}],
              volumes: [
                { name: "a", emptyDir: {} },
                { name: "b", configMap: {} },
              ],
            }
          : {},
      status: { phase },
    }) as unknown as Pod;
  const registry = {
    pods: () => [
      pod("Running"),
      pod("Failed"),
      pod("Pending", { [orch.names.annotations.configSource]: "file" }),
    ],
    containers: (uid: string) => (uid === "Running" ? [{ state: "running" }, { state: "exited" }] : []),
    sinceRelist: () => 1000,
  } as unknown as PodRegistry;
  let working: WorkingPod[] = [{ lifecycle: "sync", config: "desired", static: "true" }];
  agentMetrics({
    metrics,
    clock: virtualClock(6000),
    dialect: orch,
    nodeName: "n1",
    version: "v1.2.3",
    registry,
    working: () => working,
    mirrors: () => 3,
    mounted: () => new Map([["a", {}]]),
    gates: [{ name: "NodeAgentTracing", stage: "BETA", enabled: true }],
  });
  const text = metrics.expose();
  for (const line of [
    'nodeagent_active_pods{static="false"} 1',
    'nodeagent_active_pods{static="true"} 1',
    'nodeagent_desired_pods{static="false"} 2',
    "nodeagent_running_pods 1",
    'nodeagent_running_containers{container_state="exited"} 1',
    'nodeagent_node_name{node="n1"} 1',
    "nodeagent_pleg_last_seen_seconds 5",
    "nodeagent_mirror_pods 3",
    "nodeagent_managed_ephemeral_containers 1",
    'nodeagent_working_pods{config="desired",lifecycle="sync",static="true"} 1',
    `volume_manager_total_volumes{plugin_name="${orch.names.volumes.pluginPrefix}empty-dir",state="actual_state_of_world"} 1`,
    `volume_manager_total_volumes{plugin_name="${orch.names.volumes.pluginPrefix}configmap",state="desired_state_of_world"} 1`,
    'orch_feature_enabled{name="NodeAgentTracing",stage="BETA"} 1',
  ]) {
    assert.ok(text.includes(`${line}\n`), line);
  }
  assert.match(text, /^process_resident_memory_bytes [1-9]/m);
  assert.match(text, /^process_virtual_memory_bytes [1-9]/m);
  working = [];
  assert.doesNotMatch(
    metrics.expose(),
    /^nodeagent_working_pods\{/m,
    "terminated pods are not reported any more",
  );
});
