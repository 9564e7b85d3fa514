import assert from "node:assert/strict";
import { test } from "node:test";
import { type ApiClient, kinds } from "#client";
import { until, withController } from "../cluster.fixture.ts";
import type { SeenPod } from "../pods.ts";
import { endpointSliceController } from "./endpoint-slices.ts";
import { endpointsController, subsetsFor, truncated } from "./endpoints.ts";
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

test("endpoints separate ready pods from others and follow a pod's readiness", () =>
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
  }));

test("ports of different pods are listed with the addresses of each", () => {
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
  const pairs = subsets.map(({ addresses = [], ports = [] }) => [
    addresses.map(({ ip }) => ip).join(),
    ports.map(({ name }) => name).join(),
  ]);
  assert.deepEqual(
    pairs.toSorted((a, b) => (a[1]! < b[1]! ? -1 : 1)),
    [
      ["10.1.0.1,10.1.0.2", "http"],
      ["10.1.0.1", "metrics"],
    ],
  );
});

test("a slice contains a service's pods, except those on unknown nodes", () =>
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
  }));

test("endpoints of a service without a selector are mirrored until mirroring is disabled by a label", () =>
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
  }));

test("a slice keeps its name when its last pod is deleted", () =>
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
  }));

test("of too many addresses, each subset keeps its share, ready ones first", () => {
  const addresses = (count: number) => Array.from({ length: count }, (_, at) => ({ ip: `10.0.0.${at}` }));
  const sizes = (subsets: Parameters<typeof truncated>[0]) =>
    truncated(subsets).subsets.map((subset) => [
      subset.addresses?.length ?? 0,
      subset.notReadyAddresses?.length ?? 0,
    ]);
  const few = [{ addresses: addresses(600), notReadyAddresses: addresses(400) }];
  assert.deepEqual(truncated(few), { subsets: few, isTruncated: false });
  const ready = [
    { addresses: addresses(1500), notReadyAddresses: addresses(9) },
    { addresses: addresses(500) },
  ];
  assert.deepEqual(sizes(ready), [
    [750, 0],
    [250, 0],
  ]);
  const unready = [
    { addresses: addresses(800), notReadyAddresses: addresses(300) },
    { notReadyAddresses: addresses(100) },
  ];
  assert.deepEqual(sizes(unready), [
    [800, 150],
    [0, 50],
  ]);
});

test("an event on the service reports pods left out of its slices", () =>
  withController(endpointSliceController, async ({ client }) => {
    await createPod(client, "a", "10.1.0.1", true);
    await createService(client, { selector: { app: "web" } });
    const event = await until(async () => {
      const { items } = await client.of(kinds.events).list({ namespace });
      return items.find(({ reason }) => reason === "FailedToUpdateEndpointSlices");
    });
    const text = "skipping Pod a for Service default/web: Node n1 Not Found";
    assert.equal(event.note, `Error updating Endpoint Slices for Service default/web: ${text}`);
  }));

test("slices of an earlier service of the same name are not reused", () =>
  withController(endpointSliceController, async ({ client }) => {
    const { serviceName, endpointSliceManagedBy } = client.dialect.names.labels;
    await client.of(kinds.endpointSlices).create({
      metadata: {
        name: "web-old",
        namespace,
        labels: {
          [serviceName]: "web",
          [endpointSliceManagedBy]: client.dialect.names.managers.endpointSlices,
        },
        ownerReferences: [
          { apiVersion: "v1", kind: "Service", name: "web", uid: "earlier", controller: true },
        ],
      },
      addressType: "IPv4",
    });
    await createService(client, { selector: { app: "web" } });
    await until(async () => {
      const { items } = await client.of(kinds.endpointSlices).list({ namespace });
      const names = items.map(({ metadata }) => metadata.name!).filter((name) => name.startsWith("web-"));
      return names.length === 1 && names[0] !== "web-old";
    });
  }));

test("a slice has at most the configured number of endpoints", () =>
  withController(
    (context) => endpointSliceController(context, 1),
    async ({ client }) => {
      await client.of(kinds.nodes).create({ metadata: { name: "n1" }, spec: {} });
      await createPod(client, "a", "10.1.0.1", true);
      await createPod(client, "b", "10.1.0.2", true);
      await createService(client, { selector: { app: "web" } });
      const slices = await until(async () => {
        const { items } = await client.of(kinds.endpointSlices).list({ namespace });
        return items.flatMap((slice) => slice.endpoints ?? []).length === 2 && items;
      });
      assert.deepEqual(
        slices.map(({ endpoints }) => endpoints?.length),
        [1, 1],
      );
    },
  ));
