import assert from "node:assert/strict";
import { test } from "node:test";
import { type VirtualClock, virtualClock } from "#base";
import { type ApiClient, kinds } from "#client";
import { dialects } from "#dialect";
import { addNode, withScheduler } from "../cluster.fixture.ts";
import { NodeInfo, type SeenNode, type SeenPod } from "../node-info.ts";
import { type BindVolumesOptions, bindVolumes } from "./bind-volumes.ts";

const dialect = dialects.orch;
const { selectedNode, bindCompleted } = dialect.names.annotations;

interface Waiting {
  readonly clock: VirtualClock;
  /** The claim, whose volume is to be provisioned. */
  readonly claim: { annotations: Record<string, string>; volumeName?: string };
  readonly nodes: Map<string, NodeInfo>;
  isPresent: boolean;
  failure: string;
  /** Lets a second pass. */
  readonly pass: () => Promise<void>;
}

/** Starts to bind a pod on node n1 with a claim for which a volume is to be provisioned. */
function provisioning(): Waiting {
  const clock = virtualClock();
  const node = {
    metadata: { name: "n1", labels: { zone: "1" } },
    spec: {},
    status: {},
  } as unknown as SeenNode;
  const state: Waiting = {
    clock,
    claim: { annotations: {} },
    nodes: new Map([["n1", new NodeInfo(node)]]),
    isPresent: true,
    failure: "",
    pass: async () => {
      for (let step = 0; step < 10; step++) await clock.advance(100);
    },
  };
  const claim = () => {
    const { annotations, volumeName } = state.claim;
    return { metadata: { name: "data", namespace: "n", annotations }, spec: { volumeName } };
  };
  const client = {
    dialect,
    of: () => ({
      patch: async (
        _name: string,
        _type: string,
        patch: { metadata: { annotations: Record<string, string> } },
      ) => {
        ({ annotations: state.claim.annotations } = patch.metadata);
        return claim();
      },
    }),
  } as unknown as ApiClient;
  const terms = [{ matchExpressions: [{ key: "zone", operator: "In", values: ["2"] }] }];
  const volume = (name: string) =>
    name === ""
      ? undefined
      : { metadata: { name }, spec: { nodeAffinity: { required: { nodeSelectorTerms: terms } } } };
  const options = {
    client,
    clock,
    signal: new AbortController().signal,
    volumes: { claim, volume },
    nodes: state.nodes,
    isPresent: () => state.isPresent,
  } as unknown as BindVolumesOptions;
  const pod = { metadata: { name: "p", namespace: "n" } } as unknown as SeenPod;
  void bindVolumes(options, pod, "n1", { bind: [], provision: ["data"] }).catch(
    (error: Error) => (state.failure = error.message),
  );
  return state;
}

const changes: [name: string, change: (state: Waiting) => unknown, failure: string][] = [
  [
    "whose provisioner has given the node up",
    ({ claim }) => (claim.annotations = {}),
    'provisioning failed for PVC "data"',
  ],
  ["after its deletion", (state) => (state.isPresent = false), "pod does not exist any more"],
  ["after its node was deleted", ({ nodes }) => nodes.delete("n1"), 'node "n1" not found'],
  [
    "that its node cannot reach",
    ({ claim }) => {
      claim.volumeName = "v";
      claim.annotations[bindCompleted] = "yes";
    },
    `pv "v" node affinity doesn't match node "n1"`,
  ],
];
for (const [name, change, failure] of changes)
  test(`a pod does not wait for a volume ${name}`, async () => {
    const state = provisioning();
    await state.pass();
    assert.equal(state.claim.annotations[selectedNode], "n1");
    assert.equal(state.failure, "");
    change(state);
    await state.pass();
    assert.equal(state.failure, failure);
  });

test("pods that share a claim are placed where its volume can be reached", () =>
  withScheduler(async ({ client, until }) => {
    const namespace = "default";
    const { noProvisioner } = dialect.names.volumes;
    const requests = { storage: "1Gi" };
    const accessModes = ["ReadWriteOnce"];
    await client.of(kinds.storageClasses).create({
      metadata: { name: "local" },
      provisioner: noProvisioner,
      volumeBindingMode: "WaitForFirstConsumer",
    });
    const volumes = client.of(kinds.persistentVolumes);
    const names = ["n1", "n2", "n3"];
    for (const name of names) {
      await addNode(client, name);
      const matchExpressions = [{ key: dialect.names.labels.hostname, operator: "In", values: [name] }];
      await client
        .of(kinds.nodes)
        .patch(name, "merge", { metadata: { labels: { [dialect.names.labels.hostname]: name } } });
      await volumes.create({
        metadata: { name },
        spec: {
          accessModes,
          capacity: requests,
          storageClassName: "local",
          local: { path: "/disk" },
          nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
        },
      });
      await volumes.patch(name, "merge", { status: { phase: "Available" } }, { subresource: "status" });
    }
    const claims = client.of(kinds.persistentVolumeClaims);
    await claims.create({
      metadata: { name: "c", namespace },
      spec: { accessModes, storageClassName: "local", resources: { requests } },
    });
    const pods = client.of(kinds.pods);
    const both = ["a", "b"].map((name) =>
      pods.create({
        metadata: { name, namespace },
        spec: {
          containers: [{ name: "c", image: "i", resources: {} }],
          volumes: [{ name: "data", persistentVolumeClaim: { claimName: "c" } }],
        },
      }),
    );
    await Promise.all(both);
    const reserved = async () => (await volumes.list({})).items.filter(({ spec }) => spec.claimRef);
    const [chosen] = await until(async () => {
      const found = await reserved();
      return found.length > 0 && found;
    });
    const volumeName = chosen!.metadata.name!;
    await claims.patch(
      "c",
      "merge",
      { metadata: { annotations: { [bindCompleted]: "yes" } }, spec: { volumeName } },
      { namespace },
    );
    const nodes = await until(async () => {
      const placed = (await pods.list({ namespace })).items.map(({ spec }) => spec.nodeName);
      return placed.every(Boolean) && placed;
    });
    assert.deepEqual(nodes, [volumeName, volumeName]);
    assert.equal((await reserved()).length, 1);
    const { items: events } = await client.of(kinds.events).list({ namespace });
    assert.deepEqual(
      events.filter(({ type }) => type !== "Normal").map(({ note }) => note),
      [],
    );
  }));
