// Two controller managers and two schedulers on one API server, under load: each is killed, the server is
// killed and stays down, and finally the cluster is in the state that its objects specify.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type ApiClient, apiClient, connectionOf, https, kinds, singleContext } from "#client";
import { dialectNamed } from "#dialect";
import { hollowNodes, startApiserver, until } from "#kit";
import { type Chance, chance } from "./chance.ts";
import { restartedProgram } from "./restarted-program.ts";

const seed = Number(process.env["ORCH_CONTROL_SEED"] ?? Date.now() % 1_000_000);
const awaySeconds = Number(process.env["ORCH_CONTROL_AWAY_SECONDS"] ?? 4);
const rounds = Number(process.env["ORCH_CONTROL_ROUNDS"] ?? 1);
const dialect = dialectNamed("kubernetes")!;
const namespace = "default";
const applications = ["a", "b", "c", "d", "e", "f"];
const programs = ["orch-controller-manager", "orch-scheduler"];
const election = ["lease-duration=3s", "renew-deadline=2s", "retry-period=400ms"];

test(
  `the cluster converges while every component of its control plane is killed (ORCH_CONTROL_SEED=${seed})`,
  { timeout: (300 + rounds * (60 + awaySeconds)) * 1000 },
  async (t) => {
    await using server = await startApiserver({
      dialect: "kubernetes",
      flags: ["--disable-admission-plugins=ServiceAccount"],
    });
    const over = new AbortController();
    const connection = singleContext({
      name: "test",
      server: server.url,
      ca: server.ca,
      token: server.token,
    });
    const client = apiClient(https(connectionOf(connection)), dialect);
    const nodes = await hollowNodes({ client, count: 4, signal: over.signal });
    const flags = [
      "--dialect=kubernetes",
      `--kubeconfig=${server.kubeconfig}`,
      ...election.map((each) => `--leader-elect-${each}`),
    ];
    const parts = programs.flatMap((program) =>
      [0, 1].map((instance) => restartedProgram(program, flags, { folder: server.folder, instance })),
    );
    t.after(async () => {
      over.abort();
      await Promise.all([nodes.stopped, ...parts.map((part) => part.stop())]);
    });

    for (const name of applications) {
      await client.of(kinds.deployments).create(deployment(name), { namespace });
      await client.of(kinds.services).create(service(name), { namespace });
    }
    const quiet = new AbortController();
    const load = changes(client, chance(seed), quiet.signal);
    for (let round = 0; round < rounds; round++) {
      for (const part of parts) {
        await part.kill();
        await sleep(1000);
      }
      await server.kill9();
      await sleep(awaySeconds * 1000);
      await server.restart();
      await sleep(2000);
    }
    quiet.abort();
    await load;

    const wanted = new Map(applications.map((name, at) => [name, at + 2]));
    for (const [name, replicas] of wanted)
      await client.of(kinds.deployments).patch(name, "merge", { spec: { replicas } }, { namespace });
    let state = "";
    await until(
      () => Promise.resolve(`${state}\n${parts.map((part) => part.log()).join("\n")}`),
      async () => (state = await differences(client, wanted)) === "",
    );
    const bound = (await client.of(kinds.pods).list({ namespace })).items;
    assert.deepEqual(new Set(bound.map(({ metadata }) => metadata.uid)).size, bound.length);
    assert.deepEqual(
      bound.filter(({ spec }) => !nodes.names.includes(spec?.nodeName ?? "")),
      [],
    );
  },
);

/** Scales, rolls out and deletes pods at random until the signal; changes fail while the server is down. */
async function changes(client: ApiClient, luck: Chance, signal: AbortSignal): Promise<void> {
  const deployments = client.of(kinds.deployments);
  const pods = client.of(kinds.pods);
  for (let round = 0; !signal.aborted; round++) {
    const name = luck.one(applications);
    try {
      if (luck.below(3) === 0) {
        const { items } = await pods.list({ namespace, labelSelector: `app=${name}` });
        if (items.length > 0) await pods.delete(luck.one(items).metadata.name!, { namespace });
      } else {
        const template = { metadata: { annotations: { round: String(round) } } };
        const spec = luck.below(3) === 0 ? { template } : { replicas: luck.below(9) };
        await deployments.patch(name, "merge", { spec }, { namespace });
      }
    } catch {
      await sleep(100);
    }
    await sleep(50);
  }
}

/** Returns the differences between the desired and the actual state; empty if they are equal. */
async function differences(client: ApiClient, wanted: ReadonlyMap<string, number>): Promise<string> {
  const found: string[] = [];
  const pods = (await client.of(kinds.pods).list({ namespace })).items;
  const slices = (await client.of(kinds.endpointSlices).list({ namespace })).items;
  const sets = (await client.of(kinds.replicaSets).list({ namespace })).items;
  for (const [name, replicas] of wanted) {
    const { metadata, status } = await client.of(kinds.deployments).get(name, { namespace });
    const counts = [status?.replicas, status?.updatedReplicas, status?.readyReplicas];
    if (status?.observedGeneration !== metadata.generation || counts.some((count) => count !== replicas))
      found.push(`deployment ${name} has ${counts.join(", ")} of ${replicas}`);
    const own = pods.filter((pod) => pod.metadata.labels?.["app"] === name);
    const active = sets.filter((set) => set.metadata.labels?.["app"] === name && set.spec?.replicas);
    if (active.length !== 1) found.push(`${active.length} replica sets of ${name} want pods`);
    if (own.length !== replicas) found.push(`${own.length} pods of ${name}, not ${replicas}`);
    const addresses = slices
      .filter((slice) => slice.metadata.labels?.[dialect.names.labels.serviceName] === name)
      .flatMap((slice) => (slice.endpoints ?? []).flatMap((endpoint) => endpoint.addresses ?? []));
    const expected = own.map((pod) => pod.status?.podIP ?? "");
    if (addresses.toSorted().join() !== expected.toSorted().join())
      found.push(`the service ${name} leads to ${addresses.join()}, not ${expected.join()}`);
  }
  return found.join("; ");
}

const deployment = (name: string) => ({
  metadata: { name },
  spec: {
    replicas: 3,
    strategy: {},
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { creationTimestamp: null, labels: { app: name } },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [{ name: "main", image: "example/app:1", resources: {} }],
      },
    },
  },
});

const service = (name: string) => ({
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ port: 80, targetPort: 80 }] },
});
