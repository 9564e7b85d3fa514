import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "#api";
import { conflict, timeOfMillis, virtualClock } from "#base";
import { kinds } from "#client";
import { dialects } from "#dialect";
import { type StartController, until, withController } from "./cluster.fixture.ts";
import { nodeLifecycleController, betaLabelsFor, unknownConditions, taintsFor } from "./node-lifecycle.ts";

const conditions = (is: Record<string, string>) =>
  Object.entries(is).map(([type, status]) => ({ type, status }));
const node = (is: Record<string, string>, spec: object = {}): Node =>
  ({
    metadata: { name: "n", creationTimestamp: "born" },
    spec,
    status: { conditions: conditions(is) },
  }) as unknown as Node;
const containers = [{ name: "c", image: "i" }];
const mine = { key: "example.com/mine", effect: "NoSchedule" };

const taints: [name: string, node: Node, expected: string[]][] = [
  ["a ready node has no taints", node({ Ready: "True" }), []],
  [
    "a node that is not ready repels and evicts pods",
    node({ Ready: "False" }),
    ["not-ready:NoSchedule", "not-ready:NoExecute"],
  ],
  [
    "an unresponsive node is unreachable",
    node({ Ready: "Unknown" }),
    ["unreachable:NoSchedule", "unreachable:NoExecute"],
  ],
  ["a node without a status has no condition taints", node({}), []],
  [
    "pressure repels new pods",
    node({ Ready: "True", MemoryPressure: "True", DiskPressure: "False" }),
    ["memory-pressure:NoSchedule"],
  ],
  [
    "a cordoned node repels new pods",
    node({ Ready: "True" }, { unschedulable: true }),
    ["unschedulable:NoSchedule"],
  ],
  [
    "taints of others are kept, outdated ones are removed",
    node({ Ready: "True" }, { taints: [mine, { key: "node.orch.io/not-ready", effect: "NoExecute" }] }),
    ["mine:NoSchedule"],
  ],
];
for (const [name, given, expected] of taints) {
  // prettier-ignore
  test(name, () => assert.deepEqual(taintsFor(given, dialects.orch, "now").map(({ key, effect }) => `${key.split("/")[1]}:${effect}`), expected));
}

test("a taint keeps the time it was added", () => {
  const taint = { key: "node.orch.io/not-ready", effect: "NoExecute", timeAdded: "then" };
  assert.deepEqual(taintsFor(node({ Ready: "False" }, { taints: [taint] }), dialects.orch, "now"), [
    taint,
    { key: taint.key, effect: "NoSchedule", timeAdded: "now" },
  ]);
});

test("an unresponsive node's conditions become unknown, and all others are unchanged", () => {
  const given = node({ Ready: "True", MemoryPressure: "Unknown", Mine: "True" });
  const found = unknownConditions(given, dialects.orch, "now");
  assert.deepEqual(found.map(({ type, status, reason }) => [type, status, reason]), [
    ["Ready", "Unknown", "NodeStatusUnknown"],
    ["MemoryPressure", "Unknown", undefined],
    ["Mine", "True", undefined],
    ["DiskPressure", "Unknown", "NodeStatusNeverUpdated"],
    ["PIDPressure", "Unknown", "NodeStatusNeverUpdated"],
  ]); // prettier-ignore
});

test("a node whose lease is not renewed becomes unknown and is tainted; one that renews it stays ready", async () => {
  const clock = virtualClock(Date.now());
  await withController(
    nodeLifecycleController,
    async ({ client }) => {
      const nodes = client.of(kinds.nodes);
      const renew = async (name: string): Promise<void> => {
        const renewTime = timeOfMillis(clock.now()).replace("Z", ".000000Z");
        await client.of(kinds.leases).patch(
          name,
          "apply",
          {
            apiVersion: "coordination.orch.io/v1",
            kind: "Lease",
            metadata: { name },
            spec: { renewTime },
          },
          { namespace: "orch-node-lease", fieldManager: "t", force: true },
        );
      };
      for (const name of ["silent", "alive"]) {
        await nodes.create({ metadata: { name }, spec: {} });
        await renew(name);
        await nodes.patch(
          name,
          "merge",
          { status: { conditions: conditions({ Ready: "True" }) } },
          { subresource: "status" },
        );
        await until(async () => !(await nodes.get(name)).spec.taints);
      }
      const tainted = await until(async () => {
        await renew("alive");
        await clock.advance(5000);
        const { spec, status } = await nodes.get("silent");
        return (
          status.conditions?.find(({ type }) => type === "Ready")?.status === "Unknown" &&
          spec.taints?.length === 2 &&
          spec.taints
        );
      });
      // prettier-ignore
      assert.deepEqual(tainted.map(({ key }) => key), ["node.orch.io/unreachable", "node.orch.io/unreachable"]);
      const alive = await nodes.get("alive");
      assert.equal(alive.spec.taints, undefined);
      assert.equal(alive.status.conditions?.[0]?.status, "True");
      await renew("silent");
      await nodes.patch(
        "silent",
        "merge",
        { status: { conditions: conditions({ Ready: "True" }) } },
        { subresource: "status" },
      );
      await until(async () => !(await nodes.get("silent")).spec.taints);
    },
    clock,
  );
});

test("pods of a silent node stay ready while the node changes before it is marked as unknown", async () => {
  const clock = virtualClock(Date.now());
  let conflicting = true;
  let conflicts = 0;
  const name = "changing";
  const start: StartController = (context) => {
    const of = ((kind: typeof kinds.nodes) => {
      const resource = context.client.of(kind);
      const patch: typeof resource.patch = async (...given) => {
        if (kind !== kinds.nodes || given[3]?.subresource !== "status" || !conflicting)
          return await resource.patch(...given);
        conflicts++;
        throw conflict({ group: "", resource: "nodes" }, name, "it has changed");
      };
      return Object.assign(Object.create(resource), { patch });
    }) as typeof context.client.of;
    const client = Object.assign(Object.create(context.client), { of });
    return nodeLifecycleController({ ...context, client });
  };
  await withController(
    start,
    async ({ client }) => {
      const ready = { status: { conditions: conditions({ Ready: "True" }) } };
      const status = { subresource: "status" };
      const target = { namespace: "default" };
      await client.of(kinds.nodes).create({ metadata: { name }, spec: {} });
      await client.of(kinds.nodes).patch(name, "merge", ready, status);
      const pod = { metadata: { name: "p", ...target }, spec: { nodeName: name, containers } };
      await client.of(kinds.pods).create(pod as never, target);
      await client.of(kinds.pods).patch("p", "merge", ready, { ...target, ...status });
      const isReady = async (): Promise<string | undefined> =>
        (await client.of(kinds.pods).get("p", target)).status.conditions?.find(({ type }) => type === "Ready")
          ?.status;
      // The second conflict shows that the round of the first one has ended.
      await until(async () => {
        await clock.advance(5000);
        return conflicts > 1;
      });
      assert.equal(await isReady(), "True");
      conflicting = false;
      await until(async () => {
        await clock.advance(5000);
        return (await isReady()) === "False";
      });
    },
    clock,
  );
});

test("pods are not evicted while no node is ready, and again once one is", async () => {
  const clock = virtualClock(Date.now());
  await withController(
    nodeLifecycleController,
    async ({ client }) => {
      const nodes = client.of(kinds.nodes);
      const say = async (name: string, ready: string): Promise<void> => {
        await nodes.patch(
          name,
          "merge",
          { status: { conditions: conditions({ Ready: ready }) } },
          { subresource: "status" },
        );
      };
      const expelled = async (name: string): Promise<boolean> =>
        (await nodes.get(name)).spec.taints?.some(({ effect }) => effect === "NoExecute") ?? false;
      for (const name of ["a", "b"]) {
        await nodes.create({ metadata: { name }, spec: {} });
        await say(name, "True");
        await until(async () => !(await nodes.get(name)).spec.taints);
      }
      await say("a", "False");
      await until(() => expelled("a"));
      await say("b", "False");
      await until(async () => !(await expelled("a")) && (await nodes.get("b")).spec.taints?.length === 1);
      assert.equal(await expelled("b"), false);
      await say("b", "True");
      await until(async () => {
        await clock.advance(10_000);
        return await expelled("a");
      });
    },
    clock,
  );
});

const { os, arch, betaOs, betaArch } = dialects.orch.names.labels;
const labelled: [name: string, labels: Record<string, string>, missing: Record<string, string>][] = [
  ["beta labels follow the stable ones", { [os]: "linux", [arch]: "arm64" }, { [betaOs]: "linux", [betaArch]: "arm64" }],
  ["labels with equal values are unchanged", { [os]: "linux", [betaOs]: "linux" }, {}],
  ["labels with other values are overwritten", { [os]: "linux", [betaOs]: "plan9" }, { [betaOs]: "linux" }],
  ["without a stable label nothing is set", { [betaArch]: "arm64" }, {}],
]; // prettier-ignore
for (const [name, labels, missing] of labelled)
  test(name, () => assert.deepEqual(betaLabelsFor(labels, dialects.orch), missing));

test("added and deleted nodes are recorded in events", () =>
  withController(nodeLifecycleController, async ({ client }) => {
    const nodes = client.of(kinds.nodes);
    const recorded = (reason: string) =>
      until(async () => {
        const { items } = await client.of(kinds.events).list({});
        return items.find((each) => each.reason === reason && each.regarding?.name === "n1")?.note;
      });
    await nodes.create({ metadata: { name: "n1" }, spec: {} });
    assert.equal(await recorded("RegisteredNode"), "Node n1 event: Registered Node n1 in Controller");
    await nodes.delete("n1");
    assert.equal(await recorded("RemovingNode"), "Node n1 event: Removing Node n1 from Controller");
  }));
