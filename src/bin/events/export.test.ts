// The export of events: existing ones, changes, and no loss or duplicates when it is interrupted.
import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Event } from "#api";
import { ApiError, systemClock, virtualClock } from "#base";
import type { ResourceClient, WatchEvent } from "#client";
import { GrpcError, grpcServer, unaryProcedure } from "#http";
import { exportLogs } from "#tracing";
import { type ExportOptions, type ExportTarget, exportEvents } from "./export.ts";
import { cursorFile, noCursor } from "./export-cursor.ts";
import { fileTarget } from "./export-file.ts";
import { otlpTarget, recordOf } from "./export-otlp.ts";

type Client = Pick<ResourceClient<Event>, "pages" | "watch">;
type Watched = WatchEvent<Event> | Error;

const folder = mkdtempSync(join(tmpdir(), "export-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const event = (name: string, resourceVersion: number): Event =>
  ({
    metadata: { name, resourceVersion: String(resourceVersion) },
    regarding: {},
    deprecatedSource: {},
  }) as Event;
const added = (name: string, revision: number): Watched => ({ type: "ADDED", object: event(name, revision) });

type Listed = [revision: number, items: Event[]] | Error;

/** A server with these lists and watches, in order; the export is stopped after the last watch. */
function server(lists: Listed[], watches: Watched[][], stop: AbortController) {
  const requests: string[] = [];
  const client: Client = {
    pages: async function* () {
      requests.push("list");
      const list = lists.shift()!;
      if (list instanceof Error) throw list;
      const [revision, items] = list;
      yield { resourceVersion: String(revision), items };
    },
    watch: async function* ({ resourceVersion = "" }) {
      requests.push(`watch ${resourceVersion}`);
      for (const each of watches.shift() ?? []) {
        if (each instanceof Error) throw each;
        yield each;
      }
      if (watches.length === 0) stop.abort();
    } as Client["watch"],
  };
  return { client, requests };
}

function memory(): ExportTarget & { readonly lines: string[] } {
  const lines: string[] = [];
  return {
    lines,
    write: (line) =>
      void lines.push(line.type === "GAP" ? `GAP ${line.from}-${line.to}` : line.object.metadata.name!),
    flush: async () => 0,
    rewind: async () => undefined,
    close: async () => undefined,
  };
}

const clock = { ...virtualClock(0), sleep: async () => undefined };
const run = async (options: Partial<ExportOptions> & Pick<ExportOptions, "events" | "target" | "signal">) =>
  await exportEvents({
    namespace: "",
    cursor: noCursor,
    follow: true,
    clock,
    warn: () => undefined,
    ...options,
  });

const cases: [name: string, lists: Listed[], watches: Watched[][], lines: string[], requests: string[]][] = [
  [
    "existing events are exported first, then changes",
    [[5, [event("a", 3), event("b", 5)]]],
    [[added("c", 6), added("d", 7)]],
    ["a", "b", "c", "d"],
    ["list", "watch 5"],
  ],
  [
    "an interrupted watch continues after the last event",
    [[5, []]],
    [[added("a", 6), new Error("connection lost")], [added("b", 7)]],
    ["a", "b"],
    ["list", "watch 5", "watch 6"],
  ],
  [
    "after expiry of the position a gap is reported, and newer events follow",
    [
      [5, [event("a", 5)]],
      [20, [event("a", 5), event("c", 18)]],
    ],
    [[{ type: "ERROR", object: { code: 410 } }], [added("d", 21)]],
    ["a", "GAP 5-20", "c", "d"],
    ["list", "watch 5", "list", "watch 20"],
  ],
  [
    "a list is retried while the server is busy or unavailable",
    [
      new ApiError(429, "TooManyRequests", "try again later"),
      new Error("connection lost"),
      [5, [event("a", 5)]],
    ],
    [[added("b", 6)]],
    ["a", "b"],
    ["list", "list", "list", "watch 5"],
  ],
  [
    "expiry of an event is not exported, but advances the cursor",
    [[5, []]],
    [[{ type: "DELETED", object: event("a", 9) }], []],
    [],
    ["list", "watch 5", "watch 9"],
  ],
];

for (const [name, lists, watches, lines, requests] of cases)
  test(name, async () => {
    const stop = new AbortController();
    const from = server(lists, watches, stop);
    const target = memory();
    await run({ events: from.client, target, signal: stop.signal });
    assert.deepEqual(target.lines, lines);
    assert.deepEqual(from.requests, requests);
  });

test("lines written after the cursor before a crash are truncated and exported once", async () => {
  const [lines, cursor] = [join(folder, "lines"), join(folder, "cursor")];
  writeFileSync(lines, "from elsewhere\n");
  const once = async (lists: [number, Event[]][], watches: Watched[][]): Promise<string[]> => {
    const stop = new AbortController();
    const { client, requests } = server(lists, watches, stop);
    const target = await fileTarget(lines);
    await run({ events: client, target, cursor: cursorFile(cursor), signal: stop.signal });
    await target.close();
    return requests;
  };
  await once([[5, [event("a", 5)]]], [[added("b", 6)]]);
  appendFileSync(lines, '{"type":"ADDED","obj');
  assert.deepEqual(await once([], [[added("c", 7)]]), ["watch 6"]);
  const [first, ...rest] = readFileSync(lines, "utf8").trimEnd().split("\n");
  assert.equal(first, "from elsewhere");
  assert.deepEqual(
    rest.map((line) => (JSON.parse(line) as { object: Event }).object.metadata.name),
    ["a", "b", "c"],
  );
});

test("an interrupted list continues with its next page, and starts over if that has expired", async () => {
  const [lines, cursor] = [join(folder, "pages"), join(folder, "pages-cursor")];
  const pages: Record<string, { at: number; items: Event[]; next?: string } | Error> = {
    "": { at: 5, items: [event("a", 1), event("b", 2)], next: "second" },
    second: new Error("connection lost"),
  };
  const requests: string[] = [];
  const events: Client = {
    pages: async function* ({ continue: token = "" } = {}) {
      for (let next: string | undefined = token; next !== undefined;) {
        requests.push(next);
        const page: (typeof pages)[string] = pages[next]!;
        if (page instanceof Error) throw page;
        yield {
          resourceVersion: String(page.at),
          items: page.items,
          ...(page.next && { continue: page.next }),
        };
        next = page.next;
      }
    },
    watch: () => {
      throw new Error("not followed");
    },
  };
  const once = async (): Promise<void> => {
    const target = await fileTarget(lines);
    const { signal } = new AbortController();
    try {
      await run({ events, target, cursor: cursorFile(cursor), signal, follow: false });
    } finally {
      await target.close();
    }
  };
  const names = (): (string | undefined)[] =>
    readFileSync(lines, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { object: Event }).object.metadata.name);
  await assert.rejects(once(), /connection lost/);
  pages["second"] = { at: 5, items: [event("c", 3)], next: "third" };
  pages["third"] = new Error("connection lost");
  await assert.rejects(once(), /connection lost/);
  assert.deepEqual(requests, ["", "second", "second", "third"]);
  assert.deepEqual(names(), ["a", "b", "c"]);
  pages["third"] = new ApiError(410, "Expired", "the rest is gone");
  pages[""] = { at: 9, items: [event("a", 1), event("d", 8)] };
  await once();
  assert.deepEqual(requests.slice(4), ["third", ""]);
  assert.deepEqual(names(), ["a", "d"]);
  assert.deepEqual(cursorFile(cursor).read()?.resourceVersion, "9");
});

test("a permission error is reported immediately", async () => {
  const stop = new AbortController();
  const { client: events } = server([new ApiError(403, "Forbidden", "events is forbidden")], [], stop);
  await assert.rejects(run({ events, target: memory(), signal: stop.signal }), /is forbidden/);
});

test("a collector receives every event, rejected batches are sent again, and the cursor waits", async () => {
  const socketPath = join(folder, "collector.sock");
  const cursor = cursorFile(join(folder, "collector-cursor"));
  const taken: string[] = [];
  const positions: (string | undefined)[] = [];
  let refusals = 2;
  const collector = await grpcServer({
    socketPath,
    procedures: [
      unaryProcedure(
        {
          path: exportLogs.path,
          decode: (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1"),
          encode: () => new Uint8Array(),
        },
        (batch) => {
          positions.push(cursor.read()?.resourceVersion);
          if (refusals-- > 0) throw new GrpcError("RESOURCE_EXHAUSTED", "busy");
          taken.push(...batch.matchAll(/note-\w/g).map(([note]) => note));
        },
      ),
    ],
  });
  const noted = (name: string, revision: number): Event => ({
    ...event(name, revision),
    note: `note-${name}`,
  });
  const stop = new AbortController();
  const list: [number, Event[]] = [5, [noted("a", 3), noted("b", 5)]];
  const { client } = server(
    [list, [...list], [...list]],
    [
      [
        { type: "ADDED", object: noted("c", 6) },
        { type: "MODIFIED", object: noted("c", 7) },
      ],
      [],
    ],
    stop,
  );
  const target = otlpTarget(`unix://${socketPath}`, systemClock);
  await run({ events: client, target, cursor, signal: stop.signal });
  await target.close();
  await collector.close();
  assert.deepEqual(taken, ["note-a", "note-b", "note-c", "note-c"]);
  assert.deepEqual(positions.slice(0, 3), ["", "", ""]);
  assert.equal(cursor.read()?.resourceVersion, "7");
});

test("an invalid cursor is rejected, and so is a file shorter than its cursor", async () => {
  const [lines, cursor] = [join(folder, "short"), join(folder, "wrong")];
  writeFileSync(cursor, "x");
  assert.throws(() => cursorFile(cursor).read(), /is not a valid export cursor/);
  const target = await fileTarget(lines);
  await assert.rejects(target.rewind(10), /is shorter than its cursor indicates/);
  await target.close();
});

test("a log record contains the event's note, time, severity and object", () => {
  const object = {
    ...event("a", 1),
    type: "Warning",
    note: "it failed",
    eventTime: "2030-01-01T00:00:00.000000Z",
    regarding: { kind: "Pod", name: "p" },
    series: { count: 3, lastObservedTime: "2030-01-01T00:00:05.000000Z" },
  } as Event;
  assert.deepEqual(recordOf({ type: "ADDED", object }, 7), {
    timeMillis: Date.parse("2030-01-01T00:00:05Z"),
    observedMillis: 7,
    severity: 13,
    severityText: "Warning",
    body: "it failed",
    attributes: {
      "event.change": "ADDED",
      "event.name": "a",
      "event.count": 3,
      "object.kind": "Pod",
      "object.name": "p",
    },
  });
});
