import assert from "node:assert/strict";
import { test } from "node:test";
import { Event } from "#api";
import { dialectNamed } from "#dialect";
import type { Call, Reply } from "#http";
import type { ObjectSource } from "#watchcache";
import { listEventsInAdvance } from "./event-lists.ts";

const dialect = dialectNamed("orch")!;

/** Runs with this `indexed` of the cache; returns the requests made. */
async function requests(
  indexed: ObjectSource["indexed"],
  signal = new AbortController().signal,
): Promise<string[]> {
  const made: string[] = [];
  const handle = async ({ method, path, search }: Call): Promise<Reply> => {
    made.push(`${method} ${path}?${search}`);
    const subject = path.startsWith("/api/") ? "involvedObject" : "regarding";
    return {
      status: 200,
      headers: {},
      body: Buffer.from(JSON.stringify({ items: [{ [subject]: { uid: "u/1" } }] })),
    };
  };
  const source = { ...(indexed && { indexed }) } as ObjectSource;
  await listEventsInAdvance({
    dialect,
    events: { hub: Event, source },
    loaded: async () => undefined,
    handle,
    signal,
  });
  return made;
}

test("the Events of one object are listed in both groups once many are indexed", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const made = requests(() => promise);
  resolve();
  assert.deepEqual(await made, [
    "GET /apis/events.orch.io/v1/events?limit=1",
    "GET /apis/events.orch.io/v1/events?fieldSelector=regarding.uid=u%2F1",
    "GET /api/v1/events?limit=1",
    "GET /api/v1/events?fieldSelector=involvedObject.uid=u%2F1",
  ]);
});

test("a few Events, or Events in memory, are not listed", async () => {
  assert.deepEqual(await requests(() => undefined), []);
  assert.deepEqual(await requests(undefined), []);
});

test("a server that stops does not wait for the index", async () => {
  const stopping = new AbortController();
  const made = requests(() => new Promise(() => undefined), stopping.signal);
  stopping.abort();
  assert.deepEqual(await made, []);
});
