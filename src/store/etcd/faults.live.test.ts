import { type TestContext, test } from "node:test";
import assert from "node:assert/strict";
import { systemClock } from "#base";
import { type GrpcMethod, grpcChannel } from "#http";
import {
  type Message,
  type TypeOf,
  apiPackage,
  int64,
  list,
  optional,
  protobufCodec,
  required,
} from "#schema";
import { type EtcdCluster, type EtcdClusterOptions, needs, startEtcd, testAuthority } from "#kit";
import { compactPeriodically } from "../compactor.ts";
import type { Batch, Change, Page, Revision } from "../store.ts";
import { type EtcdOptions, type EtcdStore, openEtcd } from "./etcd.ts";

const { message } = apiPackage({ package: "etcdserverpb" });
const Empty = message("Empty", "Nothing we look at.", {});
const Lease = message("LeaseStatus", "A lease.", { id: required(1, int64, "Its name.") });
const LeaseList = message("LeaseLeasesResponse", "All leases.", {
  leases: optional(2, list(Lease), "In no order."),
});
const leaseCall = <Q extends Message, R extends Message>(
  name: string,
  request: Q,
  response: R,
): GrpcMethod<TypeOf<Q>, TypeOf<R>> => ({
  path: `/etcdserverpb.Lease/${name}`,
  encode: (value) => protobufCodec(request, { style: "proto3" }).encode(value),
  decode: (bytes) => protobufCodec(response, { style: "proto3" }).decode(bytes),
});

const wanted = needs("etcd");

async function cluster(t: TestContext, options?: EtcdClusterOptions): Promise<EtcdCluster> {
  const made = await startEtcd(options);
  t.after(() => made.stop());
  return made;
}
function store(t: TestContext, options: EtcdOptions): EtcdStore {
  const made = openEtcd({ prefix: "/faults", ...options });
  t.after(() => made.close());
  return made;
}

/** Follows a prefix and checks that every change arrives once and in order. */
function follow(
  t: TestContext,
  from: EtcdStore,
  prefix: string,
  after: Revision,
): {
  readonly changes: Change[];
  readonly through: () => Revision;
  until(enough: () => boolean): Promise<void>;
} {
  const stop = new AbortController();
  t.after(() => stop.abort());
  const changes: Change[] = [];
  let last = after;
  let failure: unknown;
  let wake = (): void => {};
  const take = (batch: Batch): void => {
    for (const change of batch.changes) {
      if (change.revision <= last) failure = new Error(`change ${change.revision} came after ${last}`);
      last = change.revision;
      changes.push(change);
    }
    last = Math.max(last, batch.through);
  };
  void (async () => {
    try {
      for await (const batch of from.watch({ prefix }, after, stop.signal)) {
        take(batch);
        wake();
      }
    } catch (error) {
      failure = error;
      wake();
    }
  })();
  return {
    changes,
    through: () => last,
    until: async (enough) => {
      for (;;) {
        if (failure) throw failure as Error;
        if (enough()) return;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

/** Retries a write until it succeeds, as a caller of an idempotent write would. */
async function writeUntilDone(
  to: EtcdStore,
  key: string,
  value: string,
  giveUp: () => boolean,
): Promise<boolean> {
  while (!giveUp()) {
    try {
      return (await to.write({ key, value: Buffer.from(value), expect: "any" })).done;
    } catch {
      // The member is unavailable for the moment; retrying without a pause would take all of the processor's
      // time.
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  return false;
}

test(
  "the store works over TLS with client certificates, and clients without one are refused",
  { ...needs("etcd", "openssl") },
  async (t) => {
    const authority = await testAuthority();
    const { endpoints } = await cluster(t, { authority });
    const ownStore = store(t, {
      endpoints,
      tls: { ca: authority.ca, ...(await authority.issue("/CN=root")) },
    });
    await ownStore.health(60_000);
    const first = await ownStore.write({ key: "/a", value: Buffer.from("1"), expect: "absent" });
    assert.ok(first.done);
    const seen = follow(t, ownStore, "/", first.revision - 1);
    await seen.until(() => seen.changes.length === 1);
    await assert.rejects(store(t, { endpoints, tls: { ca: authority.ca } }).health(60_000), {
      code: "UNAVAILABLE",
    });
    const stranger = await testAuthority();
    await assert.rejects(
      store(t, { endpoints, tls: { ca: stranger.ca, ...(await authority.issue("/CN=root")) } }).health(
        60_000,
      ),
      /cannot connect/,
    );
  },
);

test("a watch survives five crashes of its etcd without loss or duplicates", wanted, async (t) => {
  const { members, endpoints } = await cluster(t);
  const ownStore = store(t, { endpoints });
  const { revision } = await ownStore.status();
  const seen = follow(t, ownStore, "/load/", revision);
  let stop = false;
  let acknowledged = 0;
  const writer = (async () => {
    for (let at = 0; !stop; at++)
      if (await writeUntilDone(ownStore, `/load/${at % 7}`, `${at}`, () => stop)) acknowledged = at + 1;
  })();
  for (let round = 1; round <= 5; round++) {
    const before = seen.changes.length;
    await seen.until(() => seen.changes.length > before + 30);
    await members[0]!.signal("SIGKILL");
    await members[0]!.start();
  }
  const before = seen.changes.length;
  await seen.until(() => seen.changes.length > before + 30);
  stop = true;
  await writer;
  const newest = await ownStore.progress();
  await seen.until(() => seen.through() >= newest);
  const values = new Set(seen.changes.map((change) => Number(Buffer.from(change.value!).toString())));
  const lost = Array.from({ length: acknowledged }, (_, at) => at).filter((at) => !values.has(at));
  assert.deepEqual(lost, [], "acknowledged writes the watch never saw");
  assert.deepEqual(
    seen.changes.map((change) => change.revision),
    Array.from({ length: seen.changes.length }, (_, at) => revision + 1 + at),
    "every revision once",
  );
});

test("a watch that missed a compaction fails as compacted when it reconnects", wanted, async (t) => {
  const { members, endpoints } = await cluster(t);
  const ownStore = store(t, { endpoints });
  const other = store(t, { endpoints });
  const { revision } = await ownStore.status();
  const seen = follow(t, ownStore, "/quiet/", revision);
  await ownStore.write({ key: "/quiet/a", value: Buffer.from("1"), expect: "any" });
  await seen.until(() => seen.changes.length === 1);
  let newest = 0;
  for (let at = 0; at < 5; at++) {
    const outcome = await other.write({ key: "/elsewhere", value: Buffer.from(`${at}`), expect: "any" });
    if (outcome.done) newest = outcome.revision;
  }
  await other.compact(newest);
  await members[0]!.signal("SIGKILL");
  await members[0]!.start();
  await assert.rejects(
    seen.until(() => false),
    { name: "Compacted", compacted: newest },
  );
});

test(
  "with three members, writes, reads and watches survive that one is killed and then another hangs",
  wanted,
  async (t) => {
    const { members, endpoints } = await cluster(t, { members: 3 });
    const ownStore = store(t, {
      endpoints,
      deadlines: { connectMilliseconds: 500, readMilliseconds: 2000, writeMilliseconds: 2000 },
    });
    // Without the short deadlines that make a store switch away from a hanging member.
    const patient = store(t, { endpoints });
    const { revision } = await patient.status();
    const seen = follow(t, ownStore, "/load/", revision);
    let stop = false;
    const acknowledged: number[] = [];
    const writer = (async () => {
      for (let at = 0; !stop; at++)
        if (await writeUntilDone(ownStore, `/load/${at}`, `${at}`, () => stop)) acknowledged.push(at);
    })();
    const continues = async (): Promise<void> => {
      const [written, watched] = [acknowledged.length, seen.changes.length];
      await seen.until(() => acknowledged.length > written + 20 && seen.changes.length > watched + 20);
      await ownStore.health(60_000);
    };
    await continues();
    await members[0]!.signal("SIGKILL");
    await continues();
    await members[0]!.start();
    await continues();
    await members[1]!.signal("SIGSTOP");
    await continues();
    await members[1]!.signal("SIGCONT");
    await members[2]!.signal("SIGSTOP");
    await continues();
    await members[2]!.signal("SIGCONT");
    stop = true;
    await writer;
    const newest = await patient.progress();
    await seen.until(() => seen.through() >= newest);
    const values = new Set(seen.changes.map((change) => Number(Buffer.from(change.value!).toString())));
    assert.deepEqual(
      acknowledged.filter((at) => !values.has(at)),
      [],
      "acknowledged writes the watch never saw",
    );
    const { entries } = await patient.read({ prefix: "/load/" });
    const present = new Set(entries.map((entry) => Number(entry.key.slice(6))));
    assert.deepEqual(
      acknowledged.filter((at) => !present.has(at)),
      [],
      "acknowledged writes that are not there",
    );
  },
);

test("health fails in time without a quorum, and recovers with it", wanted, async (t) => {
  const { members, endpoints } = await cluster(t, { members: 3 });
  const ownStore = store(t, { endpoints, deadlines: { connectMilliseconds: 300 } });
  await ownStore.health(60_000);
  await Promise.all([members[1]!.signal("SIGKILL"), members[2]!.signal("SIGKILL")]);
  await assert.rejects(ownStore.health(1500), { name: "GrpcError" });
  await Promise.all([members[1]!.start(), members[2]!.start()]);
  for (let tries = 1; ; tries++) {
    try {
      return await ownStore.health(3000);
    } catch (error) {
      if (tries === 10) throw error;
    }
  }
});

test("keys with a TTL share leases, and a revoked lease is replaced", wanted, async (t) => {
  const { endpoints } = await cluster(t);
  const ownStore = store(t, { endpoints, leaseReuseSeconds: 60 });
  const channel = grpcChannel({ endpoints });
  t.after(() => channel.close());
  const leaseIds = async (): Promise<number[]> =>
    ((await channel.unary(leaseCall("LeaseLeases", Empty, LeaseList), {})).leases ?? []).map(
      (lease) => lease.id,
    );
  for (let at = 0; at < 50; at++)
    assert.ok(
      (
        await ownStore.write({
          key: `/event/${at}`,
          value: Buffer.from("e"),
          expect: "absent",
          ttlSeconds: 3600,
        })
      ).done,
    );
  const leases = await leaseIds();
  assert.equal(leases.length, 1);
  await channel.unary(leaseCall("LeaseRevoke", Lease, Empty), { id: leases[0]! });
  assert.equal((await ownStore.read({ prefix: "/event/" })).entries.length, 0);
  assert.ok(
    (await ownStore.write({ key: "/event/new", value: Buffer.from("e"), expect: "absent", ttlSeconds: 3600 }))
      .done,
  );
  assert.equal((await leaseIds()).length, 1);
});

test("several servers take turns compacting, and share one history", wanted, async (t) => {
  const { endpoints } = await cluster(t);
  const servers = [store(t, { endpoints }), store(t, { endpoints }), store(t, { endpoints })];
  const stop = new AbortController();
  const turns: { server: number; compacted: Revision }[] = [];
  let failure: unknown;
  const done = Promise.withResolvers<void>();
  const loops = servers.map((server, at) => {
    const compact = server.compact.bind(server);
    server.compact = async (through) => {
      await compact(through);
      turns.push({ server: at, compacted: through });
      if (turns.length >= 10) done.resolve();
    };
    const onError = (error: unknown): void => {
      failure ??= error;
      done.resolve();
    };
    return compactPeriodically({
      store: server,
      clock: systemClock,
      intervalSeconds: 0.03,
      signal: stop.signal,
      onError,
    });
  });
  await done.promise;
  stop.abort();
  await Promise.all(loops);
  assert.equal(failure, undefined);
  const compacted = turns.map((turn) => turn.compacted);
  assert.equal(new Set(compacted).size, compacted.length, "no revision is compacted twice");
  assert.equal((await servers[0]!.status()).compacted >= Math.max(...compacted.slice(0, -1)), true);
});

test("a range larger than one response is read in several, at one revision", wanted, async (t) => {
  const { endpoints } = await cluster(t);
  const [ownStore, other] = [store(t, { endpoints, maxMessageBytes: 20_000 }), store(t, { endpoints })];
  const key = (at: number): string => `/large/${String(at).padStart(3, "0")}`;
  const value = Buffer.alloc(3000, "x");
  for (let at = 0; at < 40; at++) await other.write({ key: key(at), value, expect: "absent" });
  const { revision } = await ownStore.read({ key: "/large" });
  let going = true;
  const busy = (async () => {
    for (let at = 0; going; at++) await other.write({ key: key(at % 40), value: at % 3 ? value : null, expect: "any" });
  })();
  const keys = Array.from({ length: 40 }, (_, at) => key(at));
  const found = (page: Page): string[] => page.entries.map((entry) => entry.key);
  assert.deepEqual(found(await ownStore.read({ prefix: "/large/" }, revision)), keys);
  const some = await ownStore.read({ prefix: "/large/", after: key(4), limit: 30 }, revision);
  assert.deepEqual([found(some), some.remaining], [keys.slice(5, 35), 5]);
  for (let round = 0; round < 10; round++) {
    const page = await ownStore.read({ prefix: "/large/" });
    const truth = await other.read({ prefix: "/large/" }, page.revision);
    assert.deepEqual(page.entries.map((entry) => [entry.key, entry.revision]), truth.entries.map((entry) => [entry.key, entry.revision]));
  }
  going = false;
  await busy;
}); // prettier-ignore
