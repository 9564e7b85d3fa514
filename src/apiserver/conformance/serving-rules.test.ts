// Serving, storage layout and health checks, as document 1 states them in sections 2.3 and 3.
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { type Settings, connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { connect as connectTls } from "node:tls";
import { selfSigned, writePair } from "#authn";
import { createMetrics, silentLog, systemClock, virtualClock } from "#base";
import { dialects } from "#dialect";
import { MemoryStore } from "#store";
import { settingsFor } from "../library/settings.ts";
import { healthChecks, healthTimes } from "../health/health-checks.ts";
import type { Lifecycle } from "#filters";
import { storeMetrics } from "../metrics/store-metrics.ts";
import { serve } from "../server.fixture.ts";
import { hostAddress } from "../serving/host-address.ts";
import { configReloads } from "../serving/reloads.ts";
import { externalAddress, openSecurePort, publicAddress } from "../serving/secure-port.ts";
import { start } from "../server.ts";

const settings = (...flags: string[]) => settingsFor(dialects.orch, { store: "memory", flags });
const folder = (t: TestContext): string => {
  const made = mkdtempSync(join(tmpdir(), "orch-rules-"));
  t.after(() => rmSync(made, { recursive: true }));
  return made;
};

const addresses: [name: string, advertiseAddress: string, bindAddress: string, expected: string][] = [
  ["the advertised address", "192.0.2.7", "192.0.2.8", "192.0.2.7"],
  ["the bind address if none is advertised", "", "192.0.2.8", "192.0.2.8"],
  [
    "the address of the default route if it binds to all interfaces",
    "",
    "0.0.0.0",
    hostAddress("IPv4") ?? "127.0.0.1",
  ],
  [
    "the address of the default IPv6 route if it binds to all IPv6 interfaces",
    "",
    "::",
    hostAddress("IPv6") ?? "127.0.0.1",
  ],
];
for (const [name, advertiseAddress, bindAddress, expected] of addresses)
  test(`members reach the server at ${name}`, () =>
    assert.equal(publicAddress({ ...settings(), advertiseAddress, bindAddress }), expected));

test("an external host name is used in published addresses", async () => {
  assert.equal(externalAddress(settings("--external-hostname=api.example")), "api.example:6443");
  assert.equal(externalAddress(settings("--advertise-address=fd00::1")), "[fd00::1]:6443");
  const { must } = await serve({ flags: ["--external-hostname=api.example"] });
  assert.equal(
    (await must(200, "GET", "/api")).at("serverAddressByClientCIDRs.0.serverAddress"),
    "api.example:6443",
  );
});

for (const address of ["0.0.0.0", "::", ""]) {
  test(`a bind address of "${address}" means all interfaces`, async (t) => {
    const port = await open(t, {
      ...settings(`--bind-address=${address || "::"}`, `--cert-dir=${folder(t)}`),
      ...(address === "" && { bindAddress: "" }),
      securePort: 0,
    });
    assert.match(port.listener.address.address, /^(0\.0\.0\.0|::)$/);
    assert.match(port.url, /^https:\/\/127\.0\.0\.1:\d+$/);
  });
}

async function open(t: TestContext, given: ReturnType<typeof settings>) {
  const stop = new AbortController();
  const port = await openSecurePort({
    settings: given,
    clock: systemClock,
    log: silentLog,
    handle: async () => ({ status: 200, headers: {} }),
    metrics: createMetrics(),
    reloads: configReloads({
      clock: systemClock,
      log: silentLog,
      metrics: createMetrics(),
      signal: stop.signal,
    }),
    signal: stop.signal,
  });
  t.after(async () => {
    stop.abort();
    await port.listener.close();
  });
  return port;
}

test("--http2-max-streams-per-connection is announced to HTTP/2 clients", async (t) => {
  const given = settings("--http2-max-streams-per-connection=7", `--cert-dir=${folder(t)}`);
  const port = await open(t, { ...given, securePort: 0 });
  const session = connect(port.url, { ca: port.certificate });
  t.after(() => session.destroy());
  const [settingsFrame] = (await once(session, "remoteSettings")) as [Settings];
  assert.equal(settingsFrame.maxConcurrentStreams, 7);
});

test("without files a self-signed pair for the public address is created, stored and reused", async (t) => {
  const certDir = folder(t);
  const given = {
    ...settings(`--cert-dir=${certDir}`, "--advertise-address=192.0.2.7", "--bind-address=127.0.0.1"),
    securePort: 0,
  };
  const { certificate } = await open(t, given);
  assert.ok(new X509Certificate(certificate).checkIP("192.0.2.7"));
  assert.deepEqual(readdirSync(certDir).toSorted(), ["apiserver.crt", "apiserver.key"]);
  assert.equal(statSync(join(certDir, "apiserver.key")).mode & 0o077, 0);
  assert.equal((await open(t, given)).certificate, certificate);
});

test("a lone certificate or key in the certificate directory ends the start", async (t) => {
  for (const lone of ["apiserver.crt", "apiserver.key"]) {
    const certDir = folder(t);
    const given = { ...settings(`--cert-dir=${certDir}`, "--bind-address=127.0.0.1"), securePort: 0 };
    writeFileSync(join(certDir, lone), "x");
    const missing = lone === "apiserver.crt" ? "apiserver\\.key" : "apiserver\\.crt";
    await assert.rejects(open(t, given), new RegExp(`^Error: --cert-dir: .*${missing} .* as a pair$`));
  }
});

test("a pair put into the certificate directory before the start is served, whatever its names", async (t) => {
  const certDir = folder(t);
  const files = [join(certDir, "apiserver.crt"), join(certDir, "apiserver.key")] as const;
  const given = { ...settings(`--cert-dir=${certDir}`, "--bind-address=127.0.0.1"), securePort: 0 };
  const validity = { now: Date.now(), days: 1 };
  for (const [commonName, isKept] of [
    ["localhost", true],
    ["localhost@1700000000", false],
  ] as const) {
    const found = selfSigned({ commonName }, ["localhost"], validity);
    writePair(found, ...files);
    assert.equal((await open(t, given)).certificate === found.certificate, isKept, commonName);
  }
});

test("a pair that replaces the self-signed one is served", async (t) => {
  const certDir = folder(t);
  const port = await open(t, {
    ...settings(`--cert-dir=${certDir}`, "--bind-address=127.0.0.1"),
    securePort: 0,
  });
  const other = selfSigned({ commonName: "other" }, ["localhost"], { now: Date.now(), days: 1 });
  writePair(other, join(certDir, "apiserver.crt"), join(certDir, "apiserver.key"));
  const { hostname: host, port: number } = new URL(port.url);
  for (let subject = ""; subject !== "other";) {
    const socket = connectTls({ host, port: Number(number), rejectUnauthorized: false });
    await once(socket, "secureConnect");
    subject = String(socket.getPeerCertificate().subject.CN);
    socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});

test("the certificate directory is not touched if files are given, which may include the CA after the certificate", async (t) => {
  const [certDir, files] = [join(folder(t), "none"), folder(t)];
  const [server, authority] = ["server", "authority"].map((commonName) =>
    selfSigned({ commonName }, ["localhost"], { now: Date.now(), days: 1 }),
  );
  writePair(
    { ...server!, certificate: `${server!.certificate}${authority!.certificate}` },
    join(files, "a.crt"),
    join(files, "a.key"),
  );
  const given = settings(
    `--cert-dir=${certDir}`,
    `--tls-cert-file=${join(files, "a.crt")}`,
    `--tls-private-key-file=${join(files, "a.key")}`,
    "--bind-address=127.0.0.1",
  );
  const { certificate } = await open(t, { ...given, securePort: 0 });
  assert.equal(certificate, readFileSync(join(files, "a.crt"), "utf8"));
  assert.equal(existsSync(certDir), false);
  writePair(authority!, join(files, "b.crt"), join(files, "b.key"));
  const mixed = { ...given, tlsPrivateKeyFile: join(files, "b.key"), securePort: 0 };
  await assert.rejects(open(t, mixed), /the key does not belong to the certificate/);
});

for (const [flag, first, prefix] of [
  ["--storage-media-type=application/json", "{", "/elsewhere"],
  ["--storage-media-type=application/json", "{", "elsewhere/"],
  ["--storage-media-type=application/vnd.orch.protobuf", "k", "//elsewhere"],
] as const) {
  test(`${flag} determines the encoding of stored objects, below the prefix (${prefix})`, async () => {
    const store = new MemoryStore();
    const started = await start({
      dialect: dialects.orch,
      settings: settings(flag, `--store-prefix=${prefix}`),
      store,
      listen: false,
      log: silentLog,
    });
    try {
      const { entries } = await store.read({ prefix: "" });
      assert.ok(entries.length > 50);
      assert.deepEqual(
        entries.filter(({ key }) => !key.startsWith("/elsewhere/")),
        [],
      );
      const namespace = entries.find(({ key }) => key === "/elsewhere/namespaces/default")!;
      assert.equal(Buffer.from(namespace.value).toString("latin1")[0], first);
    } finally {
      await started.stop();
      await store.close();
    }
  });
}

/** Health checks with the given store probe and with unfinished start-up work. */
function checks(clock: ReturnType<typeof virtualClock>, answers: () => Promise<unknown>, leaving = false) {
  return healthChecks({
    dialect: dialects.orch,
    clock,
    log: silentLog,
    lifecycle: { leaving } as unknown as Lifecycle,
    probe: answers,
    ...healthTimes(
      settings("--store-healthcheck-timeout=3s", "--store-readycheck-timeout=1s", "--livez-grace-period=10s"),
    ),
    startUp: [
      {
        name: "work",
        check: () => {
          throw new Error("not done");
        },
      },
    ],
    caughtUp: () => true,
  });
}
const failing = async (
  paths: readonly { readonly name: string; check(): void | Promise<void> }[],
): Promise<string[]> => {
  const failed = await Promise.all(
    paths.map(
      async ({ name, check }) =>
        await Promise.try(check).then(
          () => [],
          () => [name],
        ),
    ),
  );
  return failed.flat();
};

test("the store's checks fail if it does not answer within their timeout", async () => {
  const clock = virtualClock();
  const { healthz, readyz } = checks(clock, () => new Promise(() => undefined));
  const { storeHealthCheck } = dialects.orch.wire;
  const readiness = readyz.filter(({ name }) => name === `${storeHealthCheck}-readiness`);
  const [health, ready, first] = [failing(healthz), failing(readyz), failing(readiness)];
  await clock.advance(1000);
  assert.deepEqual(await first, [`${storeHealthCheck}-readiness`]);
  await clock.advance(2000);
  assert.deepEqual(await health, [storeHealthCheck, "work"]);
  assert.deepEqual(await ready, [storeHealthCheck, `${storeHealthCheck}-readiness`, "work"]);
});

test("unfinished start-up work fails /livez only after the grace period", async () => {
  const clock = virtualClock();
  const { healthz, livez } = checks(clock, async () => undefined);
  assert.deepEqual([await failing(healthz), await failing(livez)], [["work"], []]);
  await clock.advance(10_000);
  assert.deepEqual(await failing(livez), ["work"]);
});

test("a server that is shutting down is live and healthy, but not ready", async () => {
  const { healthz, readyz } = checks(virtualClock(), async () => undefined, true);
  assert.deepEqual((await failing(healthz)).includes("shutdown"), false);
  assert.ok((await failing(readyz)).includes("shutdown"));
});

test("--store-count-metric-poll-period enables counting of objects; 0 disables it", async () => {
  const family = "apiserver_storage_objects{";
  const counting = await serve();
  while (!(await counting.must(200, "GET", "/metrics")).text.includes(family));
  const still = await serve({ flags: ["--store-count-metric-poll-period=0"] });
  for (let look = 0; look < 5; look++)
    assert.ok(!(await still.must(200, "GET", "/metrics")).text.includes(family));
});

test("metrics of the store are sampled at their intervals, and with zero never", async () => {
  const clock = virtualClock();
  const stop = new AbortController();
  const samples = { count: 0, size: 0 };
  const options = {
    clock,
    signal: stop.signal,
    counts: async function* () {
      samples.count++;
      yield ["pods", 3] as const;
    },
    size: async () => ++samples.size,
    endpoint: "embedded",
  };
  storeMetrics({
    ...options,
    metrics: createMetrics({}),
    countEveryMilliseconds: 60_000,
    sizeEveryMilliseconds: 30_000,
  });
  storeMetrics({
    ...options,
    metrics: createMetrics({}),
    countEveryMilliseconds: 0,
    sizeEveryMilliseconds: 0,
    counts: () => assert.fail("counted"),
    size: () => assert.fail("measured"),
  });
  for (let i = 0; i < 4; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(30_000);
  }
  await new Promise((resolve) => setImmediate(resolve));
  stop.abort();
  assert.deepEqual(samples, { count: 3, size: 5 });
});
