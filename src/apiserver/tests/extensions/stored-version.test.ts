import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "#base";
import { dialects } from "#dialect";
import { MemoryStore } from "#store";
import { settingsFor } from "../../library/settings.ts";
import { start } from "../../server.ts";

const definitions = "/apis/apiextensions.orch.io/v1/customresourcedefinitions";
const schema = { openAPIV3Schema: { type: "object" } };
const version = (name: string, storage: boolean) => ({ name, served: true, storage, schema });

for (const endpoint of ["v1", "v2"])
  test(`a no-op write of an object, in ${endpoint}, migrates it to the new storage version`, async () => {
    const store = new MemoryStore();
    const server = await start({
      dialect: dialects.orch,
      settings: settingsFor(dialects.orch, { store: "memory" }),
      store,
      listen: false,
      log: silentLog,
    });
    const send = async (method: string, path: string, body: object, type = "application/json") =>
      (
        await server.inject({
          method,
          path,
          headers: { "content-type": type },
          body: JSON.stringify(body),
          trusted: { name: "me", groups: ["system:masters"] },
        })
      ).status;
    const merge = "application/merge-patch+json";
    const storedVersion = async (): Promise<unknown> => {
      const { entries } = await store.read({ prefix: "/registry/g.example.com/widgets/" });
      return (JSON.parse(Buffer.from(entries[0]!.value).toString()) as { apiVersion: string }).apiVersion;
    };
    await send("POST", definitions, {
      metadata: { name: "widgets.g.example.com" },
      spec: {
        group: "g.example.com",
        scope: "Namespaced",
        names: { plural: "widgets", kind: "Widget" },
        versions: [version("v1", true), version("v2", false)],
      },
    });
    const widgets = `/apis/g.example.com/${endpoint}/namespaces/default/widgets`;
    const widget = { apiVersion: `g.example.com/${endpoint}`, kind: "Widget", metadata: { name: "a" } };
    while ((await send("POST", widgets, widget)) !== 201)
      await new Promise((resolve) => setImmediate(resolve));
    assert.equal(await storedVersion(), "g.example.com/v1");
    const versions = [version("v1", false), version("v2", true)];
    assert.equal(
      await send("PATCH", `${definitions}/widgets.g.example.com`, { spec: { versions } }, merge),
      200,
    );
    for (let tries = 0; tries < 200 && (await storedVersion()) === "g.example.com/v1"; tries++) {
      await send("PATCH", `${widgets}/a`, {}, merge);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(await storedVersion(), "g.example.com/v2");
    await server.stop();
    await store.close();
  });
