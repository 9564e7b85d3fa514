import assert from "node:assert/strict";
import { test } from "node:test";
import { type RunningServer, startServer } from "#apiserver";
import { createMetrics, silentLog, virtualClock } from "#base";
import { kinds } from "#client";
import { clusterView } from "#controllerkit";
import { eventually } from "#kit";
import { healthPorts } from "./health-ports.ts";
import type { CommandOutcome, PacketFilter } from "./packet-filter.ts";
import { type SeenNode, podRoutes, syncRoutes } from "./pod-routes.ts";
import { servicePort } from "./ports.fixture.ts";
import { runProxy } from "./proxy.ts";
import type { ServicePort } from "./service-ports.ts";
import { staleFlows } from "./stale-flows.ts";

const done: CommandOutcome = { code: 0, stdout: "", stderr: "" };

test("service rules are written, and written again after a failure", async () => {
  await using server: RunningServer = await startServer({
    store: "memory",
    flags: ["--disable-admission-plugins=ServiceAccount"],
  });
  const { client } = server;
  const services = client.of(kinds.services);
  const make = (name: string, spec: object, labels = {}): Promise<unknown> =>
    services.create({ metadata: { name, namespace: "default", labels }, spec });
  const { labels } = client.dialect.names;
  await make("web", { ports: [{ port: 80 }] });
  await make("other", { ports: [{ port: 80 }] }, { [labels.serviceProxyName]: "somebody" });
  await make("headless", { clusterIP: "None", ports: [{ port: 80 }] });
  const makeSlice = (service: string, ports: readonly object[]): Promise<unknown> =>
    client.of(kinds.endpointSlices).create({
      metadata: {
        name: `${service}-1`,
        namespace: "default",
        labels: { [labels.serviceName]: service },
      },
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.1.0.1"] }],
      ports,
    } as never);
  await make("names", { clusterIP: "10.0.0.53", ports: [{ port: 53, protocol: "UDP" }] });
  await makeSlice("names", [{ name: "", port: 53, protocol: "UDP" }]);
  const stopping = new AbortController();
  const wrote: string[][] = [];
  const ran: string[] = [];
  const clock = virtualClock(Date.now());
  let written = 0;
  const filter: PacketFilter = {
    name: "nftables",
    families: [4],
    write: async (ports: readonly ServicePort[]) => {
      wrote.push(ports.map(({ title, backends }) => `${title} ${backends.length}`));
      if (wrote.length === 1) throw new Error("busy");
      return 1;
    },
    isIntact: async () => true,
    remove: async () => undefined,
  };
  const common = { client, clock, signal: stopping.signal, log: silentLog };
  const view = clusterView(common);
  const metrics = createMetrics();
  const running = runProxy({
    ...common,
    view,
    metrics,
    filter,
    dialect: client.dialect,
    run: async (command) => {
      ran.push(command.join(" "));
      return done;
    },
    onWrite: () => void written++,
    settings: { nodeName: "here", minSyncMilliseconds: 0, syncMilliseconds: 30_000, podRoutes: false },
  });
  await eventually(async () => written > 0, { clock });
  const api = `default/${client.dialect.data.apiService}:https`;
  assert.equal(wrote.length, 2);
  assert.deepEqual(
    wrote[1]!.filter((each) => !each.startsWith(api)),
    ["default/names 1", "default/web 0"],
  );
  assert.deepEqual(
    ran,
    ["conntrack -D -p udp -f ipv4 --orig-dst 10.0.0.53 --dport 53"],
    "flows to backends removed before the start are deleted",
  );
  await makeSlice("web", [{ name: "", port: 80, protocol: "TCP" }]);
  await eventually(async () => wrote.at(-1)!.includes("default/web 1"), { clock });
  assert.match(metrics.expose(), /proxy_sync_proxy_rules_failures_total 1/);
  stopping.abort();
  await running;
  await view.stopped();
});

test("a health check port reports the number of local backends", async () => {
  const ports = healthPorts(silentLog, "127.0.0.1");
  const { freePort } = await import("#kit");
  const port = await freePort();
  const ask = async (): Promise<[number, unknown]> => {
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
      if (answer) return [answer.status, await answer.json()];
    }
  };
  const backend = { namespace: "shop", name: "web", port };
  try {
    ports.sync([{ ...backend, localEndpoints: 2 }]);
    const service = { namespace: "shop", name: "web" };
    assert.deepEqual(await ask(), [200, { service, localEndpoints: 2 }]);
    ports.sync([{ ...backend, localEndpoints: 0 }]);
    assert.deepEqual(await ask(), [503, { service, localEndpoints: 0 }]);
    ports.sync([]);
    await assert.rejects(fetch(`http://127.0.0.1:${port}/`));
  } finally {
    ports.close();
  }
});

const udp = servicePort({ protocol: "udp", port: 53 });
const one = { address: "10.1.0.1", port: 53, local: false };
const flows: [name: string, before: ServicePort[], after: ServicePort[], commands: string[]][] = [
  ["nothing for TCP", [servicePort({ backends: [one] })], [], []],
  [
    "those to a removed backend",
    [{ ...udp, backends: [one] }],
    [{ ...udp }],
    ["-p udp -f ipv4 --orig-dst 10.96.0.1 --dport 53 --dst-nat 10.1.0.1"],
  ],
  [
    "those to the former port of a backend",
    [{ ...udp, backends: [one] }],
    [{ ...udp, backends: [{ ...one, port: 5353 }] }],
    ["-p udp -f ipv4 --orig-dst 10.96.0.1 --dport 53 --dst-nat 10.1.0.1"],
  ],
  [
    "those from before the first backend",
    [udp],
    [{ ...udp, backends: [one] }],
    ["-p udp -f ipv4 --orig-dst 10.96.0.1 --dport 53"],
  ],
];
for (const [name, before, after, commands] of flows)
  test(`flows are deleted: ${name}`, () =>
    assert.deepEqual(
      staleFlows(before, after).map((args) => args.join(" ")),
      commands,
    ));

test("pod CIDRs of other nodes are routed through their addresses, and obsolete routes are removed", async () => {
  const nodeOf = (name: string, podCIDR: string, address: string): SeenNode =>
    ({
      metadata: { name },
      spec: { podCIDR },
      status: { addresses: [{ type: "InternalIP", address }] },
    }) as SeenNode;
  const routes = podRoutes(
    [nodeOf("here", "10.1.0.0/24", "192.0.2.1"), nodeOf("there", "10.1.1.0/24", "192.0.2.2")],
    "here",
  );
  assert.deepEqual([...routes], [["10.1.1.0/24", "192.0.2.2"]]);
  const ran: string[] = [];
  const problems = await syncRoutes(routes, async (command) => {
    ran.push(command.join(" "));
    const shown =
      command.includes("show") && command.includes("-4") ? "10.9.9.0/24 via 192.0.2.9 dev x\n" : "";
    return { ...done, stdout: shown };
  });
  assert.deepEqual(problems, []);
  assert.deepEqual(
    ran.filter((line) => !line.includes("show")),
    ["ip -4 route del 10.9.9.0/24 proto 143", "ip -4 route replace 10.1.1.0/24 via 192.0.2.2 proto 143"],
  );
});
