import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type ClientHttp2Stream, connect } from "node:http2";
import { constants, setPriority } from "node:os";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { apiClient, connectionOf, https, kinds, singleContext } from "#client";
import { dialectNamed } from "#dialect";
import { type RunningApiserver, startApiserver } from "#kit";

/** Small by default; the variables select the full size (see README.md). */
const objects = Number(process.env["ORCH_WATCH_OBJECTS"] ?? 2000);
const watchers = Number(process.env["ORCH_WATCHERS"] ?? 100);
const seconds = Number(process.env["ORCH_WATCH_SECONDS"] ?? 4);
const slowReaders = 10;
const crowd = "crowd";
const slow = "slow";

test(
  `${watchers} watchers and lists of ${objects} objects: memory stays flat, no watcher misses an event, slow readers are closed`,
  { timeout: 1_800_000 },
  async (t) => {
    await using server = await startApiserver();
    // The clients share the machine: they run at low priority, so that the measured delays are the server's.
    setPriority(constants.priority.PRIORITY_LOW);
    const transport = https(
      connectionOf(singleContext({ name: "test", server: server.url, ca: server.ca, token: server.token })),
    );
    const client = apiClient(transport, dialectNamed("orch")!);
    const maps = client.of(kinds.configMaps);
    for (const name of [crowd, slow]) await client.of(kinds.namespaces).create({ metadata: { name } });
    const draft = (index: number, value: string) => ({
      metadata: { name: `thing-${index}`, namespace: crowd, labels: { shard: String(index % 100) } },
      data: { value: value.padEnd(900, ".") },
    });
    await each(objects, 32, async (index) => void (await maps.create(draft(index, "first"))));
    const { resourceVersion } = await maps.list({ namespace: crowd, limit: 1 });

    // Every watcher counts the events it receives.
    const stop = new AbortController();
    const counts = Array.from({ length: watchers }, () => 0);
    const ends: string[] = [];
    const watching = counts.map(async (_, at) => {
      try {
        for await (const event of maps.watch({
          namespace: crowd,
          resourceVersion,
          timeoutSeconds: 900,
          signal: stop.signal,
        }))
          if (event.type === "MODIFIED") counts[at]!++;
        if (!stop.signal.aborted) ends.push(`watcher ${at} was closed`);
      } catch (error) {
        ends.push(`watcher ${at}: ${(error as Error).message}`);
      }
    });
    const readers = await openSlowReaders(server);
    const before = stalls(await metricsOf(server));

    // Lists, writes and large changes for the slow readers, concurrently.
    const end = performance.now() + seconds * 1000;
    const memory: number[] = [];
    let [updates, lists] = [0, 0];
    /** A machine that stalled meanwhile continues until there is enough to compare. */
    const over = (): boolean => performance.now() > end && memory.length >= 12 && updates > 0 && lists > 0;
    const lane = async (run: () => Promise<unknown>): Promise<void> => {
      while (!over()) await run();
    };
    const list = (query: string) => async (): Promise<void> => {
      await client.request("GET", `/api/v1/namespaces/${crowd}/configmaps${query}`);
      lists++;
    };
    let large = 0;
    await Promise.all([
      ...["", "?resourceVersion=0", "?limit=500", "?labelSelector=shard%3D7", "?limit=500"].map((query) =>
        lane(list(query)),
      ),
      lane(async () => {
        await maps.update(draft(updates % objects, `change ${updates}`));
        updates++;
      }),
      lane(async () => {
        await maps.patch(
          "large",
          "apply",
          {
            apiVersion: "v1",
            kind: "ConfigMap",
            metadata: { name: "large" },
            data: { value: String(large).padEnd(200_000, "x") },
          },
          { namespace: slow, fieldManager: "test", force: true },
        );
        large++;
        await sleep(20);
      }),
      lane(async () => {
        memory.push(residentMegabytes(server.pid));
        await sleep(100);
      }),
    ]);
    for (const limit = Date.now() + 120_000; Date.now() < limit && counts.some((count) => count < updates);)
      await sleep(20);
    while (large < 100) {
      await maps.patch(
        "large",
        "merge",
        { data: { value: String(large).padEnd(200_000, "x") } },
        { namespace: slow },
      );
      large++;
    }
    const after = stalls(await metricsOf(server));
    stop.abort();
    await Promise.all(watching);
    transport.close();

    const third = Math.floor(memory.length / 3);
    const [early, late] = [Math.max(...memory.slice(0, 2 * third)), Math.max(...memory.slice(-third))];
    t.diagnostic(
      `${updates} updates to ${watchers} watchers, ${lists} lists, ${large} large changes; memory at most ${early.toFixed(0)} MB, then ${late.toFixed(0)} MB`,
    );
    t.diagnostic(
      `event loop: ${after.over50 - before.over50} of ${after.all - before.all} samples were more than 50 ms late`,
    );
    assert.deepEqual(ends, []);
    assert.deepEqual([...new Set(counts)], [updates], "every watcher gets every change once");
    assert.ok(late < early * 1.25 + 30, `memory grew from ${early.toFixed(0)} to ${late.toFixed(0)} MB`);
    const taken = await Promise.all(readers.map((reader) => reader.finish()));
    for (const { ended, events } of taken) {
      assert.ok(ended, "a slow reader was not closed");
      assert.ok(events < large, "the server waited for a slow reader");
    }
  },
);

/** Runs `one` for each index, `inFlight` at a time. */
async function each(count: number, inFlight: number, one: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (next < count) await one(next++);
    }),
  );
}

interface SlowReader {
  /** Reads the pending data: returns the number of events, and whether the stream ended. */
  finish(): Promise<{ readonly ended: boolean; readonly events: number }>;
}

/** Opens watches that read nothing until the end. */
async function openSlowReaders(server: RunningApiserver): Promise<SlowReader[]> {
  const session = connect(server.url, { ca: server.ca });
  let left = slowReaders;
  const open = (): Promise<SlowReader> =>
    new Promise((resolve, reject) => {
      const stream = session.request({
        ":path": `/api/v1/namespaces/${slow}/configmaps?watch=true&timeoutSeconds=900`,
        authorization: `Bearer ${server.token}`,
      });
      stream.once("error", reject);
      stream.once("response", () =>
        resolve({ finish: () => finish(stream).finally(() => --left === 0 && session.destroy()) }),
      );
    });
  return await Promise.all(Array.from({ length: slowReaders }, open));
}

async function finish(stream: ClientHttp2Stream): Promise<{ ended: boolean; events: number }> {
  let [ended, events] = [false, 0];
  stream.on("data", (chunk: Buffer) => {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) events++;
  });
  stream.on("end", () => (ended = true));
  stream.on("error", () => (ended = true));
  for (const limit = Date.now() + 120_000; Date.now() < limit && !ended;) await sleep(20);
  return { ended, events };
}

const residentMegabytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;

const metricsOf = async (server: RunningApiserver): Promise<string> =>
  (await server.call("GET", "/metrics")).body;

/** Reads the histogram of the event loop delay: the number of all samples, and of those above 50 ms. */
function stalls(metrics: string): { readonly all: number; readonly over50: number } {
  const at = (bound: string): number =>
    Number(
      new RegExp(`^nodejs_eventloop_delay_seconds_bucket\\{le="${bound}"\\} (\\d+)`, "m").exec(metrics)?.[1],
    );
  const all = at("\\+Inf");
  assert.ok(all > 0, "the server has no metric of its event loop delay");
  return { all, over50: all - at("0\\.05") };
}
