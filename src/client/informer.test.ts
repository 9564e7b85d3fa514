import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, virtualClock } from "#base";
import type {
  AnyObject,
  ListParameters,
  ListResult,
  ResourceClient,
  WatchEvent,
  WatchParameters,
} from "./client.ts";
import { type InformerEvent, informer } from "./informer.ts";
import { Unreachable } from "./transport.ts";

const object = (name: string, version: number, uid = `uid-${name}`): AnyObject => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: {
    name,
    namespace: "n",
    uid,
    resourceVersion: String(version),
    creationTimestamp: "2030-01-01T00:00:00Z",
  },
});
const added = (name: string, version: number, uid?: string): WatchEvent<AnyObject> => ({
  type: "ADDED",
  object: object(name, version, uid),
});
const modified = (name: string, version: number): WatchEvent<AnyObject> => ({
  type: "MODIFIED",
  object: object(name, version),
});
const deleted = (name: string, version: number): WatchEvent<AnyObject> => ({
  type: "DELETED",
  object: object(name, version),
});
const bookmark = (version: number): WatchEvent<AnyObject> => ({
  type: "BOOKMARK",
  object: { metadata: { resourceVersion: String(version) } },
});
const expired = new ApiError(410, "Expired", "too old");

type Page =
  | { readonly version: number; readonly items: readonly AnyObject[]; readonly more?: string }
  | Error;
/** The events of one watch; an Error ends it with that error, "end" normally, and otherwise it stays open. */
type Stream = readonly (WatchEvent<AnyObject> | Error | "end")[];

/** Plays back lists and watches in order; requests beyond the script stay pending. */
function scripted(lists: Page[], watches: Stream[]) {
  const requests: string[] = [];
  const { promise: idle, resolve: atEnd } = Promise.withResolvers<void>();
  const client = {
    list: async ({ limit, continue: token }: ListParameters = {}): Promise<ListResult<AnyObject>> => {
      requests.push(`list limit=${limit ?? "none"}${token ? ` continue=${token}` : ""}`);
      const page = lists.shift();
      if (page === undefined) throw new Error("the script has no further list");
      if (page instanceof Error) throw page;
      return {
        resourceVersion: String(page.version),
        items: page.items,
        ...(page.more && { continue: page.more }),
      };
    },
    watch: async function* ({ resourceVersion, signal }: WatchParameters) {
      requests.push(`watch ${resourceVersion}`);
      for (const step of watches.shift() ?? []) {
        if (step === "end") return;
        if (step instanceof Error) throw step;
        yield step;
      }
      if (watches.length === 0) atEnd();
      await new Promise<void>((resolve) =>
        signal!.addEventListener("abort", () => resolve(), { once: true }),
      );
    },
  } as unknown as ResourceClient<AnyObject>;
  return { client, requests, idle };
}

const textOf = (event: InformerEvent<AnyObject>): string =>
  `${event.type} ${event.object.metadata.name}@${event.object.metadata.resourceVersion}`;

const cases: [name: string, lists: Page[], watches: Stream[], events: string[], requests: string[]][] = [
  [
    "delivers existing objects, then changes",
    [{ version: 5, items: [object("a", 3), object("b", 5)] }],
    [[modified("a", 6), deleted("b", 7), added("c", 8)]],
    ["added a@3", "added b@5", "updated a@6", "deleted b@7", "added c@8"],
    ["list limit=500", "watch 5"],
  ],
  [
    "resumes after the last event when the server ends the watch",
    [{ version: 5, items: [] }],
    [[added("a", 6), "end"], [modified("a", 7)]],
    ["added a@6", "updated a@7"],
    ["list limit=500", "watch 5", "watch 6"],
  ],
  [
    "goes on behind the last event when the connection breaks: nothing is told twice, nothing older",
    [{ version: 5, items: [] }],
    [[added("a", 6), modified("a", 7), deleted("a", 8), new Unreachable("cut")], []],
    ["added a@6", "updated a@7", "deleted a@8"],
    ["list limit=500", "watch 5", "watch 8"],
  ],
  [
    "resumes from a bookmark",
    [{ version: 5, items: [] }],
    [[bookmark(40), "end"], []],
    [],
    ["list limit=500", "watch 5", "watch 40"],
  ],
  [
    "lists again when its revision is compacted, and delivers only differences",
    [
      { version: 5, items: [object("same", 1), object("changed", 2), object("gone", 3)] },
      { version: 90, items: [object("same", 1), object("changed", 50), object("new", 60)] },
    ],
    [[expired], []],
    [
      "added same@1",
      "added changed@2",
      "added gone@3",
      "updated changed@50",
      "added new@60",
      "deleted gone@3",
    ],
    ["list limit=500", "watch 5", "list limit=500", "watch 90"],
  ],
  [
    "an ERROR event with 410 does the same",
    [
      { version: 5, items: [] },
      { version: 9, items: [object("a", 8)] },
    ],
    [[{ type: "ERROR", object: { code: 410, reason: "Expired", message: "too old" } }], []],
    ["added a@8"],
    ["list limit=500", "watch 5", "list limit=500", "watch 9"],
  ],
  [
    "an object deleted and recreated while disconnected is delivered as both",
    [
      { version: 5, items: [object("a", 3, "first")] },
      { version: 9, items: [object("a", 8, "second")] },
    ],
    [[expired], []],
    ["added a@3", "deleted a@3", "added a@8"],
    ["list limit=500", "watch 5", "list limit=500", "watch 9"],
  ],
  [
    "a list compacted between two pages is requested again whole, and the partial one is not delivered",
    [{ version: 5, items: [object("a", 1)], more: "t" }, expired, { version: 9, items: [object("b", 8)] }],
    [[]],
    ["added b@8"],
    ["list limit=500", "list limit=500 continue=t", "list limit=none", "watch 9"],
  ],
];
for (const [name, lists, watches, expected, requests] of cases) {
  test(name, async () => {
    const clock = virtualClock();
    const stop = new AbortController();
    const script = scripted([...lists], [...watches]);
    const events: string[] = [];
    const copy = informer({
      client: script.client,
      clock,
      signal: stop.signal,
      onEvent: (event) => events.push(textOf(event)),
    });
    await pass(clock, script.idle);
    assert.deepEqual(events, expected);
    assert.deepEqual(script.requests, requests);
    stop.abort();
    await copy.stopped;
  });
}

/** Advances virtual time until the promise settles. */
async function pass(clock: ReturnType<typeof virtualClock>, until: Promise<void>): Promise<void> {
  let over = false;
  void until.then(() => (over = true));
  for (let turn = 0; turn < 10_000 && !over; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(100);
  }
  assert.ok(over, "the informer never came to the end of the script");
}

test("failures are reported with growing backoff, and a server's Retry-After is honoured", async () => {
  const clock = virtualClock();
  const stop = new AbortController();
  const busy = new ApiError(429, "TooManyRequests", "later", { retryAfterSeconds: 60 });
  const script = scripted(
    [new Unreachable("no"), new Unreachable("no"), busy, { version: 1, items: [] }],
    [[]],
  );
  const problems: [string, number][] = [];
  informer({
    client: script.client,
    clock,
    signal: stop.signal,
    onEvent: () => undefined,
    onError: (error) => problems.push([error.message, clock.now()]),
  });
  await pass(clock, script.idle);
  stop.abort();
  assert.deepEqual(
    problems.map(([message]) => message),
    ["no", "no", "later"],
  );
  assert.ok(clock.now() - problems[2]![1] >= 60_000);
});

test("a server that ends every watch immediately is retried with backoff", async () => {
  const clock = virtualClock();
  const stop = new AbortController();
  const script = scripted(
    [{ version: 1, items: [] }],
    Array.from({ length: 8 }, () => ["end"] as const),
  );
  const problems: string[] = [];
  informer({
    client: script.client,
    clock,
    signal: stop.signal,
    onEvent: () => undefined,
    onError: (error) => problems.push(error.message),
  });
  await pass(clock, script.idle);
  stop.abort();
  assert.equal(problems.length, 7);
  assert.ok(clock.now() > 5_000, `only ${clock.now()} ms passed`);
});

test("an error thrown by the listener is reported, and no event is lost", async () => {
  const stop = new AbortController();
  const clock = virtualClock();
  const script = scripted([{ version: 5, items: [object("a", 1), object("b", 2)] }], [[]]);
  const seen: string[] = [];
  const problems: string[] = [];
  const onEvent = (event: InformerEvent<AnyObject>): void => {
    seen.push(textOf(event));
    if (event.object.metadata.name === "a") throw new Error("mine");
  };
  const copy = informer({
    client: script.client,
    clock,
    signal: stop.signal,
    onEvent,
    onError: (error) => problems.push(error.message),
  });
  await copy.synced;
  assert.deepEqual(seen, ["added a@1", "added b@2"]);
  assert.deepEqual(problems, ["mine"]);
  assert.equal(copy.get("n", "b")?.metadata.name, "b");
  assert.deepEqual([...copy.items()].length, 2);
  stop.abort();
  await copy.stopped;
});
