import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "#base";
import { type DialectName, dialects } from "#dialect";
import { MemoryStore } from "#store";
import { claimDialect } from "./namespaces.ts";
import { settingsFor } from "../library/settings.ts";
import { each, serve } from "../server.fixture.ts";
import { start } from "../server.ts";

test("a store has one dialect: the first server records it, later ones must use the same", async () => {
  const store = new MemoryStore();
  await claimDialect(store, "/registry", dialects.orch);
  await claimDialect(store, "/registry", dialects.orch);
  await assert.rejects(
    claimDialect(store, "/registry", dialects.kubernetes),
    /made with --dialect=orch.*started with --dialect=kubernetes/,
  );
  await claimDialect(store, "/other", dialects.kubernetes);
  await store.close();
});

for (const name of ["orch", "kubernetes"] satisfies DialectName[]) {
  test(`a new cluster of the ${name} dialect has its system namespaces, and they are active`, async () => {
    const { must } = await serve({ dialect: name });
    const { at } = await must(200, "GET", "/api/v1/namespaces");
    const prefix = name === "orch" ? "orch" : "kube";
    assert.deepEqual(
      each(at("items"), "metadata.name"),
      ["default", `${prefix}-node-lease`, `${prefix}-public`, `${prefix}-system`].toSorted(),
    );
    assert.deepEqual(new Set(each(at("items"), "status.phase")), new Set(["Active"]));
    for (const namespace of ["default", `${prefix}-system`, `${prefix}-public`])
      await must(403, "DELETE", `/api/v1/namespaces/${namespace}`);
  });
}

test("a restarted server does not recreate existing objects", async () => {
  const store = new MemoryStore();
  const open = async () =>
    await start({
      dialect: dialects.orch,
      settings: settingsFor(dialects.orch, { store: "memory" }),
      store,
      listen: false,
      log: silentLog,
    });
  const uids = async (): Promise<unknown> => {
    const started = await open();
    const answer = await started.inject({ path: "/api/v1/namespaces" });
    const found = each(((await answer.json()) as { items: unknown[] }).items, "metadata.uid");
    await started.stop();
    return found;
  };
  assert.deepEqual(await uids(), await uids());
  await store.close();
});
