import assert from "node:assert/strict";
import { test } from "node:test";
import { type ApiClient, kinds } from "#client";
import { until, withController } from "../cluster.fixture.ts";
import type { SeenPod } from "../pods.ts";
import { endpointSliceController } from "./endpoint-slices.ts";
import { endpointsController, subsetsFor } from "./endpoints.ts";
import { endpointSliceMirroringController } from "./mirroring.ts";
import type { SeenService } from "./service-pods.ts";

const namespace = "default";
const subresource = "status";

async function createPod(client: ApiClient, name: string, podIP: string, ready: boolean): Promise<void> {
  await client.of(kinds.pods).create({
    metadata: { name, namespace, labels: { app: "web" } },
    spec: {
      nodeName: "n1",
      containers: [{ name: "c", image: "i", ports: [{ name: "http", containerPort: 8080 }] }],
    },
  } as never);
  const conditions = [{ type: "Ready", status: ready ? "True" : "False" }];
  const status = { phase: "Running", podIP, podIPs: [{ ip: podIP }], conditions };
  await client.of(kinds.pods).patch(name, "strategic", { status }, { namespace, subresource });
}

const createService = (client: ApiClient, spec: object) =>
  client.of(kinds.services).create({
    metadata: { name: "web", namespace, labels: { team: "x" } },
    spec: { ports: [{ port: 80, targetPort: "http" }], ...spec },
  });

test("endpoints tell ready pods from others, and follow a pod's readiness", { timeout: 30_000 }, () =>
  withController(endpointsController, async ({ client }) => {
    await createPod(client, "a", "10.1.0.1", true);
    await createPod(client, "b", "10.1.0.2", false);
    await createService(client, { selector: { app: "web" } });
    const shown = async () => {
      const { items } = await client.of(kinds.endpoints).list({ namespace });
      const found = items.find(({ metadata }) => metadata.name === "web");
      return found?.subsets?.map(({ addresses, notReadyAddresses, ports }) => ({
        ready: addresses?.map(({ ip }) => ip) ?? [],
        unready: notReadyAddresses?.map(({ ip }) => ip) ?? [],
        ports: ports?.map(({ port }) => port),
      }))[0];
    };
    await until(async () => (await shown())?.unready.length === 1);
    assert.deepEqual(await shown(), { ready: ["10.1.0.1"], unready: ["10.1.0.2"], ports: [8080] });
    const conditions = [{ type: "Ready", status: "True" }];
    await client
      .of(kinds.pods)
      .patch("b", "strategic", { status: { conditions } }, { namespace, subresource });
    await until(async () => (await shown())?.ready.length === 2);
  }),
);

test("ports that different pods have are told with the addresses of each", () => {
  const pod = (name: string, podIP: string, ports: object[]): SeenPod =>
    ({
      metadata: { name, namespace, uid: name },
      spec: { containers: [{ name: "c", image: "i", ports }] },
      status: {
        phase: "Running",
        podIP,
        podIPs: [{ ip: podIP }],
        conditions: [{ type: "Ready", status: "True" }],
      },
    }) as unknown as SeenPod;
  const http = { name: "http", containerPort: 8080, protocol: "TCP" };
  const metrics = { name: "metrics", containerPort: 9090, protocol: "TCP" };
  const service = {
    metadata: { name: "web", namespace },
    spec: {
      ipFamilies: ["IPv4"],
      ports: [http, metrics].map(({ name, containerPort }) => ({ name, port: containerPort, targetPort: name, protocol: "TCP" })), // prettier-ignore
    },
  } as unknown as SeenService;
  const subsets = subsetsFor(service, [pod("a", "10.1.0.1", [http, metrics]), pod("b", "10.1.0.2", [http])]);
  const told = subsets.map(({ addresses = [], ports = [] }) => [
    addresses.map(({ ip }) => ip).join(),
    ports.map(({ name }) => name).join(),
  ]);
  assert.deepEqual(
    told.toSorted((a, b) => (a[1]! < b[1]! ? -1 : 1)),
    [
      ["10.1.0.1,10.1.0.2", "http"],
      ["10.1.0.1", "metrics"],
    ],
  );
});

test("a slice holds a service's pods, without those whose node is not known", { timeout: 30_000 }, () =>
  withController(endpointSliceController, async ({ client }) => {
    await createPod(client, "a", "10.1.0.1", true);
    await createService(client, { selector: { app: "web" } });
    const slices = async () => (await client.of(kinds.endpointSlices).list({ namespace })).items;
    const [empty] = await until(async () => {
      const found = await slices();
      return found.length === 1 && found;
    });
    assert.deepEqual(empty!.endpoints ?? [], []);
    await client
      .of(kinds.nodes)
      .create({ metadata: { name: "n1", labels: { "topology.orch.io/zone": "z1" } } });
    const [slice] = await until(async () => {
      const found = await slices();
      return found[0]?.endpoints?.length === 1 && found;
    });
    assert.match(slice!.metadata.name!, /^web-[a-z0-9]{5}$/);
    const { targetRef: _, ...endpoint } = slice!.endpoints![0]!;
    assert.deepEqual(endpoint, {
      addresses: ["10.1.0.1"],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: "n1",
      zone: "z1",
    });
    assert.equal(slice!.metadata.labels?.["orch.io/service-name"], "web");
    assert.equal(slice!.metadata.labels?.["team"], "x");
  }),
);

test(
  "endpoints of a service without selector are mirrored until they ask not to be",
  { timeout: 30_000 },
  () =>
    withController(endpointSliceMirroringController, async ({ client }) => {
      await createService(client, {});
      await client.of(kinds.endpoints).create({
        metadata: { name: "web", namespace },
        subsets: [{ addresses: [{ ip: "10.2.0.1" }], ports: [{ port: 80 }] }],
      });
      const slices = async () => (await client.of(kinds.endpointSlices).list({ namespace })).items;
      const [slice] = await until(async () => {
        const found = await slices();
        return found.length === 1 && found;
      });
      assert.deepEqual(
        slice!.endpoints!.map(({ addresses }) => addresses),
        [["10.2.0.1"]],
      );
      assert.equal(slice!.metadata.ownerReferences?.[0]?.kind, "Endpoints");
      const labels = { "endpointslice.orch.io/skip-mirror": "true" };
      await client.of(kinds.endpoints).patch("web", "merge", { metadata: { labels } }, { namespace });
      await until(async () => (await slices()).length === 0);
    }),
);

test("a slice keeps its name when its last pod goes", { timeout: 30_000 }, () =>
  withController(endpointSliceController, async ({ client }) => {
    await client.of(kinds.nodes).create({ metadata: { name: "n1" } });
    await createPod(client, "a", "10.1.0.1", true);
    await createService(client, { selector: { app: "web" } });
    const sliceOf = async (count: number) => {
      const { items } = await client.of(kinds.endpointSlices).list({ namespace });
      const [slice, ...others] = items.filter(
        ({ metadata }) => metadata.labels?.[client.dialect.names.labels.serviceName] === "web",
      );
      return others.length === 0 && (slice?.endpoints?.length ?? 0) === count && slice;
    };
    const full = await until(() => sliceOf(1));
    assert.equal(full.ports?.[0]?.port, 8080);
    await client.of(kinds.pods).delete("a", { namespace, graceSeconds: 0 });
    const empty = await until(() => sliceOf(0));
    assert.deepEqual([empty.metadata.name, empty.ports ?? null], [full.metadata.name, null]);
  }),
);
