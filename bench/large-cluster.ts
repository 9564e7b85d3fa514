// Claim: one server supports a large cluster. Pods are spread over nodes; half of the watches select one node's pods
// each, the others one ConfigMap each, like those of agents. Measures the cost of a status update with its delivery,
// the cost of node heartbeats, and whether all agents can relist their pods at once. The server is a separate process
// with the embedded store; pods, nodes and leases are copies of some that it stored itself.
//
//   npm run bench -- large-cluster [--pods=150000] [--nodes=5000] [--watches=10000]
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type RunningApiserver, startApiserver } from "../test/kit/apiserver.ts";
import { figure } from "./kit/figures.ts";
import { fillStore } from "./kit/fill-store.ts";
import { givenNumber } from "./kit/given.ts";
import { inFlight } from "./kit/in-flight.ts";
import { leasesPath } from "./kit/paths.ts";
import { pod } from "./kit/pod.ts";
import { cpuMicros, residentMegabytes } from "./kit/process-cost.ts";

const pods = givenNumber("pods", 150_000);
const nodes = givenNumber("nodes", 5_000);
const watches = givenNumber("watches", 10_000);
const updates = 5_000;
const streamsPerConnection = 50;
const renewalSeconds = 10;

const digits = (at: number): string => String(at).padStart(6, "0");
const podName = (at: number): string => `pod-${digits(at)}`;
const nodeName = (at: number): string => `node-${digits(at)}`;
const nodeOf = (at: number): string => nodeName(((at - 1) % nodes) + 1);
const uidOf = (at: number): string => `22222222-2222-4222-8222-${String(at).padStart(12, "0")}`;
const podsPath = "/api/v1/namespaces/default/pods";

const statusOf = (at: number): object => ({
  status: { phase: "Running", podIP: `10.0.0.${at % 250}`, message: `update ${at}` },
});

await using server = await startApiserver({
  readyWithinSeconds: 600,
  flags: ["--authorization-mode=AlwaysAllow"],
});
await fillCluster(server);
const [wall, cpu] = await restarted(server);
const ready = residentMegabytes(server.pid);
const sessions = Array.from({ length: Math.ceil(watches / streamsPerConnection) }, () => session(server));
const extra = session(server);
const seen = { events: 0 };
await openWatches();
await calm();
const watching = residentMegabytes(server.pid);

const updateStatus = (at: number): Promise<void> =>
  send(extra, "PATCH", `${podsPath}/${podName((at % pods) + 1)}/status`, statusOf(at));
// A freshly started server also compiles its code, so the first updates are reported separately.
const firstUpdate = await measured(updates, 32, updateStatus);
await until(() => seen.events >= updates);
await calm();
const update = await measured(updates, 32, (at) => updateStatus(updates + at));
await until(() => seen.events >= 2 * updates);
await calm();
await renewLeases();
const renewals = await renewLeases();
const relist = await relistAll();
const figures: [string, string][] = [
  ["pods, nodes, watches", [pods, nodes, watches].map((each) => figure(each)).join(", ")],
  ["ready after a restart, ms (processor)", `${wall.toFixed(0)} (${cpu.toFixed(0)})`],
  [
    "resident when ready, with the watches, in the end, MB",
    [ready, watching, residentMegabytes(server.pid)].map((each) => each.toFixed(0)).join(", "),
  ],
  [
    "status update with its delivery, µs of processor time (of the first ones)",
    `${update.toFixed(0)} (${firstUpdate.toFixed(0)})`,
  ],
  [
    `${figure(nodes)} lease renewals in ${renewalSeconds} s, share of a core`,
    `${(renewals * 100).toFixed(0)} %`,
  ],
  ["relist by all nodes at once, s", relist.seconds.toFixed(1)],
  ["longest /livez meanwhile, ms", relist.longest.toFixed(0)],
  ["resident at most meanwhile, MB", relist.most.toFixed(0)],
];
for (const [name, value] of figures) console.log(name.padEnd(74), value);
for (const one of [...sessions, extra]) one.destroy();

async function fillCluster(of: RunningApiserver): Promise<void> {
  const made = async (path: string, body: object): Promise<string> => {
    const { status, body: text } = await of.call("POST", path, body);
    if (status !== 201) throw new Error(`${path} was answered with ${status}: ${text}`);
    return (JSON.parse(text) as { metadata: { uid: string } }).metadata.uid;
  };
  await of.call("POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } });
  const { containers, volumes, tolerations } = pod.spec;
  const podUid = await made(podsPath, {
    metadata: { name: podName(0), labels: pod.metadata.labels, annotations: pod.metadata.annotations },
    spec: { containers, volumes, tolerations, nodeName: nodeName(0), automountServiceAccountToken: false },
  });
  const nodeUid = await made("/api/v1/nodes", { metadata: { name: nodeName(0) } });
  const leaseUid = await made(leasesPath, {
    metadata: { name: nodeName(0) },
    spec: { holderIdentity: nodeName(0), leaseDurationSeconds: 40 },
  });
  await of.stop();
  const dir = join(of.folder, "data", "store");
  const uid = (word: string) => ({ word, with: uidOf });
  const node = { word: nodeName(0), with: nodeName };
  await fillStore({
    dir,
    key: `/registry/pods/default/${podName(0)}`,
    count: pods,
    replacements: [{ word: podName(0), with: podName }, { word: nodeName(0), with: nodeOf }, uid(podUid)],
  });
  await fillStore({
    dir,
    key: `/registry/minions/${nodeName(0)}`,
    count: nodes,
    replacements: [node, uid(nodeUid)],
  });
  const key = `/registry/leases/default/${nodeName(0)}`;
  await fillStore({ dir, key, count: nodes, replacements: [node, uid(leaseUid)] });
}

async function restarted(of: RunningApiserver): Promise<readonly [wall: number, cpu: number]> {
  const began = performance.now();
  await of.restart();
  return [performance.now() - began, cpuMicros(of.pid) / 1000];
}

function session(of: RunningApiserver): ClientHttp2Session {
  return connect(of.url, { ca: of.ca, settings: { initialWindowSize: 1024 * 1024 } });
}

function ask(over: ClientHttp2Session, method: string, path: string): ClientHttp2Stream {
  return over.request(
    {
      ":method": method,
      ":path": path,
      authorization: `Bearer ${server.token}`,
      "content-type": "application/merge-patch+json",
    },
    { endStream: method === "GET" },
  );
}

function send(over: ClientHttp2Session, method: string, path: string, body?: object): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = ask(over, method, path);
    stream.on("response", (headers) => {
      if (headers[":status"] !== 200) reject(new Error(`${method} ${path}: ${headers[":status"]}`));
    });
    stream.on("data", () => undefined).on("end", resolve);
    stream.on("error", reject);
    if (body) stream.end(JSON.stringify(body));
  });
}

async function openWatches(): Promise<void> {
  let open = 0;
  // From the listed resource version, as agents do.
  const { body } = await server.call("GET", "/api/v1/pods?limit=1");
  const { resourceVersion: version } = (JSON.parse(body) as { metadata: { resourceVersion: string } })
    .metadata;
  for (let at = 0; at < watches; at++) {
    const path =
      at % 2 === 0
        ? `/api/v1/pods?fieldSelector=spec.nodeName%3D${nodeName(((at >> 1) % nodes) + 1)}`
        : `/api/v1/namespaces/default/configmaps?fieldSelector=metadata.name%3Dsettings-${at}`;
    const stream = ask(
      sessions[Math.floor(at / streamsPerConnection)]!,
      "GET",
      `${path}&watch=1&resourceVersion=${version}`,
    );
    stream.on("response", () => open++);
    stream.on("data", (chunk: Buffer) => {
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, end + 1)) seen.events++;
    });
    stream.on("error", () => undefined);
    if (at % 500 === 499) await sleep(20);
  }
  await until(() => open === watches);
}

/** Returns the server's CPU time per operation in microseconds. */
async function measured(times: number, lanes: number, one: (at: number) => Promise<void>): Promise<number> {
  const before = cpuMicros(server.pid);
  await inFlight(lanes, times, one);
  return (cpuMicros(server.pid) - before) / times;
}

/** Renews the lease of every node once, evenly spread, and returns the share of a core this takes. */
async function renewLeases(): Promise<number> {
  const before = cpuMicros(server.pid);
  const began = performance.now();
  const sent: Promise<void>[] = [];
  for (let at = 1; at <= nodes; at++) {
    const due = began + (at / nodes) * renewalSeconds * 1000;
    await sleep(Math.max(0, due - performance.now()));
    const renewTime = new Date().toISOString().replace("Z", "000Z");
    sent.push(send(extra, "PATCH", `${leasesPath}/${nodeName(at)}`, { spec: { renewTime } }));
  }
  await Promise.all(sent);
  // Relative to the nominal ten seconds, however long a busy machine took.
  return (cpuMicros(server.pid) - before) / 1e6 / renewalSeconds;
}

async function relistAll(): Promise<{ seconds: number; longest: number; most: number }> {
  let [longest, most, over] = [0, 0, false];
  const look = async (): Promise<void> => {
    while (!over) {
      const startedAt = performance.now();
      await send(extra, "GET", "/livez");
      longest = Math.max(longest, performance.now() - startedAt);
      most = Math.max(most, residentMegabytes(server.pid));
      await sleep(50);
    }
  };
  const looking = look();
  const began = performance.now();
  await Promise.all(
    Array.from({ length: nodes }, (_, at) =>
      send(
        sessions[at % sessions.length]!,
        "GET",
        `/api/v1/pods?fieldSelector=spec.nodeName%3D${nodeName(at + 1)}&resourceVersion=0`,
      ),
    ),
  );
  const seconds = (performance.now() - began) / 1000;
  over = true;
  await looking;
  return { seconds, longest, most };
}

/** Waits until the server has finished background work, such as building indexes. */
async function calm(): Promise<void> {
  for (let before = 0, now = cpuMicros(server.pid); now - before > 50_000; now = cpuMicros(server.pid)) {
    before = now;
    await sleep(1000);
  }
}

async function until(reached: () => boolean): Promise<void> {
  const end = performance.now() + 120_000;
  while (!reached()) {
    if (performance.now() > end) throw new Error("it did not happen within two minutes");
    await sleep(20);
  }
}
