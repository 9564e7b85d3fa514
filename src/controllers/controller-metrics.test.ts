// Each controller exposes its metrics under their upstream names; this shows that they count.
import assert from "node:assert/strict";
import { test } from "node:test";
import { kinds } from "#client";
import { autoscalerController } from "./autoscaling/autoscaler.ts";
import { CidrPool } from "./cidr-pool.ts";
import { exposes, orUndefined, withTimedController } from "./cluster.fixture.ts";
import { cronJobController } from "./cron-job/cron-job.ts";
import { endpointSliceController } from "./endpoints/endpoint-slices.ts";
import { endpointSliceMirroringController } from "./endpoints/mirroring.ts";
import { changesOf } from "./endpoints/slice-metrics.ts";
import { garbageCollector } from "./garbage-collector.ts";
import { jobController } from "./job/job.ts";
import { nodeIpamController } from "./node-ipam.ts";
import { nodeLifecycleController } from "./node-lifecycle.ts";
import { podGcController } from "./pod-gc.ts";
import type { SeenPod } from "./pods.ts";
import { agesToYoungest, replicaSetController, replicationController } from "./replica-set.ts";
import { rootCaController } from "./root-ca.ts";
import { ttlAfterFinishedController } from "./ttl-after-finished.ts";

const namespace = "default";
const podSpec = { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] };

test("the job controller counts syncs, finished jobs, and pods with their finalizer and failure policy", () =>
  withTimedController(jobController, async (cluster) => {
    const { client, until } = cluster;
    const [jobs, pods] = [client.of(kinds.jobs), client.of(kinds.pods)];
    const podFailurePolicy = {
      rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [3] } }],
    };
    const template = { spec: podSpec };
    await jobs.create({ metadata: { name: "good", namespace }, spec: { template } } as never);
    await jobs.create({
      metadata: { name: "bad", namespace },
      spec: { template, completionMode: "Indexed", completions: 2, parallelism: 1, podFailurePolicy },
    } as never);
    const items = await until(async () => {
      const list = await pods.list({ namespace });
      return list.items.length === 2 && list.items;
    });
    for (const { metadata } of items) {
      const isGood = metadata.ownerReferences?.[0]?.name === "good";
      const terminated = { exitCode: 3, startedAt: null, finishedAt: null };
      const containerStatuses = [
        { name: "c", image: "i", imageID: "", ready: false, restartCount: 0, state: { terminated } },
      ];
      const status = isGood ? { phase: "Succeeded" } : { phase: "Failed", containerStatuses };
      await pods.patch(metadata.name!, "merge", { status }, { namespace, subresource: "status" });
    }
    await exposes(
      cluster,
      'job_controller_jobs_finished_total{completion_mode="NonIndexed",reason="",result="succeeded"} 1',
      'job_controller_jobs_finished_total{completion_mode="Indexed",reason="PodFailurePolicy",result="failed"} 1',
      'job_controller_job_pods_finished_total{completion_mode="NonIndexed",result="succeeded"} 1',
      'job_controller_job_pods_finished_total{completion_mode="Indexed",result="failed"} 1',
      'job_controller_pod_failures_handled_by_failure_policy_total{action="FailJob"} 1',
      'job_controller_terminated_pods_tracking_finalizer_total{event="add"} 2',
      'job_controller_terminated_pods_tracking_finalizer_total{event="delete"} 2',
      'job_controller_job_syncs_total{action="pods_created",completion_mode="Indexed",result="success"} 1',
    );
    const seconds = "job_controller_job_sync_duration_seconds_count";
    assert.equal(cluster.series(new RegExp(`^${seconds}.*pods_created.*Indexed.* 1$`)).length, 2);
  }));

test("the job controller counts finished indexes, created pods and jobs of other controllers", async () => {
  const gates = { JobBackoffLimitPerIndex: true, JobPodReplacementPolicy: true, JobManagedBy: true };
  const names = [
    "job_controller_job_finished_indexes_total",
    "job_controller_job_pods_creation_total",
    "job_controller_jobs_by_external_controller_total",
  ];
  const countWith = (given: Readonly<Record<string, boolean>>, wanted: readonly string[]) =>
    withTimedController(
      jobController,
      async (cluster) => {
        const { client, until } = cluster;
        const [jobs, pods] = [client.of(kinds.jobs), client.of(kinds.pods)];
        const template = { spec: podSpec };
        const indexed = {
          completionMode: "Indexed",
          completions: 2,
          parallelism: 2,
          backoffLimitPerIndex: 0,
        };
        await jobs.create({
          metadata: { name: "other", namespace },
          spec: { template, managedBy: "example.com/mine", suspend: true },
        } as never);
        await jobs.create({
          metadata: { name: "indexed", namespace },
          spec: { template, ...indexed },
        } as never);
        const items = await until(async () => {
          const list = await pods.list({ namespace });
          return list.items.length === 2 && list.items;
        });
        for (const [at, { metadata }] of items.entries())
          await pods.patch(
            metadata.name!,
            "merge",
            { status: { phase: at === 0 ? "Succeeded" : "Failed" } },
            { namespace, subresource: "status" },
          );
        await exposes(
          cluster,
          'job_controller_terminated_pods_tracking_finalizer_total{event="add"} 2',
          ...wanted,
        );
        if (wanted.length === 0)
          assert.deepEqual(
            cluster.series(/./).filter((line) => names.some((name) => line.startsWith(name))),
            [],
          );
      },
      given,
    );
  await countWith(gates, [
    'job_controller_job_finished_indexes_total{backoffLimit="perIndex",status="succeeded"} 1',
    'job_controller_job_finished_indexes_total{backoffLimit="perIndex",status="failed"} 1',
    'job_controller_job_pods_creation_total{reason="new",status="succeeded"} 2',
    'job_controller_jobs_by_external_controller_total{controller_name="example.com/mine"} 1',
  ]);
  await countWith({}, []);
});

test("the cron job controller measures how late a job is created", () =>
  withTimedController(cronJobController, async (cluster) => {
    await cluster.client.of(kinds.cronJobs).create({
      metadata: { name: "c", namespace },
      spec: { schedule: "* * * * *", suspend: false, jobTemplate: { spec: { template: { spec: podSpec } } } },
    } as never);
    const count = /^cronjob_controller_job_creation_skew_duration_seconds_count [1-9]/;
    await cluster.until(async () => cluster.series(count).length === 1);
  }));

test("the time from a job's expiry to its deletion is measured", () =>
  withTimedController([jobController, ttlAfterFinishedController], async (cluster) => {
    const { client, until } = cluster;
    const [jobs, pods] = [client.of(kinds.jobs), client.of(kinds.pods)];
    await jobs.create({
      metadata: { name: "j", namespace },
      spec: { ttlSecondsAfterFinished: 1, template: { spec: podSpec } },
    } as never);
    const pod = await until(async () => (await pods.list({ namespace })).items[0]);
    const at = { namespace, subresource: "status" };
    await pods.patch(pod.metadata.name!, "merge", { status: { phase: "Succeeded" } }, at);
    await exposes(cluster, "ttl_after_finished_controller_job_deletion_duration_seconds_count 1");
  }));

test("the age of pods chosen for deletion is compared with that of the youngest ready pod", () => {
  const pod = (second: number, ready: boolean): SeenPod =>
    ({
      metadata: { name: "p", creationTimestamp: `2030-01-01T00:00:0${second}Z` },
      status: { conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
    }) as never;
  const [old, middle, young, unready] = [pod(0, true), pod(4, true), pod(6, true), pod(7, false)];
  const now = Date.parse("2030-01-01T00:00:08Z");
  assert.deepEqual(agesToYoungest([unready, young, middle], [old, middle, young, unready], now), [1, 2]);
  assert.deepEqual(agesToYoungest([unready], [unready], now), []);
});

test("replica sets and replication controllers share one metric of the ages of deleted pods", () =>
  withTimedController([replicaSetController, replicationController], async (cluster) => {
    const { client, until } = cluster;
    const [pods, sets] = [client.of(kinds.pods), client.of(kinds.replicaSets)];
    const labels = { app: "a" };
    await sets.create({
      metadata: { name: "s", namespace },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: podSpec.containers } },
      },
    } as never);
    const items = await until(async () => {
      const list = await pods.list({ namespace });
      return list.items.length === 2 && list.items;
    });
    for (const { metadata } of items)
      await pods.patch(
        metadata.name!,
        "merge",
        { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } },
        { namespace, subresource: "status" },
      );
    await until(async () => (await sets.get("s", { namespace })).status.readyReplicas === 2);
    await sets.patch("s", "merge", { spec: { replicas: 1 } }, { namespace });
    await exposes(cluster, "replicaset_controller_sorting_deletion_age_ratio_count 1");
  }));

test("the root CA publisher counts and times syncs by status code", () =>
  withTimedController(
    (context) => rootCaController(context, "ca"),
    async (cluster) => {
      const count = (name: string): readonly string[] =>
        cluster.series(new RegExp(`^root_ca_cert_publisher_${name}\\{code="200"\\} [1-9]`));
      await cluster.until(
        async () => count("sync_total").length + count("sync_duration_seconds_count").length === 2,
      );
    },
  ));

test("the slices and endpoints of services are counted, and no longer when the service is deleted", () =>
  withTimedController(endpointSliceController, async (cluster) => {
    const { client } = cluster;
    const services = client.of(kinds.services);
    const labels = { app: "a" };
    await client.of(kinds.nodes).create({ metadata: { name: "n" } });
    await services.create({
      metadata: { name: "s", namespace },
      spec: { selector: labels, ports: [{ port: 80 }] },
    } as never);
    const pods = client.of(kinds.pods);
    await pods.create({
      metadata: { name: "p", namespace, labels },
      spec: { nodeName: "n", containers: podSpec.containers },
    } as never);
    const status = { phase: "Running", podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }] };
    await pods.patch("p", "merge", { status }, { namespace, subresource: "status" });
    const prefix = "endpoint_slice_controller";
    await exposes(
      cluster,
      `${prefix}_endpoints_desired 1`,
      `${prefix}_num_endpoint_slices 1`,
      `${prefix}_desired_endpoint_slices 1`,
      `${prefix}_endpoints_added_per_sync_sum 1`,
      `${prefix}_endpoints_removed_per_sync_sum 0`,
      `${prefix}_changes{operation="create"} 1`,
    );
    assert.notDeepEqual(cluster.series(/slices_changed_per_sync_sum\{topology="Disabled"\} [12]$/), []);
    assert.notDeepEqual(cluster.series(/^endpoint_slice_controller_syncs\{result="success"\} [1-9]/), []);
    await services.delete("s", { namespace });
    await exposes(cluster, `${prefix}_endpoints_desired 0`, `${prefix}_num_endpoint_slices 0`);
  }));

test("mirrored endpoints are counted, and addresses beyond the limit as skipped", () =>
  withTimedController(
    (context) => endpointSliceMirroringController(context, 1),
    async (cluster) => {
      const { client } = cluster;
      await client.of(kinds.services).create({
        metadata: { name: "s", namespace },
        spec: { ports: [{ port: 80 }] },
      } as never);
      await client.of(kinds.endpoints).create({
        metadata: { name: "s", namespace },
        subsets: [{ addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }], ports: [{ port: 80 }] }],
      });
      const prefix = "endpoint_slice_mirroring_controller";
      await exposes(
        cluster,
        `${prefix}_endpoints_desired 1`,
        `${prefix}_endpoints_added_per_sync_sum 1`,
        `${prefix}_changes{operation="create"} 1`,
      );
      const positive = (name: string) => cluster.series(new RegExp(`^${prefix}_${name} [1-9]`)).length;
      assert.equal(positive("addresses_skipped_per_sync_sum") + positive("endpoints_sync_duration_count"), 2);
    },
  ));

test("changed endpoints of slices are counted by address", () => {
  const at = (address: string, ready: boolean) => ({ addresses: [address], conditions: { ready } });
  const slice = (...endpoints: object[]) => ({ endpoints }) as never;
  const changes = changesOf({
    create: [{ addressType: "IPv4", ports: [], endpoints: [at("1", true)] }],
    update: [
      {
        slice: slice(at("2", true), at("3", true), at("4", true)),
        endpoints: [at("2", true), at("3", false)],
      },
    ],
    remove: [slice(at("5", true), at("6", true))],
  });
  assert.deepEqual(changes, { added: 1, updated: 1, removed: 3 });
});

test("the ranges of nodes are counted", () =>
  withTimedController(
    (context) =>
      nodeIpamController(context, {
        clusterCidrs: ["10.0.0.0/22"],
        nodeMaskSizes: { ipv4: 24, ipv6: 64 },
        serviceCidrs: ["10.0.0.0/24"],
      }),
    async (cluster) => {
      const nodes = cluster.client.of(kinds.nodes);
      await nodes.create({ metadata: { name: "n" } });
      const series = (name: string, value: number): string =>
        `node_ipam_controller_${name}{clusterCIDR="10.0.0.0/22"} ${value}`;
      await exposes(
        cluster,
        series("cirdset_max_cidrs", 4),
        series("cidrset_usage_cidrs", 0.5),
        series("cidrset_cidrs_allocations_total", 2),
        series("cidrset_allocation_tries_per_request_sum", 1),
      );
      await nodes.delete("n");
      await exposes(cluster, series("cidrset_cidrs_releases_total", 1), series("cidrset_usage_cidrs", 0.25));
    },
  ));

test("a pool reports a range that overlaps several blocks", () => {
  const changes: unknown[] = [];
  const pool = new CidrPool("10.0.0.0/22", 24, {
    allocated: (count, tries) => changes.push(["allocated", count, tries]),
    released: (count) => changes.push(["released", count]),
    usage: (used) => changes.push(used),
  });
  pool.occupy("10.0.0.0/23");
  pool.take();
  pool.release("10.0.0.0/22");
  assert.deepEqual(changes, [["allocated", 2, undefined], 2, ["allocated", 1, 2], 3, ["released", 3], 0]);
});

test("nodes, their health and evictions are counted by zone", () =>
  withTimedController(
    (context) => nodeLifecycleController(context),
    async (cluster) => {
      const { client, until } = cluster;
      const nodes = client.of(kinds.nodes);
      const { names } = client.dialect;
      const labels = { [names.labels.region]: "r", [names.labels.zone]: "z" };
      const report = async (name: string, ready: string): Promise<unknown> =>
        await nodes.patch(
          name,
          "merge",
          { status: { conditions: [{ type: "Ready", status: ready, lastHeartbeatTime: null }] } },
          { subresource: "status" },
        );
      for (const name of ["a", "b"]) {
        await nodes.create({ metadata: { name, labels } });
        await report(name, "True");
      }
      const series = (name: string, value: number): string =>
        `node_collector_${name}{zone="r:\0:z"} ${value}`;
      await exposes(
        cluster,
        series("zone_size", 2),
        series("zone_health", 100),
        series("unhealthy_nodes_in_zone", 0),
        series("evictions_total", 0),
      );
      // Heartbeats keep `a` ready while the clock advances.
      await until(async () => {
        await report("a", "True");
        await report("b", "False");
        return cluster.series(/node_collector_evictions_total.* 1$/).length === 1;
      });
      await exposes(cluster, series("zone_size", 2));
      const count = /^node_collector_update_(node|all_nodes)_health_duration_seconds_count [1-9]/;
      await until(async () => cluster.series(count).length === 2);
    },
  ));

test("autoscalers count reconciliations by error", () =>
  withTimedController(
    (context) => autoscalerController(context),
    async (cluster) => {
      await cluster.client.of(kinds.horizontalPodAutoscalers).create({
        metadata: { name: "h", namespace },
        spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "no" } },
      });
      const labels = String.raw`\{action="none",error="internal"\} [1-9]`;
      const positive = (name: string): readonly string[] =>
        cluster.series(new RegExp(`^horizontal_pod_autoscaler_controller_${name}${labels}`));
      await cluster.until(
        async () =>
          positive("reconciliations_total").length +
            positive("reconciliation_duration_seconds_count").length ===
          2,
      );
    },
  ));

test("autoscalers count computations by type of metric", () =>
  withTimedController(
    (context) => autoscalerController(context),
    async (cluster) => {
      const { client } = cluster;
      const labels = { app: "a" };
      await client.of(kinds.deployments).create({
        metadata: { name: "d", namespace },
        spec: {
          replicas: 1,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: podSpec.containers } },
        },
      } as never);
      const metrics = [
        {
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
        },
      ];
      const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "d" };
      await client.of(kinds.horizontalPodAutoscalers).create({
        metadata: { name: "h", namespace },
        spec: { maxReplicas: 3, scaleTargetRef, metrics },
      });
      const name = "horizontal_pod_autoscaler_controller_metric_computation_total";
      const series = new RegExp(`^${name}\\{action="none",error="internal",metric_type="Resource"\\} [1-9]`);
      await cluster.until(async () => cluster.series(series).length === 1);
    },
  ));

test("pods force-deleted from out-of-service nodes are counted", () =>
  withTimedController(podGcController, async (cluster) => {
    const { client, until } = cluster;
    const pods = client.of(kinds.pods);
    const taint = { key: client.dialect.names.taints.outOfService, effect: "NoExecute" };
    await client.of(kinds.nodes).create({ metadata: { name: "n" }, spec: { taints: [taint] } });
    await pods.create({
      metadata: { name: "p", namespace },
      spec: { nodeName: "n", containers: podSpec.containers },
    } as never);
    await pods.delete("p", { namespace });
    await until(async () => (await orUndefined(pods.get("p", { namespace }))) === undefined);
    await exposes(
      cluster,
      "pod_gc_collector_force_delete_pods_total 1",
      "pod_gc_collector_force_delete_pod_errors_total 0",
    );
  }));

test("failures of the garbage collector to follow resources are counted", () =>
  withTimedController(garbageCollector, async (cluster) => {
    await exposes(cluster, "garbagecollector_controller_resources_sync_error_total 0");
  }));
