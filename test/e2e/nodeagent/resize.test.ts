// Pods that change their CPU and memory while they run, on real containers: the kernel's limits change, and
// containers do not restart unless their policy requires it.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Pod } from "#api";
import { kinds } from "#client";
import { type Cluster, type PodHome, endsWhenTold, needsCluster, podHome, startCluster } from "#kit";

const gate = "--feature-gates=InPlacePodVerticalScaling=true";
interface Resources {
  readonly requests: Readonly<Record<string, string>>;
  readonly limits: Readonly<Record<string, string>>;
}
const small: Resources = {
  requests: { cpu: "50m", memory: "32Mi" },
  limits: { cpu: "100m", memory: "64Mi" },
};
const large: Resources = {
  requests: { cpu: "100m", memory: "48Mi" },
  limits: { cpu: "200m", memory: "96Mi" },
};
const idle = (resources: Resources): object => ({ ...endsWhenTold(), resources });
const only = ({ status }: Pod) => status?.containerStatuses?.[0];

describe("pods that change their resources", { concurrency: 4, ...needsCluster() }, () => {
  let cluster: Cluster;
  let home: PodHome;
  before(async () => {
    cluster = await startCluster({ apiserverFlags: [gate], agentFlags: [gate] });
    home = await podHome(cluster);
  });
  after(async () => {
    home?.stop();
    await cluster?.stop();
  });
  const resize = (name: string, resources: Resources) =>
    cluster.client
      .of(kinds.pods)
      .patch(
        name,
        "strategic",
        { spec: { containers: [{ name: "c", resources }] } },
        { namespace: home.namespace },
      );
  const resized = (name: string, { limits }: Resources) =>
    home.until(
      name,
      `has ${JSON.stringify(limits)}`,
      (pod) =>
        pod.status?.resize === undefined &&
        only(pod)?.resources?.limits?.["cpu"] === limits["cpu"] &&
        only(pod)?.resources?.limits?.["memory"] === limits["memory"],
    );
  /** Reads the kernel's limits inside the container: CPU quota per 100 ms, and bytes of memory. */
  const inside = async (name: string): Promise<string> =>
    (
      await home.exec(
        name,
        "sh",
        "-c",
        "cd /sys/fs/cgroup; if [ -e cpu.max ]; then cut -d' ' -f1 cpu.max; cat memory.max; else cat cpu/cpu.cfs_quota_us memory/memory.limit_in_bytes; fi",
      )
    )
      .trim()
      .split("\n")
      .join(" ");
  const bytes = (mebibytes: number): string => String(mebibytes * 1024 ** 2);

  test("kernel limits grow and shrink without a restart", async () => {
    const name = await home.create({ containers: [idle(small)] });
    const first = only(await home.ready(name));
    assert.deepEqual(first?.allocatedResources, small.requests);
    assert.equal(await inside(name), `10000 ${bytes(64)}`);
    await resize(name, large);
    const grown = only(await resized(name, large));
    assert.equal(await inside(name), `20000 ${bytes(96)}`);
    assert.deepEqual(grown?.allocatedResources, large.requests);
    await resize(name, small);
    const shrunk = only(await resized(name, small));
    assert.equal(await inside(name), `10000 ${bytes(64)}`);
    assert.deepEqual([shrunk?.restartCount, shrunk?.containerID], [0, first?.containerID]);
    const state = await readFile(join(cluster.agent.rootDir, "pod_status_manager_state"), "utf8");
    assert.ok(state.includes(home.get(name)!.metadata.uid!));
    await home.remove(name, 1);
  });

  test("a container whose resize policy requires it restarts with its new size", async () => {
    const resizePolicy = [{ resourceName: "memory", restartPolicy: "RestartContainer" }];
    const name = await home.create({
      containers: [{ ...idle(small), resizePolicy }],
      terminationGracePeriodSeconds: 60,
    });
    await home.ready(name);
    await resize(name, { ...small, limits: { ...small.limits, memory: "96Mi" } });
    const pod = await home.until(
      name,
      "runs again",
      (seen) => only(seen)?.restartCount === 1 && only(seen)?.state.running !== undefined,
    );
    assert.equal(only(pod)?.lastState.terminated?.exitCode, 0);
    assert.equal(await inside(name), `10000 ${bytes(96)}`);
    await home.remove(name, 1);
  });

  test("a resize beyond the node's capacity is infeasible, and the pod keeps running unchanged", async () => {
    const name = await home.create({ containers: [idle(small)] });
    await home.ready(name);
    await resize(name, {
      requests: { cpu: "1000", memory: "32Mi" },
      limits: { cpu: "1000", memory: "64Mi" },
    });
    const pod = await home.until(name, "is infeasible", ({ status }) => status?.resize === "Infeasible");
    assert.deepEqual(only(pod)?.allocatedResources, small.requests);
    assert.equal(await inside(name), `10000 ${bytes(64)}`);
    await resize(name, large);
    await resized(name, large);
    await home.remove(name, 1);
  });
});
