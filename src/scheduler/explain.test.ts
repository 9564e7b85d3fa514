import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "#apiserver";
import { silentLog, systemClock } from "#base";
import { kinds } from "#client";
import { explainPod } from "./explain.ts";

test("all reasons of all nodes are reported", async () => {
  await using server = await startServer({
    store: "memory",
    flags: ["--disable-admission-plugins=ServiceAccount,TaintNodesByCondition"],
  });
  const { client } = server;
  const options = { client, clock: systemClock, log: silentLog };
  const namespace = "default";
  assert.deepEqual(await explainPod(options, namespace, "p"), { state: "absent" });
  const nodes = client.of(kinds.nodes);
  await nodes.create({ metadata: { name: "n" }, spec: { unschedulable: true } });
  const allocatable = { cpu: "1", memory: "1Gi", pods: "10" };
  await nodes.patch("n", "merge", { status: { allocatable } }, { subresource: "status" });
  await client.of(kinds.pods).create({
    metadata: { name: "p", namespace },
    spec: { containers: [{ name: "c", image: "i", resources: { requests: { cpu: "2" } } }] },
  });
  const found = await explainPod(options, namespace, "p");
  assert.equal(found.state, "waiting");
  assert.deepEqual(found.state === "waiting" && found.byNode.get("n"), [
    "node(s) were unschedulable",
    "Insufficient cpu",
  ]);
});
