import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "#apiserver";
import { silentLog, systemClock } from "#base";
import { kinds } from "#client";
import { clusterView } from "./cluster-view.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("a kind that cannot be listed delays only the views that follow it", async () => {
  await using server = await startServer({ store: "memory" });
  const { client, faults } = server.kit.faultyClient();
  const isSecrets = ({ path }: { path: string }): boolean => path.includes("/secrets");
  faults.plan({ answer: 403 }, { when: isSecrets, times: Infinity });
  const stopping = new AbortController();
  const view = clusterView({ client, clock: systemClock, signal: stopping.signal, log: silentLog });
  const [good, bad] = [view.scoped(), view.scoped()];
  good.follow(kinds.namespaces);
  bad.follow(kinds.namespaces);
  bad.follow(kinds.secrets);
  await good.synced();
  while (bad.lastFailure() === 0) await turn();
  assert.equal(good.lastFailure(), 0);
  const waiting = bad.synced().catch(() => "aborted");
  stopping.abort();
  assert.equal(await waiting, "aborted");
  await view.stopped();
});

test("indexes are kept current, and all views share one informer per kind", async () => {
  await using server = await startServer({ store: "memory" });
  const client = server.kit.client();
  const stopping = new AbortController();
  const view = clusterView({ client, clock: systemClock, signal: stopping.signal, log: silentLog });
  const maps = view.follow(kinds.configMaps);
  assert.equal(view.scoped().follow(kinds.configMaps), maps);
  assert.equal(view.existing("v1", "configmaps")?.informer, maps);
  const byColour = maps.index("colour", ({ data }) => (data?.["colour"] ? [data["colour"]] : []));
  const named = (colour: string): string =>
    byColour(colour)
      .map(({ metadata }) => metadata.name)
      .join();
  const all = client.of(kinds.configMaps);
  const namespace = "default";
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await turn();
  };
  await all.create({ metadata: { name: "a", namespace }, data: { colour: "red" } });
  await until(() => named("red") === "a");
  assert.equal(maps.get(namespace, "a")?.metadata.managedFields, undefined);
  await all.patch("a", "merge", { data: { colour: "blue" } }, { namespace });
  await until(() => named("blue") === "a" && named("red") === "");
  assert.equal(
    maps.inNamespace(namespace).some(({ metadata }) => metadata.name === "a"),
    true,
  );
  await all.delete("a", { namespace });
  await until(() => named("blue") === "");
  stopping.abort();
  await view.stopped();
});
