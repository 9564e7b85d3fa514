// Two servers behind a TCP balancer on a three-member etcd, under load: each is rolled, killed, paused and
// cut off from etcd, and etcd members are killed. Clients retry as client libraries do.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError } from "#base";
import { Unreachable, apiClient, connectionOf, https, kinds, singleContext } from "#client";
import { type EtcdMember, type RunningApiserver, needs, startApiserver, startEtcd } from "#kit";
import { openEtcd } from "#store";
import { type Balancer, tcpBalancer } from "./balancer.ts";
import { type CuttingProxy, cuttingProxy } from "./cutting-proxy.ts";
import { type Shown, type DeliveredEvent, type Watched, type Written, checkShown, checkWatched, checkWrites, recordTruth } from "./history.ts"; // prettier-ignore

const rounds = Number(process.env["ORCH_BALANCED_ROUNDS"] ?? 1);
const namespace = "default";
const lastName = "last";
/** How long an operation may be retried. */
const patienceMilliseconds = 120_000;

interface Notes {
  now: number;
  readonly writes: Written[];
  readonly shown: Shown[];
  readonly watches: Watched[];
  /** Number of retries by reason. */
  readonly again: Map<string, number>;
  slowestMilliseconds: number;
}

interface Scene {
  readonly notes: Notes;
  readonly client: () => ReturnType<typeof maps>;
  readonly over: AbortSignal;
}

const maps = (url: string, ca: string, token: string) =>
  apiClient(https(connectionOf(singleContext({ name: "test", server: url, ca, token }))), "orch").of(
    kinds.configMaps,
  );

test(
  "two servers behind a balancer lose no write while they are rolled, killed, paused and partitioned",
  { ...needs("etcd"), timeout: 180_000 + rounds * 180_000 },
  async (t) => {
    const etcd = await startEtcd({ members: 3 });
    t.after(() => etcd.stop());
    const direct = openEtcd({ endpoints: etcd.endpoints });
    t.after(() => direct.close());
    const ways = await Promise.all([0, 1].map(() => waysTo(etcd.endpoints)));
    t.after(() => Promise.all(ways.flat().map((way) => way[Symbol.asyncDispose]())));
    const servers = await Promise.all(ways.map(serverOn));
    t.after(() => Promise.all(servers.map((server) => server[Symbol.asyncDispose]())));
    await using balancer = await tcpBalancer(servers);
    const url = `https://127.0.0.1:${balancer.port}`;
    const ca = servers.map((server) => server.ca).join("\n");
    const stop = new AbortController();
    t.after(() => stop.abort());
    const notes: Notes = {
      now: 0,
      writes: [],
      shown: [],
      watches: [],
      again: new Map(),
      slowestMilliseconds: 0,
    };
    const scene: Scene = { notes, client: () => maps(url, ca, servers[0]!.token), over: stop.signal };
    const start = await direct.progress();
    const playing = (async () => {
      const watching = Promise.all([1, 2, 3].map(() => watch(scene)));
      watching.catch(() => undefined);
      await Promise.all([
        faults({ servers, ways, members: etcd.members, balancer }).finally(() => stop.abort()),
        ...[1, 2, 3, 4].map((writer) => write(scene, writer)),
        read(scene),
      ]);
      const last = await tried(scene, scene.client(), (client) => putLast(client));
      await watching;
      return last;
    })();
    const truth = await recordTruth(direct, `/registry/configmaps/${namespace}/`, start, playing);
    const last = await playing;
    checkWrites(truth, notes.writes);
    checkShown(truth, notes.writes, notes.shown, []);
    checkWatched(truth, notes.watches, last);
    const again = [...notes.again].map(([why, count]) => `${why} ${count}`).join(", ");
    t.diagnostic(
      `${notes.writes.length} writes, ${notes.shown.length} lists, ${notes.watches.length} watches told of ${truth.versions.length} changes; the slowest operation took ${notes.slowestMilliseconds.toFixed(0)} ms; sent again: ${again}`,
    );
    assert.ok(notes.writes.length > 20 && notes.shown.length > 5, "too little happened");
  },
);

const waysTo = (endpoints: readonly string[]): Promise<CuttingProxy[]> =>
  Promise.all(endpoints.map((endpoint) => cuttingProxy(Number(new URL(endpoint).port))));

const serverOn = (ways: readonly CuttingProxy[]): Promise<RunningApiserver> =>
  startApiserver({
    flags: [
      `--store-servers=${ways.map(({ port }) => `http://127.0.0.1:${port}`).join(",")}`,
      "--storage-media-type=application/json",
      "--shutdown-delay-duration=1s",
    ],
  });

interface Faulty {
  readonly servers: readonly RunningApiserver[];
  readonly ways: readonly (readonly CuttingProxy[])[];
  readonly members: readonly EtcdMember[];
  readonly balancer: Balancer;
}

/** Injects one fault at a time, alternating between the servers, each once both are ready again. */
async function faults({ servers, ways, members, balancer }: Faulty): Promise<void> {
  const kinds: ((at: number) => Promise<void>)[] = [
    // Rolled.
    (at) => servers[at]!.restart(),
    async (at) => {
      await servers[at]!.kill9();
      await servers[at]!.restart();
    },
    // Paused.
    async (at) => {
      process.kill(servers[at]!.pid, "SIGSTOP");
      try {
        await sleep(4000);
      } finally {
        process.kill(servers[at]!.pid, "SIGCONT");
      }
    },
    // Partitioned.
    async (at) => {
      for (const way of ways[at]!) way.hold();
      await sleep(5000);
      for (const way of ways[at]!) way.letGo();
    },
    async (at) => {
      await members[at]!.signal("SIGKILL");
      await members[at]!.start();
    },
  ];
  for (let round = 0; round < rounds; round++)
    for (const [count, fault] of kinds.entries()) {
      await fault((round + count) % 2);
      for (const end = Date.now() + 120_000; balancer.ready() < 2; await sleep(50))
        if (Date.now() > end) throw new Error("a server did not become ready again");
      await sleep(500);
    }
}

type Maps = ReturnType<typeof maps>;

/**
 * Retries an operation until it is answered, as controllers and client libraries do: after a broken
 * connection, after a response with Retry-After, and after one that leaves open whether a write was executed.
 * Any other refusal is an error.
 */
async function tried<T>(
  { notes }: Scene,
  client: Maps,
  run: (client: Maps, isAgain: boolean) => Promise<T>,
): Promise<T> {
  const began = performance.now();
  for (let isAgain = false; ; isAgain = true) {
    try {
      const answer = await run(client, isAgain);
      notes.slowestMilliseconds = Math.max(notes.slowestMilliseconds, performance.now() - began);
      return answer;
    } catch (error) {
      if (performance.now() - began > patienceMilliseconds || !mayBeSentAgain(error)) throw error;
      const why = error instanceof ApiError ? `${error.code} ${error.reason}` : "broken connection";
      notes.again.set(why, (notes.again.get(why) ?? 0) + 1);
      await sleep(100);
    }
  }
}

const mayBeSentAgain = (error: unknown): boolean =>
  error instanceof Unreachable || (error instanceof ApiError && (error.code === 504 || isToComeBack(error)));

const isToComeBack = ({ details }: ApiError): boolean => (details?.retryAfterSeconds ?? 0) > 0;

/** Creates objects, updates them several times, and deletes them. */
async function write(scene: Scene, writer: number): Promise<void> {
  const { notes, over } = scene;
  const client = scene.client();
  for (let count = 0; !over.aborted; count++) {
    const name = `w${writer}-${count}`;
    const noted = async (
      word: string,
      run: (client: Maps, isAgain: boolean) => Promise<Pick<Written, "revision" | "uid" | "deleted">>,
    ): Promise<string> => {
      const startedAt = notes.now++;
      const done = await tried(scene, client, run);
      notes.writes.push({ name, word, startedAt, answered: notes.now++, outcome: "done", ...done });
      return done.uid!;
    };
    const word = `${name}-0`;
    const uid = await noted(word, async (to, isAgain) => {
      try {
        return writtenOf(await to.create({ metadata: { name, namespace }, data: { [word]: "1" } }));
      } catch (error) {
        // The response to an earlier attempt was lost.
        if (!(isAgain && error instanceof ApiError && error.code === 409)) throw error;
        return writtenOf(await to.get(name, { namespace }));
      }
    });
    for (let change = 1; change < 6 && !over.aborted; change++) {
      const next = `${name}-${change}`;
      await noted(next, async (to) =>
        writtenOf(await to.patch(name, "merge", { data: { [next]: "1" } }, { namespace })),
      );
    }
    await noted(`${name}-gone`, async (to, isAgain) => {
      await to.delete(name, { namespace }).catch((error: unknown) => {
        if (!(isAgain && error instanceof ApiError && error.code === 404)) throw error;
      });
      return { uid, deleted: true };
    });
    await sleep(20);
  }
}

const writtenOf = ({ metadata }: Awaited<ReturnType<Maps["get"]>>): Pick<Written, "revision" | "uid"> => ({
  revision: Number(metadata.resourceVersion),
  uid: metadata.uid!,
});

async function read(scene: Scene): Promise<void> {
  const { notes, over } = scene;
  const client = scene.client();
  while (!over.aborted) {
    const startedAt = notes.now++;
    const list = await tried(scene, client, (from) => from.list({ namespace }));
    const items = new Map(
      list.items.map(({ metadata }) => [metadata.name!, Number(metadata.resourceVersion)]),
    );
    items.delete("orch-root-ca.crt");
    const [answered, revision] = [notes.now++, Number(list.resourceVersion)];
    notes.shown.push({
      server: 0,
      how: "a list of now",
      startedAt,
      answered,
      revision,
      items,
      current: true,
    });
    await sleep(100);
  }
}

const putLast = async (client: Maps): Promise<number> => {
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: lastName } };
  const written = await client.patch(lastName, "apply", object, {
    namespace,
    fieldManager: "test",
    force: true,
  });
  return Number(written.metadata.resourceVersion);
};

/**
 * One watch as seen by its client: resumed from the last revision it received, on either server, until the
 * final event.
 */
async function watch(scene: Scene): Promise<void> {
  const client = scene.client();
  const list = await tried(scene, client, (from) => from.list({ namespace, limit: 1 }));
  const from = Number(list.resourceVersion);
  const events: DeliveredEvent[] = [];
  let position = from;
  for (let heardAll = false; !heardAll;) {
    heardAll = await tried(scene, client, async (on) => {
      const resourceVersion = String(position);
      for await (const { type, object } of on.watch({ namespace, resourceVersion, bookmarks: true })) {
        if (type === "ERROR") throw new Error(`the watch was ended: ${object.message}`);
        position = Number(object.metadata.resourceVersion);
        const name = type === "BOOKMARK" ? "" : (object.metadata as { name?: string }).name!;
        events.push({ type, name, revision: position });
        if (type === "ADDED" && name === lastName) return true;
      }
      return false;
    });
  }
  scene.notes.watches.push({ server: 0, from, events, ended: false });
}
