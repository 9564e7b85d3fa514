import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "#base";
import { dialects } from "#dialect";
import { MemoryStore } from "#store";
import { settingsFor } from "../library/settings.ts";
import { start } from "../server.ts";

const bindings = "/apis/rbac.authorization.orch.io/v1/clusterrolebindings";
const [whole, part] = [`${bindings}/system:discovery`, `${bindings}/system:public-info-viewer`];

interface Binding {
  readonly metadata: { readonly annotations: Record<string, string> };
  readonly subjects: readonly { readonly name: string }[];
}

test("a missing public-info-viewer binding inherits the subjects of a restricted discovery binding", async () => {
  const store = new MemoryStore();
  const during = async (
    act: (ask: (method: string, path: string, body?: object) => Promise<Binding>) => Promise<void>,
  ): Promise<void> => {
    const started = await start({
      dialect: dialects.orch,
      settings: settingsFor(dialects.orch, { store: "memory" }),
      store,
      listen: false,
      log: silentLog,
    });
    await act(async (method, path, body) => {
      const headers = { "content-type": "application/merge-patch+json" };
      const answer = await started.inject({
        method,
        path,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      });
      assert.equal(answer.status, 200, path);
      return (await answer.json()) as Binding;
    });
    await started.stop();
  };
  const autoUpdate = dialects.orch.names.annotations.rbacAutoUpdate;
  const subjects = [{ kind: "Group", apiGroup: "rbac.authorization.orch.io", name: "some" }];
  await during(async (ask) => {
    assert.equal((await ask("GET", part)).subjects.length, 2);
    await ask("PATCH", whole, {
      subjects,
      metadata: { annotations: { [autoUpdate]: "false", mine: "yes" } },
    });
    await ask("DELETE", part);
  });
  await during(async (ask) => {
    const { metadata, subjects: found } = await ask("GET", part);
    assert.deepEqual(metadata.annotations, { [autoUpdate]: "false", mine: "yes" });
    assert.deepEqual(
      found.map(({ name }) => name),
      ["some"],
    );
  });
  await store.close();
});
