// Feature gates that delegate to the container runtime: its events instead of lists, and its metrics instead
// of the agent's own. Runtimes that lack either are used as without the gates.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type Cluster, type PodHome, needsCluster, podHome, startCluster, until } from "#kit";

interface Figures {
  readonly pods: {
    readonly podRef: { readonly name: string };
    readonly cpu?: { readonly usageCoreNanoSeconds?: number };
    readonly memory?: { readonly workingSetBytes?: number };
    readonly containers: { readonly name: string; readonly memory?: { readonly workingSetBytes?: number } }[];
  }[];
}

describe("metrics and events of the runtime", needsCluster(), () => {
  let cluster: Cluster;
  let home: PodHome;
  before(async () => {
    cluster = await startCluster({
      agentConfig: { featureGates: { EventedPLEG: true, PodAndContainerStatsFromCRI: true } },
    });
    home = await podHome(cluster);
  });
  after(async () => {
    home?.stop();
    await cluster?.stop();
  });
  const ask = async (path: string): Promise<string> =>
    (await cluster.apiserver.call("GET", `/api/v1/nodes/${cluster.nodeName}/proxy${path}`)).body;

  test("a container's exit is detected, whether by an event or by a list", async () => {
    const name = await home.script("exit 3");
    const { status } = await home.ended(name);
    assert.equal(status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 3);
  });

  test("the summary has the runtime's statistics of a pod and its containers", async () => {
    const name = await home.script("while :; do :; done");
    const found = await until("the pod uses processor time", async () => {
      const { pods } = JSON.parse(await ask("/stats/summary")) as Figures;
      const pod = pods.find(({ podRef }) => podRef.name === name);
      return (pod?.cpu?.usageCoreNanoSeconds ?? 0) > 0 && (pod?.containers.length ?? 0) > 0 && pod;
    });
    assert.ok((found.memory?.workingSetBytes ?? 0) > 0);
    assert.ok((found.containers[0]?.memory?.workingSetBytes ?? 0) > 0);
  });

  test("container metrics come from the runtime; machine metrics are unchanged", async () => {
    const text = await ask("/metrics/cadvisor");
    assert.match(text, /^machine_cpu_cores\{/m);
    assert.doesNotMatch(text, /^container_scrape_error/m);
  });
});
