// A proxy and a DNS server under load in the network namespace of this process: each is killed repeatedly,
// the API server is killed and stays down, and finally services lead to their current endpoints. Run by
// service-network.test.ts.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { Resolver } from "node:dns/promises";
import { type Server, connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type ApiClient, ApiError, apiClient, connectionOf, https, singleContext } from "#client";
import { dialectNamed } from "#dialect";
import { freePort, startApiserver, until } from "#kit";
import { type Chance, chance } from "./chance.ts";
import { restartedProgram } from "./restarted-program.ts";

const seed = Number(process.env["ORCH_NETWORK_SEED"] ?? Date.now() % 1_000_000);
const rounds = Number(process.env["ORCH_NETWORK_ROUNDS"] ?? 2);
const awaySeconds = Number(process.env["ORCH_NETWORK_AWAY_SECONDS"] ?? 3);
/** Whether both run as `orch-network`, as in `orch up`. */
const isOneProcess = process.env["ORCH_NETWORK_ONE_PROCESS"] === "1";
const dialect = dialectNamed("kubernetes")!;
const backends = Array.from({ length: 12 }, (_, at) => `10.244.0.${at + 1}`);
const port = 8080;
/** The service whose endpoints never change: it must answer whatever is killed. */
const steady = "steady";
const changing = ["a", "b", "c", "d"];
const headless = "headless";

console.log(`ORCH_NETWORK_SEED=${seed}`);
const setUp = ["link set lo up", "route add default dev lo"];
for (const line of [...setUp, ...backends.map((address) => `addr add ${address}/32 dev lo`)])
  execFileSync("ip", line.split(" "));
const servers = await Promise.all(backends.map(serve));
await using server = await startApiserver({
  dialect: "kubernetes",
  flags: ["--disable-admission-plugins=ServiceAccount"],
});
const context = singleContext({ name: "test", server: server.url, ca: server.ca, token: server.token });
const client = apiClient(https(connectionOf(context)), dialect);
const addresses = new Map<string, string>();
const endpoints = new Map<string, readonly string[]>();
for (const name of [steady, ...changing, headless]) {
  addresses.set(name, await createService(client, name));
  await putSlice(client, name, backends.slice(0, 2));
}
const dnsPort = await freePort();
const common = ["--dialect=kubernetes", `--kubeconfig=${server.kubeconfig}`, "--port=0"];
const proxyFlags = ["--hostname-override=node"];
const dnsFlags = [`--dns-port=${dnsPort}`, "--resolv-conf=/dev/null"];
const parts = isOneProcess
  ? [restartedProgram("orch-network", [...common, ...proxyFlags, ...dnsFlags], server)]
  : [
      restartedProgram("orch-proxy", [...common, ...proxyFlags], server),
      restartedProgram("orch-dns", [...common, ...dnsFlags], server),
    ];
try {
  await settled();
  const quiet = new AbortController();
  const load = [changes(client, chance(seed), quiet.signal), askSteadily(quiet.signal)];
  // Errors are reported when the loads are awaited; until then they must not crash this process.
  for (const each of load) each.catch(() => undefined);
  for (let round = 0; round < rounds; round++) {
    for (const part of parts) {
      await part.kill();
      await sleep(1000);
    }
    await server.kill9();
    // A program that starts while the server is down has no server to list from.
    for (const part of parts) await part.kill();
    await sleep(awaySeconds * 1000);
    await server.restart();
    await sleep(1000);
  }
  quiet.abort();
  const [, answers] = await Promise.all(load);
  // Repeats the writes that failed while the server was down.
  for (const name of [...changing, headless]) await putSlice(client, name, endpoints.get(name)!);
  await settled();
  console.log(`${answers} connections to the steady service, none was refused`);
} finally {
  await Promise.all(parts.map((part) => part.stop()));
  for (const each of servers) each.close();
}

/** Waits until names and addresses lead to exactly the endpoints of every service. */
async function settled(): Promise<void> {
  let found = "";
  await until(
    () => Promise.resolve([found, ...parts.map((part) => part.log())].join("\n")),
    async () => (found = await differences()) === "",
  );
}

async function differences(): Promise<string> {
  const resolver = new Resolver({ timeout: 2000, tries: 1 });
  resolver.setServers([`127.0.0.1:${dnsPort}`]);
  const lookUp = async (name: string): Promise<string> =>
    (await resolver.resolve4(`${name}.default.svc.cluster.local`).catch((error: Error) => [error.message]))
      .toSorted()
      .join();
  for (const name of [steady, ...changing]) {
    const address = addresses.get(name)!;
    const resolved = await lookUp(name);
    if (resolved !== address) return `the name ${name} resolves to ${resolved}, not to ${address}`;
    const wanted = endpoints.get(name)!;
    const reached = await reachedAt(address, wanted.length);
    if (reached !== wanted.toSorted().join()) return `${name} leads to ${reached}, not to ${wanted.join()}`;
  }
  const resolved = await lookUp(headless);
  const wanted = endpoints.get(headless)!.toSorted().join();
  return resolved === wanted ? "" : `the name ${headless} resolves to ${resolved}, not to ${wanted}`;
}

/**
 * Returns all backends reached at an address; with this many connections, missing one of `count` is very
 * unlikely.
 */
async function reachedAt(address: string, count: number): Promise<string> {
  const seen = new Set<string>();
  for (let at = 0; at < count * 20; at++) seen.add(await ask(address).catch((error: Error) => error.message));
  return [...seen].toSorted().join();
}

/** Returns the number of answered connections; none may fail. */
async function askSteadily(signal: AbortSignal): Promise<number> {
  let answers = 0;
  for (; !signal.aborted; answers++) {
    assert.ok(backends.slice(0, 2).includes(await ask(addresses.get(steady)!)));
    await sleep(20);
  }
  return answers;
}

/** Connects and returns the backend's response, its own address. */
function ask(address: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port: 80, timeout: 60_000 });
    let text = "";
    socket.setEncoding("utf8").on("data", (part: string) => (text += part));
    socket.on("timeout", () => socket.destroy(new Error("no answer")));
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
  });
}

function serve(address: string): Promise<Server> {
  return new Promise((resolve) => {
    const listening = createServer((socket) => socket.on("error", () => undefined).end(address));
    listening.listen(port, address, () => resolve(listening));
  });
}

/** Changes endpoints at random until the signal. */
async function changes(api: ApiClient, luck: Chance, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const name = luck.one([...changing, headless]);
    const first = luck.below(backends.length - 3);
    const wanted = backends.slice(first, first + 1 + luck.below(3));
    try {
      await putSlice(api, name, wanted);
    } catch {
      await sleep(100);
    }
    await sleep(30);
  }
}

async function createService(api: ApiClient, name: string): Promise<string> {
  const { spec } = (await api.request("POST", "/api/v1/namespaces/default/services", {
    metadata: { name },
    spec: { ports: [{ port: 80, targetPort: port }], ...(name === headless && { clusterIP: "None" }) },
  })) as { spec: { clusterIP: string } };
  return spec.clusterIP;
}

async function putSlice(api: ApiClient, name: string, wanted: readonly string[]): Promise<void> {
  endpoints.set(name, wanted);
  const path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
  const slice = {
    metadata: { name, labels: { [dialect.names.labels.serviceName]: name } },
    addressType: "IPv4",
    ports: [{ name: "", port, protocol: "TCP" }],
    endpoints: wanted.map((address) => ({ addresses: [address], conditions: { ready: true } })),
  };
  try {
    await api.request("PUT", `${path}/${name}`, slice);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 404)) throw error;
    await api.request("POST", path, slice);
  }
}
