import assert from "node:assert/strict";
import { test } from "node:test";
import { kinds } from "#client";
import { addNode, addPod, withScheduler } from "./cluster.fixture.ts";

test("attempts, queue sizes and cache sizes are exported under the names of the original", () =>
  withScheduler(async ({ client, metrics, until }) => {
    const has = (line: string) => until(async () => metrics().split("\n").includes(line));
    await addNode(client, "n1", "1");
    await addPod(client, "gated", "1m", { schedulingGates: [{ name: "example.com/wait" }] });
    await addPod(client, "big", "1500m");
    await until(
      async () =>
        (await client.of(kinds.pods).get("big", { namespace: "default" })).status.conditions?.length,
    );
    await addPod(client, "a");
    for (const line of [
      'scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 1',
      'scheduler_schedule_attempts_total{profile="default-scheduler",result="unschedulable"} 1',
      'scheduler_queue_incoming_pods_total{event="PodAdd",queue="active"} 2',
      'scheduler_queue_incoming_pods_total{event="ScheduleAttemptFailure",queue="unschedulable"} 1',
      'scheduler_pending_pods{queue="gated"} 1',
      'scheduler_pending_pods{queue="unschedulable"} 1',
      'scheduler_unschedulable_pods{plugin="NodeResourcesFit",profile="default-scheduler"} 1',
      'scheduler_scheduler_cache_size{type="nodes"} 1',
      'scheduler_scheduler_cache_size{type="pods"} 1',
      "scheduler_pod_scheduling_attempts_count 1",
      'scheduler_pod_scheduling_duration_seconds_count{attempts="1"} 1',
      "scheduler_preemption_attempts_total 1",
    ])
      assert.ok(await has(line), line);
  }));

test("extension points of scheduling, preemption and binding are measured", () =>
  withScheduler(async ({ client, metrics, until }) => {
    const has = (line: string) => until(async () => metrics().split("\n").includes(line));
    const point = (name: string, status: string): string =>
      `scheduler_framework_extension_point_duration_seconds_count{extension_point="${name}",profile="default-scheduler",status="${status}"} 1`;
    await addNode(client, "n1", "1");
    await addPod(client, "big", "1500m");
    for (const [name, status] of [
      ["PreFilter", "Success"],
      ["Filter", "Success"],
      ["PostFilter", "Unschedulable"],
    ] as const)
      assert.ok(await has(point(name, status)), name);
    await addPod(client, "a");
    for (const name of ["Reserve", "PreBind", "Bind"]) assert.ok(await has(point(name, "Success")), name);
    assert.ok(await has('scheduler_goroutines{operation="binding"} 0'));
    for (const name of ["NodeName", "NodeResourcesFit"])
      assert.ok(
        await has(
          `scheduler_plugin_evaluation_total{extension_point="Filter",plugin="${name}",profile="default-scheduler"} 2`,
        ),
        name,
      );
  }));
