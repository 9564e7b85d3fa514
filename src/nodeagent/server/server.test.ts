import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { gunzipSync } from "node:zlib";
import type { Pod } from "#api";
import { createMetrics, silentLog, virtualClock } from "#base";
import { dialects } from "#dialect";
import { fakeRuntime } from "#cri";
import { healthMetrics, inject } from "#http";
import { readMachine } from "../resources/machine.ts";
import type { ContainerHandle, PodRegistry } from "../interfaces.ts";
import { agentRoutes, handler, type ServerParts } from "./server.ts";

const running = {
  name: "main",
  state: { running: { startedAt: "2024-01-01T00:00:00Z" } },
  containerID: "fake://id-main",
};
const podNamed = (name: string, containerStatuses: object[] = [running], spec: object = {}): Pod =>
  ({
    kind: "Pod",
    apiVersion: "v1",
    metadata: { name, namespace: "t1", uid: `uid-${name}` },
    spec: { containers: [{ name: "main" }, { name: "other" }], ...spec },
    status: { phase: "Running", containerStatuses },
  }) as unknown as Pod;

async function setUp(
  t: TestContext,
  changes: {
    pods?: Pod[];
    containers?: ContainerHandle[];
    switches?: Partial<ServerParts["switches"]>;
    port?: "secure" | "readonly";
    stats?: ServerParts["stats"];
    contention?: ServerParts["contention"];
  } = {},
) {
  const folder = await mkdtemp(join(tmpdir(), "server-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const clock = virtualClock(Date.UTC(2024, 0, 1, 12));
  const runtime = fakeRuntime({ clock });
  const pods = changes.pods ?? [podNamed("logger")];
  const registry: PodRegistry = {
    pods: () => pods,
    byName: (namespace, name) =>
      pods.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
    byUid: (uid) => pods.find(({ metadata }) => metadata.uid === uid),
    isUidOf: (pod, uid) => pod.metadata.uid === uid,
    sandboxId: () => "sandbox",
    containers: () =>
      changes.containers ?? [
        { name: "main", id: "id-main", state: "running", attempt: 0, logPath: join(folder, "0.log") },
      ],
    runningPods: () => Promise.resolve(pods),
    sinceRelist: () => sinceRelist,
  };
  let sinceRelist = 0;
  const verbosity: number[] = [];
  const machine = await readMachine();
  const metrics = createMetrics();
  metrics.counter({ name: "own_total", help: "The agent's own.", stability: "ALPHA" }).with().add();
  const parts: ServerParts = {
    dialect: dialects.orch,
    clock,
    log: silentLog,
    nodeName: "n1",
    registry,
    runtime,
    metrics,
    probeMetrics: createMetrics(),
    stats: changes.stats ?? {
      groups: () => Promise.resolve({ groups: [], disks: [], device: "" }),
      get: () =>
        Promise.resolve({
          at: clock.now(),
          startedAt: 0,
          cpu: { nanoseconds: 5e9, nanoCores: 7 },
          memory: {
            availableBytes: 1,
            usageBytes: 2,
            workingSetBytes: 3,
            rssBytes: 4,
            pageFaults: 5,
            majorPageFaults: 6,
          },
          network: [],
          disk: { capacityBytes: 100, availableBytes: 40, freeBytes: 40, inodes: 10, inodesFree: 4 },
          images: {
            filesystem: { capacityBytes: 100, availableBytes: 40, freeBytes: 40, inodes: 10, inodesFree: 4 },
            used: { bytes: 7, inodes: 1 },
          },
          processes: 3,
          podsGroup: undefined,
          pods: [
            {
              name: "logger",
              namespace: "t1",
              uid: "uid-logger",
              startedAt: 0,
              group: "/pods/x",
              cpu: { nanoseconds: 2e9, nanoCores: undefined },
              usage: undefined,
              network: [],
              containers: [
                {
                  name: "main",
                  id: "id-main",
                  image: "img",
                  startedAt: 1000,
                  cpu: { nanoseconds: 1e9, nanoCores: 8 },
                  workingSetBytes: 9,
                  rootfs: { bytes: 10, inodes: 2 },
                  logs: { bytes: 20, inodes: 1 },
                },
              ],
              volumes: [
                {
                  name: "v",
                  used: { bytes: 30, inodes: 3 },
                  filesystem: {
                    capacityBytes: 100,
                    availableBytes: 40,
                    freeBytes: 40,
                    inodes: 10,
                    inodesFree: 4,
                  },
                  isLocal: true,
                },
              ],
              files: { bytes: 0, inodes: 0 },
            },
          ],
        }),
    },
    machine,
    healthMetrics: healthMetrics(dialects.orch),
    configuration: () => ({ port: 10250 }),
    setVerbosity: (level) => void verbosity.push(level),
    contention: changes.contention,
    switches: {
      debugging: true,
      systemLogs: true,
      profiling: true,
      verbosityFlag: true,
      checkpoints: false,
      ...changes.switches,
    },
    hostLogFolder: join(folder, "log"),
    checkpointFolder: join(folder, "checkpoints"),
    streamIdleMilliseconds: 0,
  };
  const handle = handler(agentRoutes(parts, changes.port ?? "secure"), undefined, silentLog);
  const ask = async (method: string, path: string, body?: string, headers: Record<string, string> = {}) => {
    const answer = await inject(handle, { method, path, headers, ...(body !== undefined && { body }) });
    const raw = Buffer.concat(await Array.fromAsync(answer.chunks));
    return { status: answer.status, headers: answer.headers, raw, body: raw.toString() };
  };
  return { folder, clock, runtime, ask, parts, verbosity, stall: () => (sinceRelist = 3_600_000) };
}

const notFound = "404 page not found\n";
const noPage = "404: Page Not Found";
const disabled = "Debug endpoints are disabled.\n";
const answers: [
  port: "secure" | "readonly",
  method: string,
  path: string,
  status: number,
  body: string | RegExp,
  allow?: string,
][] = [
  ["secure", "GET", "/", 404, notFound],
  ["secure", "GET", "/healthz", 200, "ok"],
  ["secure", "POST", "/healthz", 200, "ok"],
  ["secure", "GET", "/healthz/", 404, notFound],
  ["secure", "GET", "/healthz/syncloop", 200, "ok"],
  ["secure", "GET", "/healthz/nope", 404, notFound],
  [
    "secure",
    "GET",
    "/pods",
    200,
    /^\{"kind":"PodList","apiVersion":"v1","metadata":\{\},"items":\[\{"metadata":\{"name":"logger"/,
  ],
  ["secure", "GET", "/pods/", 200, /^\{"kind":"PodList"/],
  ["secure", "GET", "/pods/x", 404, noPage],
  ["secure", "PUT", "/pods", 405, "405: Method Not Allowed", "GET"],
  ["secure", "GET", "//pods", 301, '<a href="/pods">Moved Permanently</a>.\n\n'],
  ["secure", "GET", "/runningpods", 301, '<a href="/runningpods/">Moved Permanently</a>.\n\n'],
  ["secure", "GET", "/runningpods/", 200, /^\{"kind":"PodList"/],
  ["secure", "GET", "/stats", 301, /stats\//],
  ["secure", "GET", "/stats/", 404, noPage],
  ["secure", "POST", "/stats/summary/", 200, /^\{/],
  ["secure", "PATCH", "/stats/summary", 405, "405: Method Not Allowed", "GET, POST"],
  ["secure", "GET", "/metrics/", 404, notFound],
  ["secure", "GET", "/configz", 200, '{"nodeagentconfig":{"port":10250}}'],
  ["secure", "GET", "/configz/", 404, notFound],
  ["secure", "GET", "/logs", 301, /logs\//],
  ["secure", "GET", "/logs/", 200, '<pre>\n<a href="a.log">a.log</a>\n<a href="pods/">pods/</a>\n</pre>\n'],
  ["secure", "GET", "/logs/a.log", 200, "host line\n"],
  ["secure", "GET", "/logs/pods", 301, ""],
  ["secure", "GET", "/logs/a.log/", 301, ""],
  ["secure", "GET", "/logs/nope", 404, notFound],
  ["secure", "GET", "/logs/pods/in", 200, "pod line\n"],
  ["secure", "GET", "/logs/pods/out", 404, notFound],
  ["secure", "GET", "/logs/%2e%2e/0.log", 404, notFound],
  ["secure", "GET", "/containerLogs", 404, noPage],
  ["secure", "GET", "/containerLogs/t1/logger", 404, noPage],
  ["secure", "POST", "/containerLogs/t1/logger/main", 405, "405: Method Not Allowed", "GET"],
  ["secure", "GET", "/exec", 404, noPage],
  ["secure", "GET", "/exec/t1/logger/main", 400, "you must specify at least 1 of stdin, stdout, stderr"],
  ["secure", "GET", "/exec/t1/logger/main?command=ls&output=1", 500, "Upgrade request required\n"],
  ["secure", "POST", "/exec/t1/logger/nope?command=ls&output=1", 500, 'container not found ("nope")'],
  ["secure", "POST", "/exec/t1/nope/main?command=ls&output=1", 404, "pod does not exist"],
  ["secure", "POST", "/attach/t1/logger/nope?output=1", 500, "container nope not found in pod logger_t1"],
  ["secure", "POST", "/attach/t1/logger/main?output=1", 500, "Upgrade request required\n"],
  ["secure", "POST", "/portForward/t1/logger", 500, "Upgrade request required\n"],
  ["secure", "POST", "/portForward/t1/nope", 404, "pod does not exist"],
  ["secure", "GET", "/run/t1/logger/main?cmd=ls", 405, "405: Method Not Allowed", "POST"],
  ["secure", "POST", "/run/t1/nope/main?cmd=ls", 404, "pod does not exist"],
  ["secure", "POST", "/run/t1/logger/nope?cmd=ls", 500, 'container not found ("nope")'],
  ["secure", "POST", "/checkpoint/t1/logger/main", 404, notFound],
  ["secure", "GET", "/debug", 404, notFound],
  ["secure", "GET", "/debug/pprof", 301, /pprof\//],
  ["secure", "GET", "/debug/pprof/", 404, noPage],
  ["secure", "GET", "/debug/pprof/nope", 404, "Unknown profile\n"],
  ["secure", "GET", "/debug/pprof/symbol", 200, "num_symbols: 1\n"],
  ["secure", "GET", "/debug/flags/v", 406, "unsupported http method\n"],
  ["readonly", "GET", "/pods", 200, /^\{"kind":"PodList"/],
  ["readonly", "GET", "/configz", 404, notFound],
  ["readonly", "GET", "/containerLogs", 301, /containerLogs\//],
  ["readonly", "GET", "/containerLogs/t1/logger/main", 405, disabled],
  ["readonly", "POST", "/exec/t1/logger/main", 405, disabled],
  ["readonly", "GET", "/logs/", 405, disabled],
  ["readonly", "GET", "/debug/flags/v", 404, notFound],
];
for (const [port, method, path, status, body, allow] of answers) {
  test(`${port} port: ${method} ${path} responds with ${status}`, async (t) => {
    const { ask, folder } = await setUp(t, { port });
    await mkdir(join(folder, "log", "pods"), { recursive: true });
    await writeFile(join(folder, "log", "a.log"), "host line\n");
    await writeFile(join(folder, "log", "pods", "0.log"), "pod line\n");
    await writeFile(join(folder, "secret"), "password\n");
    await symlink(join(folder, "secret"), join(folder, "log", "pods", "out"));
    await symlink("0.log", join(folder, "log", "pods", "in"));
    const answer = await ask(method, path);
    assert.equal(answer.status, status);
    if (typeof body === "string") assert.equal(answer.body, body);
    else assert.match(answer.body, body);
    assert.equal(answer.headers["allow"], allow);
    const sure = [
      notFound,
      disabled,
      "Upgrade request required\n",
      "Unknown profile\n",
      "unsupported http method\n",
      "num_symbols: 1\n",
    ];
    assert.equal(
      answer.headers["x-content-type-options"] === "nosniff",
      sure.includes(String(body)) || path === "/healthz" || path === "/configz",
    );
  });
}

test("switches disable handlers", async (t) => {
  const off = await setUp(t, { switches: { debugging: false } });
  assert.deepEqual(
    [
      (await off.ask("GET", "/configz")).status,
      (await off.ask("GET", "/containerLogs/t1/logger/main")).body,
      (await off.ask("GET", "/pods")).status,
    ],
    [404, disabled, 200],
  );
  const some = await setUp(t, { switches: { systemLogs: false, profiling: false, verbosityFlag: false } });
  assert.deepEqual(
    [
      (await some.ask("GET", "/logs/")).status,
      (await some.ask("GET", "/debug/pprof/symbol")).status,
      (await some.ask("PUT", "/debug/flags/v", "3")).status,
    ],
    [405, 404, 404],
  );
});

test("the verbosity can be set", async (t) => {
  const { ask, verbosity } = await setUp(t);
  assert.equal(
    (await ask("PUT", "/debug/flags/v", "3")).body,
    "successfully set klog.logging.verbosity to 3\n",
  );
  assert.deepEqual(verbosity, [3]);
  const bad = await ask("PUT", "/debug/flags/v", "x");
  assert.deepEqual([bad.status, bad.body], [400, 'strconv.ParseUint: parsing "x": invalid syntax\n']);
});

test("the health check fails when the runtime has not been relisted for long", async (t) => {
  const { ask, stall } = await setUp(t);
  stall();
  assert.deepEqual(
    [
      (await ask("GET", "/healthz")).status,
      (await ask("GET", "/healthz/syncloop")).status,
      (await ask("GET", "/healthz/ping")).status,
    ],
    [500, 500, 200],
  );
});

test("stats are served as a summary and as metrics", async (t) => {
  const { ask } = await setUp(t);
  const whole = JSON.parse((await ask("GET", "/stats/summary")).body) as {
    node: Record<string, object>;
    pods: Record<string, object>[];
  };
  assert.deepEqual(whole.node["fs"], {
    time: "2024-01-01T12:00:00Z",
    availableBytes: 40,
    capacityBytes: 100,
    usedBytes: 60,
    inodesFree: 4,
    inodes: 10,
    inodesUsed: 6,
  });
  assert.deepEqual(Object.keys(whole.pods[0]!), [
    "podRef",
    "startTime",
    "containers",
    "cpu",
    "memory",
    "volume",
    "ephemeral-storage",
    "process_stats",
  ]);
  assert.equal((whole.pods[0]!["ephemeral-storage"] as { usedBytes: number }).usedBytes, 60);
  const few = JSON.parse((await ask("GET", "/stats/summary?only_cpu_and_memory=true")).body) as {
    node: object;
    pods: object[];
  };
  assert.deepEqual(Object.keys(few.pods[0]!), ["podRef", "startTime", "containers", "cpu", "memory"]);
  const resource = (await ask("GET", "/metrics/resource")).body;
  assert.match(
    resource,
    /^container_cpu_usage_seconds_total\{container="main",namespace="t1",pod="logger"\} 1 1704110400000$/m,
  );
  assert.match(resource, /^# TYPE pod_memory_working_set_bytes gauge$/m);
  assert.match((await ask("GET", "/metrics/cadvisor")).body, /^machine_cpu_cores\{/m);
});

test("recorded event loop delays are served as block profile", async (t) => {
  const stack = [{ functionName: "event loop", url: "", lineNumber: 0 }];
  const samples = () => [{ stack, values: [3, 40_000_000] }];
  const recording = await setUp(t, { contention: { samples, stop: () => undefined } });
  for (const name of ["block", "mutex"]) {
    const { status, raw } = await recording.ask("GET", `/debug/pprof/${name}`);
    assert.equal(status, 200);
    assert.match(gunzipSync(raw).toString("latin1"), /event loop.*contentions.*delay/s);
  }
  const other = await setUp(t);
  assert.equal((await other.ask("GET", "/debug/pprof/block")).status, 404);
});

test("a runtime without stats does not remove other metrics", async (t) => {
  const fail = (): Promise<never> => Promise.reject(new Error("container not found"));
  const { ask } = await setUp(t, { stats: { get: fail, groups: fail }, port: "readonly" });
  const metricLines = async (path: string): Promise<string[]> => {
    const { status, body } = await ask("GET", path);
    assert.equal(status, 200, path);
    return body.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  };
  assert.deepEqual(await metricLines("/metrics"), ["own_total 1"]);
  assert.deepEqual(await metricLines("/metrics/resource"), ["scrape_error 1"]);
  const [error, ...machine] = await metricLines("/metrics/cadvisor");
  assert.equal(error, "container_scrape_error 1");
  assert.ok(machine.every((line) => line.startsWith("machine_")) && machine.length > 0);
  assert.equal((await ask("GET", "/stats/summary")).status, 500);
});

const logText = [
  "2024-01-01T00:00:01.000000001Z stderr F err-line",
  "2024-01-01T00:00:02Z stdout F line-1",
  "2024-01-01T00:00:03.5Z stdout P par",
  "2024-01-01T00:00:03.6Z stdout F tial",
  "nonsense",
  "2024-01-01T11:59:58Z stdout F line-3",
  "",
].join("\n");
const all = "err-line\nline-1\npartial\nline-3\n";
const waiting = (reason: string): Pod =>
  podNamed("logger", [{ name: "main", state: { waiting: { reason } } }]);
const logs: [query: string, status: number, body: string, pod?: Pod][] = [
  ["", 200, all],
  ["?tailLines=1", 200, "line-3\n"],
  ["?tailLines=0", 200, ""],
  ["?tailLines=100", 200, all],
  ["?tailLines=-1", 422, '{"message": "Invalid request."}'],
  ["?tail=1&tailLines=2", 200, "line-3\n"],
  ["?tail=all&tailLines=1", 200, all],
  ["?tail=x", 400, '{"message": "Unable to decode query."}'],
  ["?tailLines=9223372036854775807", 200, all],
  ["?tailLines=9223372036854775808", 400, '{"message": "Unable to decode query."}'],
  ["?sinceTime=null", 200, all],
  ["?tailLines=abc", 400, '{"message": "Unable to decode query."}'],
  ["?tailLines=", 400, '{"message": "Unable to decode query."}'],
  ["?limitBytes=10", 200, "err-line\nl"],
  ["?limitBytes=0", 422, '{"message": "Invalid request."}'],
  ["?sinceSeconds=5", 200, "line-3\n"],
  ["?sinceSeconds=0", 422, '{"message": "Invalid request."}'],
  ["?sinceTime=2024-01-01T00:00:02Z", 200, "line-1\npartial\nline-3\n"],
  ["?sinceTime=2099-01-01T00:00:00Z", 200, ""],
  ["?sinceTime=yesterday", 400, '{"message": "Unable to decode query."}'],
  ["?sinceTime=2020-01-01T00:00:00Z&sinceSeconds=5", 422, '{"message": "Invalid request."}'],
  ["?timestamps=x&limitBytes=40", 200, "2024-01-01T00:00:01.000000001Z err-line\n"],
  ["?timestamps=true&tailLines=1", 200, "2024-01-01T11:59:58.000000000Z line-3\n"],
  ["?timestamps=0&tailLines=1", 200, "line-3\n"],
  ["?previous=true", 400, 'previous terminated container "main" in pod "logger" not found'],
  [
    "",
    400,
    'container "main" in pod "logger" is waiting to start: PodInitializing',
    waiting("PodInitializing"),
  ],
  [
    "",
    400,
    `container "main" in pod "logger" is waiting to start: image can't be pulled`,
    waiting("ErrImagePull"),
  ],
  ["", 400, 'container "main" in pod "logger" is not available', podNamed("logger", [])],
  [
    "",
    200,
    all,
    podNamed("logger", [
      {
        name: "main",
        state: { waiting: { reason: "CrashLoopBackOff" } },
        lastState: { terminated: { containerID: "fake://id-main" } },
      },
    ]),
  ],
  [
    "?previous=1",
    200,
    "unable to retrieve container logs for fake://gone",
    podNamed("logger", [{ ...running, lastState: { terminated: { containerID: "fake://gone" } } }]),
  ],
  [
    "?previous=1",
    200,
    all,
    podNamed("logger", [{ ...running, lastState: { terminated: { containerID: "fake://id-main" } } }]),
  ],
];
for (const [query, status, body, pod] of logs) {
  test(`a log request with query ${query || "(none)"} responds with ${status} ${JSON.stringify(body.slice(0, 60))}`, async (t) => {
    const { ask, folder } = await setUp(t, pod ? { pods: [pod] } : {});
    await writeFile(join(folder, "0.log"), logText);
    const answer = await ask("GET", `/containerLogs/t1/logger/main${query}`);
    assert.deepEqual([answer.status, answer.body], [status, body]);
    assert.equal(
      answer.headers["content-type"],
      status === 422 || body.includes("decode") ? "text/plain; charset=utf-8" : undefined,
    );
  });
}

test("logs of missing pods and containers", async (t) => {
  const { ask } = await setUp(t);
  assert.equal((await ask("GET", "/containerLogs/t1/nope/main")).body, 'pod "nope" does not exist');
  assert.equal(
    (await ask("GET", "/containerLogs/t1/logger/nope")).body,
    'container "nope" not found in pod "logger"',
  );
});

test("one port serves health check metrics, which DELETE resets", async (t) => {
  const { ask, stall } = await setUp(t, { switches: { healthMetrics: "secure" } });
  const lines = async (): Promise<string[]> =>
    (await ask("GET", "/metrics/slis")).body.split("\n").filter((line) => line.startsWith("orch_"));
  assert.deepEqual(await lines(), []);
  await ask("GET", "/healthz?exclude=log");
  stall();
  await ask("GET", "/healthz?exclude=log");
  assert.deepEqual(await lines(), [
    'orch_healthcheck{name="ping",type="healthz"} 1',
    'orch_healthcheck{name="syncloop",type="healthz"} 0',
    'orch_healthchecks_total{name="ping",status="success",type="healthz"} 2',
    'orch_healthchecks_total{name="syncloop",status="error",type="healthz"} 1',
    'orch_healthchecks_total{name="syncloop",status="success",type="healthz"} 1',
  ]);
  assert.equal((await ask("DELETE", "/metrics/slis")).body, "metrics reset\n");
  assert.deepEqual(await lines(), []);
  const other = await setUp(t, { switches: { healthMetrics: "readonly" } });
  assert.equal((await other.ask("GET", "/metrics/slis")).status, 404);
});
