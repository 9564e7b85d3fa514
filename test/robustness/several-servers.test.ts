// Servers that share an etcd, read, written and watched at random while their connections to it are cut and
// stalled and history is compacted.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError } from "#base";
import { kinds } from "#client";
import { type EtcdMember, needs, startEtcd } from "#kit";
import { openEtcd, type Store } from "#store";
import { type RunningServer, startServer } from "#apiserver";
import { type Chance, chance } from "./chance.ts";
import { type CuttingProxy, cuttingProxy } from "./cutting-proxy.ts";
import {
  type Got,
  type Shown,
  type DeliveredEvent,
  type Watched,
  type Written,
  checkShown,
  checkWatched,
  checkWrites,
  recordTruth,
} from "./history.ts";

const seed = Number(process.env["ORCH_SEVERAL_SEED"] ?? Date.now() % 1_000_000);
const seconds = Number(process.env["ORCH_SEVERAL_SECONDS"] ?? 15);
const namespace = "default";
const names = Array.from({ length: 12 }, (_, at) => `n${at}`);
const flags = [
  ...(process.env["ORCH_SEVERAL_FLAGS"]?.split(" ") ?? []),
  "--storage-media-type=application/json",
  "--service-cluster-ip-range=10.7.0.0/27",
  "--service-node-port-range=30000-30015",
];

/** The recorded requests and responses, in order. */
interface Notes {
  now: number;
  readonly writes: Written[];
  readonly shown: Shown[];
  readonly got: Got[];
  readonly watches: Watched[];
  readonly refusals: Map<string, number>;
}

interface Scene {
  readonly servers: readonly RunningServer[];
  readonly notes: Notes;
  readonly over: AbortSignal;
  /** Aborted when all writers have stopped and the final write is done. */
  readonly quiet: AbortSignal;
}

const doneOf = ({ writes }: Notes): number => writes.filter(({ outcome }) => outcome === "done").length;

const saysSomething = (notes: Notes): boolean =>
  doneOf(notes) > 50 && notes.shown.length > 20 && notes.watches.some(({ events }) => events.length > 5);

/** On a slow machine it takes longer than the faults until enough has been recorded. */
async function enough(notes: Notes, over: AbortSignal): Promise<void> {
  while (!saysSomething(notes) && !over.aborted) await sleep(100);
}

/** The object of the final write. */
const lastName = "last";

test(
  `several servers on one etcd report one consistent history (ORCH_SEVERAL_SEED=${seed})`,
  { ...needs("etcd"), timeout: 240_000 + seconds * 3000 },
  async (t) => {
    const stop = new AbortController();
    const quiet = new AbortController();
    // Stops all loops if the test fails.
    t.after(() => {
      stop.abort();
      quiet.abort();
    });
    const cluster = await startEtcd({ members: Number(process.env["ORCH_SEVERAL_MEMBERS"] ?? 1) });
    t.after(() => cluster.stop());
    const direct = openEtcd({ endpoints: cluster.endpoints });
    t.after(() => direct.close());
    const proxies = await Promise.all(
      [0, 1, 2].map((at) =>
        cuttingProxy(Number(new URL(cluster.endpoints[at % cluster.endpoints.length]!).port)),
      ),
    );
    const servers = await Promise.all(
      proxies.map(({ port }) => startServer({ store: { etcd: [`http://127.0.0.1:${port}`] }, flags })),
    );
    t.after(() =>
      Promise.all([
        ...servers.map((server) => server.stop()),
        ...proxies.map((proxy) => proxy[Symbol.asyncDispose]()),
      ]),
    );

    const notes: Notes = { now: 0, writes: [], shown: [], got: [], watches: [], refusals: new Map() };
    const scene: Scene = { servers, notes, over: stop.signal, quiet: quiet.signal };
    const start = await direct.progress();
    const luck = chance(seed);
    const busy = Promise.all([
      ...[1, 2, 3, 4].map((at) => write(scene, luck.part(`writer ${at}`))),
      ...[1, 2, 3].map((at) => read(scene, luck.part(`reader ${at}`))),
      ...[1, 2, 3].map((at) => serve(scene, luck.part(`services ${at}`))),
    ]);
    const watching = Promise.all([1, 2, 3, 4, 5, 6].map((at) => watch(scene, luck.part(`watcher ${at}`))));
    const playing = (async () => {
      watching.catch(() => undefined);
      await Promise.all([
        disturb(proxies, cluster.members, direct, luck.part("trouble"))
          .then(() => enough(notes, stop.signal))
          .then(() => stop.abort()),
        busy,
      ]);
      const last = await sayLast(servers[0]!);
      quiet.abort();
      await watching;
      return last;
    })();
    const [truth, services] = await Promise.all([
      recordTruth(direct, `/registry/configmaps/${namespace}/`, start, playing),
      recordServices(direct, start, playing),
    ]);
    checkWrites(truth, notes.writes);
    checkShown(truth, notes.writes, notes.shown, notes.got);
    checkWatched(truth, notes.watches, await playing);
    const done = doneOf(notes);
    t.diagnostic(
      `${truth.versions.length} changes, ${done} of ${notes.writes.length} writes acknowledged, ${notes.shown.length} lists, ${notes.got.length} reads, ${notes.watches.length} watches, ${services} services`,
    );
    t.diagnostic(`refused: ${[...notes.refusals].map(([why, count]) => `${why} ${count}`).join(", ")}`);
    assert.ok(
      saysSomething(notes) && services > 5 && notes.watches.some(({ ended }) => !ended),
      "too little happened",
    );
  },
);

/** Performs the final write and returns its revision. */
async function sayLast({ client }: RunningServer): Promise<number> {
  for (;;) {
    try {
      const apply = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: lastName } };
      return Number(
        (
          await client
            .of(kinds.configMaps)
            .patch(lastName, "apply", apply, { namespace, fieldManager: "test", force: true })
        ).metadata.resourceVersion,
      );
    } catch (error) {
      if (!(error instanceof ApiError && error.code >= 500)) throw error;
    }
  }
}

/** Any error but a clear refusal leaves open whether the write took effect. */
function outcomeOf(notes: Notes, error: unknown): "refused" | "unknown" {
  if (!(error instanceof ApiError)) throw error;
  notes.refusals.set(error.reason, (notes.refusals.get(error.reason) ?? 0) + 1);
  // A resource version from one server is never invalid on another one, however far that one lags behind.
  assert.ok(error.reason !== "InternalError" && error.reason !== "BadRequest", error.message);
  return error.code < 500 || error.code === 503 ? "refused" : "unknown";
}

async function write({ servers, notes, over }: Scene, luck: Chance): Promise<void> {
  for (let count = 0; !over.aborted; count++) {
    const maps = luck.one(servers).client.of(kinds.configMaps);
    const name = luck.one(names);
    const word = `w${notes.now}`;
    const data = { [word]: "1" };
    const startedAt = notes.now++;
    const note = (more: Pick<Written, "outcome"> & Partial<Written>): void =>
      void notes.writes.push({ name, word, startedAt, answered: notes.now++, ...more });
    try {
      const way = luck.below(10);
      if (way < 2) {
        const { uid, resourceVersion } = (await maps.get(name, { namespace })).metadata;
        await maps.delete(name, {
          namespace,
          ...(luck.percent(50) && { resourceVersion: resourceVersion! }),
          uid: uid!,
        });
        note({ outcome: "done", deleted: true, uid: uid! });
        continue;
      }
      const written = await (way < 4
        ? maps.create({ metadata: { name, namespace }, data })
        : way < 6
          ? maps
              .get(name, { namespace })
              .then((old) => maps.update({ ...old, data: { ...old.data, ...data } }))
          : way < 8
            ? maps.patch(name, "merge", { data }, { namespace })
            : maps.patch(
                name,
                "apply",
                { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data },
                { namespace, fieldManager: word, force: true },
              ));
      note({
        outcome: "done",
        revision: Number(written.metadata.resourceVersion),
        uid: written.metadata.uid!,
      });
    } catch (error) {
      note({ outcome: outcomeOf(notes, error) });
    }
    await sleep(luck.below(20));
  }
}

async function read({ servers, notes, over }: Scene, luck: Chance): Promise<void> {
  let known = 0;
  while (!over.aborted) {
    const server = luck.below(servers.length);
    const maps = servers[server]!.client.of(kinds.configMaps);
    const startedAt = notes.now++;
    try {
      const way = luck.below(6);
      if (way === 0) {
        const name = luck.one(names);
        // prettier-ignore
        const revision = await maps.get(name, { namespace }).then(({ metadata }) => Number(metadata.resourceVersion), missing);
        notes.got.push({ server, name, startedAt, revision });
        continue;
      }
      const [how, query, promise] = ([
        ["a list of now", {}, { current: true }],
        ["a list of any time", { resourceVersion: "0" }, {}],
        ["a list not older", { resourceVersion: String(known), resourceVersionMatch: "NotOlderThan" }, { notOlderThan: known }],
        ["a list of then", { resourceVersion: String(known), resourceVersionMatch: "Exact" }, { exactly: known }],
        ["pages", { limit: 1 + luck.below(4) }, { current: true }],
      ] as const)[known === 0 ? 0 : way - 1]!; // prettier-ignore
      const items = new Map<string, number>();
      let page = await maps.list({ namespace, ...query });
      const revision = Number(page.resourceVersion);
      for (;;) {
        for (const { metadata } of page.items) items.set(metadata.name!, Number(metadata.resourceVersion));
        if (!page.continue) break;
        // The next page may come from another server than the first.
        page = await luck
          .one(servers)
          .client.of(kinds.configMaps)
          .list({ namespace, continue: page.continue, limit: 3 });
        assert.equal(Number(page.resourceVersion), revision, "pages of one list");
      }
      // Objects that the servers create themselves are not in the recorded history.
      items.delete("orch-root-ca.crt");
      notes.shown.push({
        server,
        how,
        startedAt,
        answered: notes.now++,
        revision,
        items,
        current: false,
        ...promise,
      });
      known = Math.max(known, revision);
    } catch (error) {
      outcomeOf(notes, error);
    }
    await sleep(luck.below(30));
  }
}

function missing(error: unknown): undefined {
  if (!(error instanceof ApiError && error.code === 404)) throw error;
}

async function watch({ servers, notes, over, quiet }: Scene, luck: Chance): Promise<void> {
  while (!quiet.aborted) {
    const server = luck.below(servers.length);
    const events: DeliveredEvent[] = [];
    const stop = new AbortController();
    const life = setTimeout(() => over.aborted || stop.abort(), 200 + luck.below(6000));
    // Watches open at the end receive the final write and everything before it.
    const leave = (): void => void setTimeout(() => stop.abort(), 60_000).unref();
    quiet.addEventListener("abort", leave, { once: true });
    let heardAll = false;
    try {
      // A revision returned by another server.
      const from = Number(
        (await luck.one(servers).client.of(kinds.configMaps).list({ namespace, limit: 1 })).resourceVersion,
      );
      try {
        const watched = servers[server]!.client.of(kinds.configMaps).watch({
          namespace,
          resourceVersion: String(from),
          bookmarks: true,
          timeoutSeconds: 3 + luck.below(5),
          signal: stop.signal,
        });
        for await (const { type, object } of watched) {
          if (type === "ERROR") break;
          events.push({
            type,
            name: type === "BOOKMARK" ? "" : object.metadata.name!,
            revision: Number(object.metadata.resourceVersion),
          });
          heardAll ||= type === "ADDED" && object.metadata.name === lastName;
          if (heardAll) break;
        }
      } finally {
        notes.watches.push({ server, from, events, ended: !heardAll });
      }
    } catch (error) {
      if (!stop.signal.aborted) outcomeOf(notes, error);
    } finally {
      clearTimeout(life);
      quiet.removeEventListener("abort", leave);
    }
    await sleep(luck.below(100));
  }
}

async function serve({ servers, notes, over }: Scene, luck: Chance): Promise<void> {
  const mine = String(luck.below(1e9));
  const made: string[] = [];
  for (let count = 0; !over.aborted; count++) {
    const services = luck.one(servers).client.of(kinds.services);
    const name = `s${mine}-${count}`;
    const port = { port: 80, targetPort: 80, ...(luck.percent(30) && { nodePort: 30_000 + luck.below(3) }) };
    const spec = {
      type: luck.percent(50) || port.nodePort ? "NodePort" : "ClusterIP",
      ports: [port],
      ...(luck.percent(30) && { clusterIP: `10.7.0.${2 + luck.below(3)}` }),
    };
    try {
      if (made.length > 7 || luck.percent(20))
        await services.delete(made.splice(luck.below(made.length), 1)[0] ?? "none", { namespace });
      await services.create({ metadata: { name, namespace }, spec });
      made.push(name);
    } catch (error) {
      // An exhausted range is reported as a server error.
      if (!(error instanceof ApiError && error.message.endsWith("is full"))) outcomeOf(notes, error);
    }
    await sleep(luck.below(60));
  }
}

/** Checks that no two services had the same address or port at any time; returns the number of services. */
async function recordServices(store: Store, after: number, during: Promise<unknown>): Promise<number> {
  const stop = new AbortController();
  const over = during.finally(() => void setTimeout(() => stop.abort(), 500));
  const having = new Map<string, string>();
  const had = new Map<string, readonly string[]>();
  let count = 0;
  const prefix = "/registry/services/specs/";
  for (const { key, value } of (await store.read({ prefix })).entries) take(key, value);
  for await (const { changes } of store.watch({ prefix }, after, stop.signal))
    for (const { key, value } of changes) take(key, value);
  await over;
  return count;

  function take(key: string, value: Uint8Array | null): void {
    for (const claim of had.get(key) ?? []) having.delete(claim);
    had.delete(key);
    if (!value) return;
    count++;
    const { spec } = JSON.parse(Buffer.from(value).toString()) as {
      spec: { clusterIP: string; ports: { nodePort?: number }[] };
    };
    const claims = [
      spec.clusterIP,
      ...spec.ports.flatMap(({ nodePort }) => (nodePort ? [String(nodePort)] : [])),
    ];
    for (const claim of claims) {
      assert.equal(having.get(claim), undefined, `${claim} was allocated to ${key}, and is in use already`);
      having.set(claim, key);
    }
    had.set(key, claims);
  }
}

async function disturb(
  proxies: readonly CuttingProxy[],
  members: readonly EtcdMember[],
  direct: Store,
  luck: Chance,
): Promise<void> {
  for (const end = Date.now() + seconds * 1000; Date.now() < end;) {
    await sleep(100 + luck.below(700));
    const way = luck.below(12);
    const proxy = luck.one(proxies);
    const member = luck.one(members);
    if (way < 4) proxy.cut();
    else if (way < 6) {
      proxy.hold();
      await sleep(luck.below(luck.percent(20) ? 5000 : 1000));
      proxy.letGo();
    } else if (way < 8) await direct.compact((await direct.progress()) - luck.below(20));
    else if (way === 8) {
      await member.signal("SIGSTOP");
      await sleep(luck.below(1500));
      await member.signal("SIGCONT");
    } else if (way === 9) {
      await member.signal("SIGKILL");
      await member.start();
    }
  }
}
