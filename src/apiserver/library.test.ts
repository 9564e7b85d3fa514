import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { ApiError, virtualClock } from "#base";
import { apiClient, connectionOf, https, isWatch, kinds } from "#client";
import { dialectNamed } from "#dialect";
import { startServer } from "./library.ts";

const run = promisify(execFile);
const names = (items: Iterable<{ metadata: { name?: string | undefined } }>): string[] =>
  [...items].map(({ metadata }) => metadata.name ?? "").sort();
const map = (name: string, value = "1") => ({ metadata: { name, namespace: "default" }, data: { value } });

test("an in-process server answers its client and inject", async () => {
  await using server = await startServer({ store: "memory" });
  assert.equal(server.url, "");
  const maps = server.client.of(kinds.configMaps);
  await maps.create(map("a"));
  assert.equal((await maps.get("a", { namespace: "default" })).data?.["value"], "1");
  const answer = await server.inject({ path: "/api/v1/namespaces/default/configmaps/a" });
  assert.equal(answer.status, 200);
  assert.equal(((await answer.json()) as { metadata: { name: string } }).metadata.name, "a");
});

test("several servers run in one process, in both dialects, and share nothing", async () => {
  await using one = await startServer({ store: "memory" });
  await using other = await startServer({ store: "memory", dialect: "kubernetes" });
  await one.client.of(kinds.configMaps).create(map("only-here"));
  assert.deepEqual(names((await other.client.of(kinds.configMaps).list({ namespace: "default" })).items), []);
  const roots = await Promise.all(
    [one, other].map(async (server) =>
      ((await server.client.request("GET", "/apis")) as { groups: { name: string }[] }).groups.map(
        ({ name }) => name,
      ),
    ),
  );
  assert.ok(roots[0]!.includes("events.orch.io"));
  assert.ok(roots[1]!.includes("events.k8s.io"));
});

test("a port serves HTTPS only to clients that have the client config", async () => {
  await using server = await startServer({ store: "memory", port: 0 });
  assert.match(server.url, /^https:\/\/127\.0\.0\.1:\d+$/);
  const dialect = dialectNamed("orch")!;
  const transport = https(connectionOf(server.clientConfig));
  const client = apiClient(transport, dialect).of(kinds.configMaps);
  await client.create(map("over-the-wire"));
  assert.deepEqual(names((await server.client.of(kinds.configMaps).list({ namespace: "default" })).items), [
    "over-the-wire",
  ]);
  const { token: _token, ...anonymous } = connectionOf(server.clientConfig);
  const stranger = https(anonymous);
  await assert.rejects(
    apiClient(stranger, dialect).of(kinds.configMaps).list({ namespace: "default" }),
    (error) => error instanceof ApiError && error.code === 403,
  );
  transport.close();
  stranger.close();
});

test("a store in a directory survives a restart of the server", async () => {
  const dir = mkdtempSync(join(tmpdir(), "orch-library-"));
  try {
    const first = await startServer({ store: { dir } });
    await first.client.of(kinds.configMaps).create(map("kept"));
    await first.stop();
    await first.stop();
    await using second = await startServer({ store: { dir } });
    assert.deepEqual(names((await second.client.of(kinds.configMaps).list({ namespace: "default" })).items), [
      "kept",
    ]);
    await assert.rejects(second.kit.snapshot(), /store: "memory"/);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test("a server that fails to start closes what it has opened", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "orch-failing-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const store = { dir };
  await (await startServer({ store })).stop();
  await assert.rejects(startServer({ store, dialect: "kubernetes" }), /made with --dialect=orch/);
  await using _again = await startServer({ store });
});

test("invalid flags are rejected with all their errors", async () => {
  await assert.rejects(
    startServer({ store: "memory", flags: ["--no-such-flag", "--event-ttl=x"] }),
    /no-such-flag.*event-ttl|event-ttl.*no-such-flag/s,
  );
  await assert.rejects(startServer({ store: "memory", flags: ["--help"] }), /for the program/);
  for (const store of ["disk", {}, undefined, { dir: 5 }])
    await assert.rejects(startServer({ store: store as "memory" }), /^Error: store: .* is none of "memory"/);
  await assert.rejects(startServer({ store: { etcd: [] } }), /at least one/);
});

test("after stop() nothing keeps the process alive", async () => {
  const program = `
    import { startServer, kinds } from ${JSON.stringify(join(import.meta.dirname, "index.ts"))};
    const server = await startServer({ store: "memory", port: 0 });
    const watching = (async () => { for await (const _ of server.client.of(kinds.configMaps).watch({ namespace: "default" })); })();
    await server.client.of(kinds.configMaps).create({ metadata: { name: "a", namespace: "default" } });
    await server.stop();
    await watching;
    // A closed socket is released a few turns later.
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    process.stdout.write(JSON.stringify(process.getActiveResourcesInfo().filter((name) => !/^(PipeWrap|TTYWrap|FSReqCallback|Immediate|CloseReq|TickObject)$/.test(name))));
  `;
  const { stdout } = await run(
    process.execPath,
    ["--conditions=orch-source", "--input-type=module", "-e", program],
    {
      timeout: 80_000,
      cwd: join(import.meta.dirname, "..", ".."),
    },
  );
  assert.equal(stdout, "[]");
});

test("a rewind restores a snapshot, and watchers see each change", async () => {
  await using server = await startServer({ store: "memory" });
  const maps = server.client.of(kinds.configMaps);
  await maps.create(map("changed"));
  await maps.create(map("deleted"));
  const snapshot = await server.kit.snapshot();
  const { resourceVersion } = await maps.list({ namespace: "default" });
  await maps.update(map("changed", "2"));
  await maps.delete("deleted", { namespace: "default" });
  await maps.create(map("new"));
  await server.kit.rewind(snapshot);
  const { items } = await maps.list({ namespace: "default" });
  assert.deepEqual(
    items.map(({ metadata, data }) => [metadata.name, data?.["value"]]),
    [
      ["changed", "1"],
      ["deleted", "1"],
    ],
  );
  const seen: string[] = [];
  for await (const event of maps.watch({ namespace: "default", resourceVersion })) {
    if (event.type !== "BOOKMARK" && event.type !== "ERROR")
      seen.push(`${event.type} ${event.object.metadata.name}`);
    if (seen.length === 6) break;
  }
  assert.deepEqual(seen.slice(0, 3), ["MODIFIED changed", "DELETED deleted", "ADDED new"]);
  assert.deepEqual(seen.slice(3).toSorted(), ["ADDED deleted", "DELETED new", "MODIFIED changed"]);
  await using other = await startServer({ store: "memory" });
  await assert.rejects(other.kit.rewind(snapshot), /another server/);
});

for (const flag of ["--watch-cache=false", "--watch-cache-sizes=configmaps#0,namespaces#0"]) {
  test(`${flag} reads directly from the store, and roles and webhooks still apply`, async () => {
    await using server = await startServer({ store: "memory", flags: [flag] });
    const viewer = { name: "vera", groups: ["system:authenticated"] };
    await server.client.of(kinds.clusterRoles).create({
      metadata: { name: "reader" },
      rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list", "watch"] }],
    });
    await server.client.of(kinds.clusterRoleBindings).create({
      metadata: { name: "vera" },
      roleRef: { apiGroup: "rbac.authorization.orch.io", kind: "ClusterRole", name: "reader" },
      subjects: [{ kind: "User", name: "vera", apiGroup: "rbac.authorization.orch.io" }],
    });
    const [maps, hers] = [server.client.of(kinds.configMaps), server.kit.client(viewer).of(kinds.configMaps)];
    const { resourceVersion } = await maps.list({ namespace: "default" });
    await maps.create(map("a"));
    assert.deepEqual(names((await hers.list({ namespace: "default" })).items), ["a"]);
    await assert.rejects(hers.delete("a", { namespace: "default" }), /forbidden/);
    for await (const event of hers.watch({ namespace: "default", resourceVersion })) {
      assert.equal(event.type, "ADDED");
      break;
    }
    const pages = await maps.list({ namespace: "default", limit: 1, resourceVersion: "0" });
    assert.equal(pages.items.length, 1);
    const webhook = {
      name: "nobody.example.com",
      clientConfig: { url: "https://127.0.0.1:1/" },
      rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["secrets"] }],
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
    };
    await server.client.request(
      "POST",
      "/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations",
      JSON.stringify({ metadata: { name: "nobody-answers" }, webhooks: [webhook] }),
    );
    await assert.rejects(
      server.client.of(kinds.secrets).create({ metadata: { name: "s", namespace: "default" } }),
      /nobody\.example\.com/,
    );
  });
}

test("a fork starts with the state of its origin and then diverges", async () => {
  await using server = await startServer({ store: "memory" });
  const maps = server.client.of(kinds.configMaps);
  const before = await maps.create(map("shared"));
  await using fork = await server.kit.fork();
  const forked = fork.client.of(kinds.configMaps);
  assert.equal(
    (await forked.get("shared", { namespace: "default" })).metadata.resourceVersion,
    before.metadata.resourceVersion,
  );
  await forked.create(map("theirs"));
  await maps.delete("shared", { namespace: "default" });
  assert.deepEqual(names((await maps.list({ namespace: "default" })).items), []);
  assert.deepEqual(names((await forked.list({ namespace: "default" })).items), ["shared", "theirs"]);
});

test("a fork of a server with a port has a separate port", async () => {
  await using server = await startServer({ store: "memory", port: 0 });
  await using fork = await server.kit.fork();
  assert.match(fork.url, /^https:/);
  assert.notEqual(fork.url, server.url);
});

test("events expire by the virtual clock", async () => {
  const clock = virtualClock(Date.UTC(2030, 0, 1));
  await using server = await startServer({ store: "memory", clock, flags: ["--event-ttl=1h"] });
  const events = server.client.of(kinds.coreEvents);
  const made = await events.create({
    metadata: { name: "a.1", namespace: "default" },
    involvedObject: { namespace: "default" },
  });
  assert.equal(made.metadata.creationTimestamp, "2030-01-01T00:00:00Z");
  await clock.advance(3_599_000);
  assert.equal((await events.list({ namespace: "default" })).items.length, 1);
  await clock.advance(2_000);
  assert.equal((await events.list({ namespace: "default" })).items.length, 0);
});

test("faults affect only the client they are planned for", async () => {
  await using server = await startServer({ store: "memory" });
  const { client, faults } = server.kit.faultyClient();
  faults.plan({ answer: 429, retryAfterSeconds: 3 });
  faults.plan({ cut: "after" }, { when: ({ method }) => method === "POST" });
  const [faulty, plain] = [client.of(kinds.configMaps), server.client.of(kinds.configMaps)];
  await assert.rejects(
    faulty.list({ namespace: "default" }),
    (error) => error instanceof ApiError && error.code === 429 && error.details?.retryAfterSeconds === 3,
  );
  await plain.list({ namespace: "default" });
  await assert.rejects(faulty.create(map("done-anyway")), /cut after/);
  assert.deepEqual(names((await faulty.list({ namespace: "default" })).items), ["done-anyway"]);
  faults.plan({ dropAfterEvents: 1 }, { when: isWatch });
  const seen: string[] = [];
  await assert.rejects(async () => {
    for await (const event of faulty.watch({ namespace: "default" })) seen.push(event.type);
  }, /cut in the middle/);
  assert.deepEqual(seen, ["ADDED"]);
  assert.equal(faults.planned, 0);
});
