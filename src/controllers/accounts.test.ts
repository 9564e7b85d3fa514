import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "#apiserver";
import { bootstrapPolicy } from "#authz";
import { silentLog, systemClock } from "#base";
import { type Transport, kinds } from "#client";
import { accountClients, clusterView } from "#controllerkit";
import { dialects } from "#dialect";
import { accountOf } from "./accounts.ts";
import { until } from "./cluster.fixture.ts";
import { controllerNames, runControllerManager } from "./controller-manager.ts";

test("every account has a bootstrap role of the API server", () => {
  const { clusterRoles, roles } = bootstrapPolicy(dialects.orch, () => true);
  const known = new Set([...clusterRoles, ...roles].map(({ metadata }) => metadata.name));
  const missing = controllerNames
    .flatMap((name) => accountOf(name) ?? [])
    .filter((account) => !known.has(`system:controller:${account}`));
  assert.deepEqual(missing, []);
});

const namespace = "default";
const template = {
  metadata: { labels: { app: "x" } },
  spec: { containers: [{ name: "c", image: "i", ports: [{ containerPort: 80 }] }] },
};
const selector = { matchLabels: { app: "x" } };
const metadata = (name: string) => ({ name, namespace });
const claimSpec = {
  storageClassName: "manual",
  accessModes: ["ReadWriteOnce"],
  resources: { requests: { storage: "1Gi" } },
};

test("controllers using individual service accounts are not denied any request", async () => {
  await using server = await startServer({
    store: "memory",
    flags: ["--disable-admission-plugins=ServiceAccount"],
  });
  const { client } = server;
  const stopping = new AbortController();
  const { signal } = stopping;
  const denied: string[] = [];
  const callers = new Set<string>();
  // A client without a certificate: its identity comes from its token.
  const transport: Transport = {
    close: () => undefined,
    send: async (request) => {
      const response = await server.inject({ ...request, trusted: null });
      const { sub } = JSON.parse(
        Buffer.from(request.headers!["authorization"]!.split(".")[1]!, "base64url").toString(),
      ) as { sub: string };
      callers.add(sub);
      if (response.status === 401 || response.status === 403)
        denied.push(`${sub} ${request.method} ${request.path}: ${response.status}`);
      return response;
    },
  };
  const view = clusterView({ client, clock: systemClock, signal, log: silentLog });
  const running = runControllerManager({
    client,
    view,
    clock: systemClock,
    signal,
    log: silentLog,
    dialect: client.dialect,
    asAccount: accountClients({
      client,
      transport,
      clock: systemClock,
      namespace: client.dialect.data.systemNamespace,
    }),
  });
  try {
    await client.of(kinds.nodes).create({ metadata: { name: "n1" } });
    await client.of(kinds.resourceQuotas).create({ metadata: metadata("q"), spec: { hard: { pods: "50" } } });
    await client.of(kinds.services).create({
      metadata: metadata("x"),
      spec: { selector: { app: "x" }, ports: [{ port: 80, targetPort: 80 }] },
    });
    await client.of(kinds.podDisruptionBudgets).create({
      metadata: metadata("b"),
      spec: { selector, minAvailable: 1 },
    });
    await client.of(kinds.persistentVolumes).create({
      metadata: { name: "v" },
      spec: {
        storageClassName: "manual",
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        hostPath: { path: "/nowhere" },
      },
    });
    await client.of(kinds.deployments).create({
      metadata: metadata("d"),
      spec: { replicas: 1, selector, template },
    } as never);
    const daemons = { metadata: { labels: { app: "y" } }, spec: template.spec };
    await client.of(kinds.daemonSets).create({
      metadata: metadata("ds"),
      spec: { selector: { matchLabels: { app: "y" } }, template: daemons },
    } as never);
    await client.of(kinds.jobs).create({
      metadata: metadata("j"),
      spec: { template: { ...template, spec: { ...template.spec, restartPolicy: "Never" } } },
    } as never);
    await client.of(kinds.statefulSets).create({
      metadata: metadata("s"),
      spec: {
        serviceName: "x",
        selector,
        template,
        replicas: 1,
        volumeClaimTemplates: [{ metadata: { name: "data" }, spec: claimSpec }],
        persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete", whenScaled: "Retain" },
      },
    } as never);
    const claims = client.of(kinds.persistentVolumeClaims);
    await until(async () => {
      const [claim] = (await claims.list({ namespace })).items;
      return claim?.status.phase === "Bound" && claim.metadata.ownerReferences?.length === 1;
    });
    await until(async () => (await client.of(kinds.pods).list({ namespace })).items.length === 4);
    await until(async () => (await client.of(kinds.endpointSlices).list({ namespace })).items.length > 0);
    await client.of(kinds.deployments).delete("d", { namespace, propagation: "Foreground" });
    await until(async () => (await client.of(kinds.replicaSets).list({ namespace })).items.length === 0);
    assert.deepEqual(denied, []);
    assert.equal(callers.has("system:serviceaccount:orch-system:deployment-controller"), true);
    assert.equal(callers.size > 8, true, [...callers].join());
  } catch (error) {
    assert.deepEqual(denied, [], (error as Error).message);
    throw error;
  } finally {
    stopping.abort();
    await running;
  }
});
