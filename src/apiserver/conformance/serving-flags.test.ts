// Flags of serving and storage, from the command line to their effect.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { silentLog, systemClock, virtualClock } from "#base";
import { dialects, timelineGroup } from "#dialect";
import { MemoryStore, type Write } from "#store";
import { settingsFor } from "../library/settings.ts";
import { at, serve } from "../server.fixture.ts";
import { servingFor } from "../serving/serving.ts";
import { start } from "../server.ts";

const settings = (...flags: string[]) => settingsFor(dialects.orch, { store: "memory", flags });
const folder = mkdtempSync(join(tmpdir(), "orch-flags-"));
after(() => rmSync(folder, { recursive: true }));
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("--strict-transport-security-directives are sent with every response", async () => {
  const { ask } = await serve({ flags: ["--strict-transport-security-directives=max-age=60,preload"] });
  for (const path of ["/version", "/nowhere"])
    assert.equal((await ask("GET", path)).headers["strict-transport-security"], "max-age=60; preload");
  const plain = await serve();
  assert.equal((await plain.ask("GET", "/version")).headers["strict-transport-security"], undefined);
});

const contention: [flags: string[], status: number][] = [
  [[], 404],
  [["--contention-profiling"], 200],
  [["--contention-profiling", "--profiling=false"], 404],
];
for (const [flags, status] of contention)
  test(`/debug/pprof/block answers ${status} for ${flags.join(" ") || "no flags"}`, async () => {
    const { ask } = await serve({ flags });
    assert.equal((await ask("GET", "/debug/pprof/block")).status, status);
  });

const endings: [flag: string, option: string, value: unknown][] = [
  ["--shutdown-delay-duration=7s", "delayMilliseconds", 7000],
  ["--shutdown-send-retry-after", "sendRetryAfter", true],
  ["--shutdown-watch-termination-grace-period=9s", "watchGraceMilliseconds", 9000],
  ["--request-timeout=5s", "requestTimeoutMilliseconds", 5000],
];
for (const [flag, option, value] of endings)
  test(`the shutdown is configured by ${flag}`, () => {
    const optionsOf = (...flags: string[]): unknown => {
      const serving = servingFor({
        dialect: dialects.orch,
        settings: settings(...flags),
        enabled: () => false,
        gates: [],
        clock: systemClock,
        log: silentLog,
        served: () => false,
      });
      serving.stop();
      return at(serving.lifecycle.options, option);
    };
    assert.equal(optionsOf(flag), value);
    assert.notEqual(optionsOf(), value);
  });

test("a watch lasts at least --min-request-timeout and less than twice as long", async () => {
  const clock = virtualClock();
  const { watch, must } = await serve({ flags: ["--min-request-timeout=100"], clock });
  const path = "/api/v1/namespaces/default/configmaps";
  const watching = watch(`${path}?watch=true`);
  const create = async (name: string): Promise<void> =>
    void (await must(201, "POST", path, { body: { metadata: { name } } }));
  await create("a");
  await watching.next();
  await clock.advance(99_000);
  await create("b");
  assert.equal((await watching.next()).length, 1);
  const over = watching.rest();
  await clock.advance(101_000);
  assert.deepEqual(await over, []);
});

test("--max-connection-bytes-per-sec limits watches to that rate", async () => {
  const clock = virtualClock();
  const { watch, must } = await serve({ flags: ["--max-connection-bytes-per-sec=200"], clock });
  const path = "/api/v1/namespaces/default/configmaps";
  const watching = watch(`${path}?watch=true`);
  await must(201, "POST", path, { body: { metadata: { name: "a" }, data: { a: "x".repeat(1000) } } });
  let arrived = false;
  void watching.next().then(() => (arrived = true));
  let seconds = 0;
  for (; !arrived; seconds++) {
    for (let i = 0; i < 20; i++) await turn();
    await clock.advance(1000);
  }
  watching.stop();
  assert.ok(seconds >= 5, `${seconds} s`);
});

for (const [flags, left] of [
  [[], 200],
  [["--enable-garbage-collector=false"], 404],
] as const)
  test(`an object deleted in the foreground is answered with ${left} after ${flags[0] ?? "no flag"}`, async () => {
    const { must } = await serve({ flags });
    const path = "/api/v1/namespaces/default/configmaps";
    await must(201, "POST", path, { body: { metadata: { name: "a" } } });
    await must(200, "DELETE", `${path}/a?propagationPolicy=Foreground`);
    const kept = await must(left, "GET", `${path}/a`);
    if (left === 200) assert.deepEqual(kept.at("metadata.finalizers"), ["foregroundDeletion"]);
  });

/** Records the maximum number of concurrent writes. */
class BusyStore extends MemoryStore {
  most = 0;
  #now = 0;
  override async write(write: Write) {
    this.most = Math.max(this.most, ++this.#now);
    await turn();
    this.#now--;
    return await super.write(write);
  }
}

for (const [workers, least, most] of [
  [1, 1, 64],
  [2, 65, 128],
] as const)
  test(`--delete-collection-workers=${workers} runs at most ${most} deletions concurrently`, async () => {
    const store = new BusyStore();
    const server = await start({
      dialect: dialects.orch,
      settings: settings(`--delete-collection-workers=${workers}`),
      store,
      listen: false,
      log: silentLog,
    });
    const trusted = { name: "admin", groups: ["system:masters"] };
    const path = "/api/v1/namespaces/default/configmaps";
    for (let i = 0; i < 200; i++)
      await server.inject({
        method: "POST",
        path,
        trusted,
        body: JSON.stringify({ metadata: { name: `n${i}` } }),
      });
    store.most = 0;
    assert.equal((await server.inject({ method: "DELETE", path, trusted })).status, 200);
    assert.ok(store.most >= least && store.most <= most, `${store.most} at once`);
    await server.stop();
    await store.close();
  });

test("--store-db-metric-poll-interval enables measuring the store's size; 0 disables it", async () => {
  const family = "apiserver_storage_size_bytes{";
  const measuring = await serve();
  while (!(await measuring.must(200, "GET", "/metrics")).text.includes(family)) await turn();
  const still = await serve({ flags: ["--store-db-metric-poll-interval=0"] });
  for (let look = 0; look < 5; look++)
    assert.ok(!(await still.must(200, "GET", "/metrics")).text.includes(family));
});

test("plug-ins are configured by the file of --admission-control-config-file", async () => {
  const file = join(folder, "admission.json");
  const { groupSuffix } = dialects.orch.wire;
  writeFileSync(
    file,
    JSON.stringify({
      apiVersion: `apiserver.config.${groupSuffix}/v1`,
      kind: "AdmissionConfiguration",
      plugins: [
        {
          name: "PodSecurity",
          configuration: {
            apiVersion: `pod-security.admission.config.${groupSuffix}/v1`,
            kind: "PodSecurityConfiguration",
            defaults: { enforce: "restricted" },
          },
        },
      ],
    }),
  );
  const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } };
  for (const [flags, status] of [
    [[], 201],
    [[`--admission-control-config-file=${file}`], 403],
  ] as const) {
    const { must, place } = await serve({ flags: ["--disable-admission-plugins=ServiceAccount", ...flags] });
    await must(status, "POST", `/api/v1/namespaces/${await place()}/pods`, { body: pod });
  }
});

for (const [flags, status] of [
  [[], 422],
  [["--allow-privileged"], 201],
] as const)
  test(`a privileged pod is answered with ${status} for ${flags[0] ?? "no flag"}`, async () => {
    const { must } = await serve({ flags: ["--disable-admission-plugins=ServiceAccount", ...flags] });
    const spec = { containers: [{ name: "c", image: "i", securityContext: { privileged: true } }] };
    const path = "/api/v1/namespaces/default/pods";
    await must(status, "POST", path, { body: { metadata: { name: "p" }, spec } });
  });

test("resources of --store-servers-overrides are kept in a separate store", async () => {
  const store = new MemoryStore();
  const server = await start({
    dialect: dialects.orch,
    settings: settings("--store-servers-overrides=/configmaps#memory://"),
    store,
    listen: false,
    log: silentLog,
  });
  const trusted = { name: "admin", groups: ["system:masters"] };
  for (const resource of ["configmaps", "secrets"]) {
    const path = `/api/v1/namespaces/default/${resource}`;
    const body = JSON.stringify({ metadata: { name: "a" } });
    assert.equal((await server.inject({ method: "POST", path, trusted, body })).status, 201);
  }
  const kept = async (resource: string): Promise<number> =>
    (await store.read({ prefix: `/registry/${resource}/default/` })).entries.length;
  assert.deepEqual([await kept("configmaps"), await kept("secrets")], [0, 1]);
  await server.stop();
  await store.close();
});

test("only the origins of --cors-allowed-origins are allowed", async () => {
  const { ask } = await serve({ flags: ["--cors-allowed-origins=^https://a\\.example$"] });
  const allowed = async (origin: string): Promise<unknown> =>
    (await ask("GET", "/version", { headers: { origin } })).headers["access-control-allow-origin"];
  assert.equal(await allowed("https://a.example"), "https://a.example");
  assert.equal(await allowed("https://b.example"), undefined);
});

test("--ui=false serves no timeline", async () => {
  const path = `/apis/${timelineGroup}/v1/timelines`;
  await (await serve()).must(200, "GET", path);
  await (await serve({ flags: ["--ui=false"] })).must(404, "GET", path);
});

test("history is compacted at --store-compaction-interval, and with 0 never", async () => {
  for (const [flag, compacted] of [
    ["--store-compaction-interval=10s", true],
    ["--store-compaction-interval=0", false],
  ] as const) {
    const clock = virtualClock();
    const { must, ask } = await serve({ flags: [flag], clock });
    const path = "/api/v1/namespaces/default/configmaps";
    const first = await must(201, "POST", path, { body: { metadata: { name: "a" } } });
    await must(201, "POST", path, { body: { metadata: { name: "b" } } });
    const version = String(first.at("metadata.resourceVersion"));
    const old = async (): Promise<number> =>
      (await ask("GET", `${path}?resourceVersion=${version}&resourceVersionMatch=Exact`)).status;
    for (let look = 0; look < 10 && (await old()) === 200; look++) {
      await clock.advance(10_000);
      for (let i = 0; i < 5; i++) await turn();
    }
    assert.equal(await old(), compacted ? 410 : 200, flag);
  }
});

test("services get addresses of --service-cluster-ip-range and ports of --service-node-port-range", async () => {
  const { must } = await serve({
    flags: ["--service-cluster-ip-range=10.9.8.0/28", "--service-node-port-range=31000-31003"],
  });
  const spec = { type: "NodePort", ports: [{ port: 80 }] };
  const path = "/api/v1/namespaces/default/services";
  const made = await must(201, "POST", path, { body: { metadata: { name: "a" }, spec } });
  assert.match(String(made.at("spec.clusterIP")), /^10\.9\.8\.\d+$/);
  assert.match(String(made.at("spec.ports.0.nodePort")), /^3100[0-3]$/);
});
