import assert from "node:assert/strict";
import { test } from "node:test";
import { type AdmissionPlugin, slot } from "#admission";
import { harness } from "./registry.fixture.ts";
import { configMap } from "./strategies/config-map.ts";
import { event } from "./strategies/event.ts";

const plugin = (more: Partial<AdmissionPlugin>): AdmissionPlugin => ({
  name: "Test",
  handles: ["CREATE", "UPDATE", "DELETE"],
  ...more,
});
const newEvent = {
  metadata: { name: "e" },
  eventTime: "2030-01-01T00:00:00.000000Z",
  reportingController: "c",
  reportingInstance: "i",
  action: "a",
  reason: "r",
  type: "Normal",
  note: "hello",
  regarding: { namespace: "default" },
};

test("a plugin can read the object in every served version", async (t) => {
  const seen: unknown[] = [];
  const observer = plugin({
    mutate: async (attributes) => {
      seen.push(attributes.equivalents.map(({ kind: { group, version } }) => `${group}/${version}`));
      const { object } = await attributes.versioned("v1");
      seen.push([object?.["apiVersion"], object?.["message"], object?.["note"]]);
      object!["message"] = "a copy";
      seen.push(attributes.object?.["note"]);
    },
  });
  const { create } = await harness(t, event, { plugins: [observer] });
  await create(newEvent);
  assert.deepEqual(seen, [["events.orch.io/v1", "/v1"], ["v1", "hello", undefined], "hello"]);
});

test("a plugin can replace the object in another version", async (t) => {
  const replace = plugin({
    mutate: async (attributes) => {
      const { object } = await attributes.versioned("v1");
      await attributes.replace({ ...object, message: "replaced", unknown: 1 }, "v1");
    },
  });
  const { create } = await harness(t, event, { plugins: [replace] });
  const { note, reason, unknown } = await create(newEvent);
  assert.deepEqual([note, reason, unknown], ["replaced", "r", undefined]);
});

test("a namespace that a plugin removes is that of the request, and another one is refused", async (t) => {
  const namespaces: (string | undefined)[] = [];
  const replace = plugin({
    handles: ["UPDATE"],
    mutate: async ({ object }) => void (object!["metadata"] = { name: "a", namespace: namespaces.pop() }),
  });
  const { create, edit } = await harness(t, configMap, { plugins: [replace] });
  await create({ metadata: { name: "a" } });
  const edited = await edit("a", () => undefined);
  assert.equal(edited.metadata.namespace, "default");
  namespaces.push("other");
  await assert.rejects(
    edit("a", () => undefined),
    /the namespace of the provided object does not match the namespace sent on the request/,
  );
});

test("a version that is not served is refused", async (t) => {
  const ask = plugin({ mutate: async (attributes) => void attributes.versioned("v9") });
  const { create } = await harness(t, configMap, { plugins: [ask] });
  await assert.rejects(create({ metadata: { name: "a" } }), /not served in version v9/);
});

test("state is shared by the hooks of a write, but not with other writes", async (t) => {
  const key = slot<string>("name");
  const seen: (string | undefined)[] = [];
  const keep = plugin({
    mutate: async ({ state, name }) => {
      seen.push(state.get(key));
      state.set(key, name);
    },
    validate: async ({ state }) => {
      seen.push(state.get(key));
      return [];
    },
  });
  const { create, remove } = await harness(t, configMap, { plugins: [keep] });
  await create({ metadata: { name: "a" } });
  await remove("a");
  assert.deepEqual(seen, [undefined, "a", undefined, "a"]);
});

test("audit annotations of plugins are added to the request", async (t) => {
  const seen: string[] = [];
  const annotate = plugin({ mutate: async (attributes) => attributes.annotate("key", "value") });
  const { create } = await harness(t, configMap, { plugins: [annotate] });
  await create({ metadata: { name: "a" } }, { annotate: (key, value) => void seen.push(key, value) });
  assert.deepEqual(seen, ["key", "value"]);
});
