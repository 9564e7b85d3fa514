import assert from "node:assert/strict";
import { test } from "node:test";
import { type AnyObject, type ApiClient, kinds } from "#client";
import { until, withController } from "./cluster.fixture.ts";
import { disruptionController } from "./disruption.ts";

const namespace = "default";
const labels = { app: "web" };

async function createPod(
  client: ApiClient,
  name: string,
  owner?: { kind: string; apiVersion: string; metadata: AnyObject["metadata"] },
): Promise<void> {
  const pods = client.of(kinds.pods);
  const ownerReferences = owner && [
    { apiVersion: owner.apiVersion, kind: owner.kind, name: owner.metadata.name!, uid: owner.metadata.uid!, controller: true },
  ]; // prettier-ignore
  await pods.create({
    metadata: { name, namespace, labels, ...(ownerReferences && { ownerReferences }) },
    spec: { containers: [{ name: "c", image: "i", resources: {} }] },
  });
  const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
  await pods.patch(name, "strategic", { status }, { namespace, subresource: "status" });
}

const guard = (client: ApiClient, spec: object) =>
  client.of(kinds.podDisruptionBudgets).create({
    metadata: { name: "b", namespace },
    spec: { selector: { matchLabels: labels }, ...spec },
  });

interface BudgetStatus {
  readonly healthy: number;
  readonly desired: number;
  readonly allowed: number;
  readonly expected: number;
  readonly reason: string;
}

/** Returns the status once all pods of the budget were counted, or counting failed. */
const statusWith = (client: ApiClient, healthy: number): Promise<BudgetStatus> =>
  until(async () => {
    const { status } = await client.of(kinds.podDisruptionBudgets).get("b", { namespace });
    const reason = status.conditions?.[0]?.reason ?? "";
    if (reason !== "SyncFailed" && status.currentHealthy !== healthy) return undefined;
    return reason === ""
      ? undefined
      : {
          healthy: status.currentHealthy,
          desired: status.desiredHealthy,
          allowed: status.disruptionsAllowed,
          expected: status.expectedPods,
          reason,
        };
  });

const bare: [name: string, spec: object, expected: BudgetStatus][] = [
  [
    "an absolute number of pods must stay",
    { minAvailable: 2 },
    { healthy: 3, desired: 2, allowed: 1, expected: 3, reason: "SufficientPods" },
  ],
  [
    "all pods must stay",
    { minAvailable: 3 },
    { healthy: 3, desired: 3, allowed: 0, expected: 3, reason: "InsufficientPods" },
  ],
  [
    "a percentage of unmanaged pods is unknown",
    { maxUnavailable: "50%" },
    { healthy: 3, desired: 0, allowed: 0, expected: 0, reason: "InsufficientPods" },
  ],
];
for (const [name, spec, expected] of bare)
  test(`budgets: ${name}`, () =>
    withController(disruptionController, async ({ client }) => {
      for (const each of ["a", "b", "c"]) await createPod(client, each);
      await guard(client, spec);
      assert.deepEqual(await statusWith(client, 3), expected);
    }));

test("budgets: a percentage refers to the owner's replicas", () =>
  withController(disruptionController, async ({ client }) => {
    const set = await client.of(kinds.replicaSets).create({
      metadata: { name: "web", namespace },
      spec: {
        replicas: 4,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "i", resources: {} }] } },
      },
    } as never);
    const owner = { ...set, apiVersion: "apps/v1", kind: "ReplicaSet" };
    for (const each of ["a", "b", "c"]) await createPod(client, each, owner);
    await guard(client, { maxUnavailable: "30%" });
    // 30 % of four is two pods, rounded up.
    const expected = { healthy: 3, desired: 2, allowed: 1, expected: 4, reason: "SufficientPods" };
    assert.deepEqual(await statusWith(client, 3), expected);
  }));

test("budgets: an owner without a scale allows no disruptions and is reported in an event", () =>
  withController(disruptionController, async ({ client }) => {
    const map = await client.of(kinds.configMaps).create({ metadata: { name: "boss", namespace } });
    await createPod(client, "a", { ...map, apiVersion: "v1", kind: "ConfigMap" });
    await guard(client, { maxUnavailable: 1 });
    const { allowed, reason } = await statusWith(client, 1);
    assert.deepEqual([allowed, reason], [0, "SyncFailed"]);
    await until(async () =>
      (await client.of(kinds.events).list({ namespace })).items.some(
        ({ note }) =>
          note ===
          "Failed to calculate the number of expected pods: configmaps does not implement the scale subresource",
      ),
    );
  }));

const eventsFor = (client: ApiClient, reason: string) =>
  until(async () => {
    const { items } = await client.of(kinds.events).list({ namespace });
    const found = items.filter((each) => each.reason === reason);
    return found.length > 0 && found;
  });

test("a pod guarded by two budgets is reported in an event", () =>
  withController(disruptionController, async ({ client }) => {
    await guard(client, { minAvailable: 1 });
    await client.of(kinds.podDisruptionBudgets).create({
      metadata: { name: "c", namespace },
      spec: { selector: { matchLabels: labels }, maxUnavailable: 1 },
    });
    await statusWith(client, 0);
    await createPod(client, "a");
    const [event] = await eventsFor(client, "MultiplePodDisruptionBudgets");
    assert.match(
      event!.note ?? "",
      /^Pod "default"\/"a" matches multiple PodDisruptionBudgets. {2}Chose "[bc]" arbitrarily\.$/,
    );
  }));

test("an evicted pod that is not deleted in time counts again and is reported in an event", () =>
  withController(disruptionController, async ({ client }) => {
    await createPod(client, "a");
    await guard(client, { minAvailable: 1 });
    await statusWith(client, 1);
    const budgets = client.of(kinds.podDisruptionBudgets);
    const status = { disruptedPods: { a: "2020-01-01T00:00:00Z" }, currentHealthy: 0 };
    await budgets.patch("b", "merge", { status }, { namespace, subresource: "status" });
    const [event] = await eventsFor(client, "NotDeleted");
    assert.equal(event!.note, "Pod was expected by PDB default/default to be deleted but it wasn't");
    assert.equal((await statusWith(client, 1)).healthy, 1);
  }));

test("finished pods count as expected, but not as healthy", () =>
  withController(disruptionController, async ({ client }) => {
    await createPod(client, "a");
    await createPod(client, "b");
    const status = { phase: "Succeeded", conditions: [{ type: "Ready", status: "False" }] };
    await client.of(kinds.pods).patch("b", "strategic", { status }, { namespace, subresource: "status" });
    await guard(client, { minAvailable: 1 });
    const { expected, healthy, allowed } = await statusWith(client, 1);
    assert.deepEqual({ expected, healthy, allowed }, { expected: 2, healthy: 1, allowed: 0 });
  }));
