import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreEvent } from "#api";
import { dialects } from "#dialect";
import { encodeEnvelope, encodeJson, protobufCodec } from "#schema";
import { openMemory } from "#store";
import { Resource } from "./resource.ts";
import { event } from "./strategies/event.ts";

const core = {
  kind: "Event",
  apiVersion: "v1",
  metadata: { name: "a", namespace: "default", uid: "u-1", creationTimestamp: "2024-01-01T00:00:00Z" },
  involvedObject: { kind: "Pod", name: "p" },
  reason: "Pulled",
  message: "done",
  source: { component: "c" },
  firstTimestamp: null,
  lastTimestamp: null,
  eventTime: null,
  reportingComponent: "",
  reportingInstance: "",
};

for (const dialect of Object.values(dialects)) {
  const resource = new Resource(event, {
    dialect,
    store: await openMemory({}),
    storePrefix: "/registry",
    media: "protobuf",
  });
  const forms: [name: string, value: Uint8Array][] = [
    ["JSON", Buffer.from(encodeJson(CoreEvent, core as never))],
    [
      "binary",
      encodeEnvelope(core, protobufCodec(CoreEvent).encode(core as never), dialect.wire.protobufMagic),
    ],
  ];
  for (const [name, value] of forms) {
    test(`an event stored as ${name} of the core group is decoded to the stored version (${dialect.name})`, () => {
      const object = resource.decodeStored(value) as unknown as Record<string, unknown>;
      assert.equal(object["apiVersion"], `events.${dialect.wire.groupSuffix}/v1`);
      assert.deepEqual(object["regarding"], { kind: "Pod", name: "p" });
      assert.equal(object["note"], "done");
      const cached = resource.reader({ key: "/registry/events/default/a", value, revision: 7, created: 7 });
      assert.equal((JSON.parse(cached.json.toString()) as typeof core).metadata.name, "a");
      assert.equal(cached.fields["involvedObject.kind"], "Pod");
    });
  }
}

const stored = (name: string, more: object = {}): Uint8Array =>
  Buffer.from(
    JSON.stringify({
      kind: "Event",
      apiVersion: "events.orch.io/v1",
      metadata: { name, namespace: "default", uid: "u-1", labels: { app: "a" } },
      eventTime: null,
      reason: "Pulled",
      regarding: { kind: "Pod", name: "p" },
      deprecatedSource: {},
      ...more,
    }),
  );

async function eventsAsJson(): Promise<Resource> {
  const dialect = dialects.orch;
  return new Resource(event, {
    dialect,
    store: await openMemory({}),
    storePrefix: "/registry",
    media: "json",
  });
}

const entryOf = (name: string, value: Uint8Array, revision = 7) => ({
  key: `/registry/events/default/${name}`,
  value,
  revision,
  created: revision,
});

test("values stored in the cached form are used unchanged and equal the decoded ones", async () => {
  const resource = await eventsAsJson();
  resource.encodedSince(6);
  const canonicalValue = (name: string): Uint8Array =>
    resource.encode(resource.decodeStored(stored(name))).value.slice();
  const read = ["a", "b", "c", "d", "e"].map((name) => resource.reader(entryOf(name, canonicalValue(name))));
  for (const [at, cached] of read.entries()) {
    const name = ["a", "b", "c", "d", "e"][at]!;
    assert.deepEqual([cached.name, cached.namespace, cached.revision], [name, "default", 7]);
    assert.deepEqual({ ...cached.labels }, { app: "a" });
    assert.deepEqual(cached.fields, read[0]!.fields);
    assert.equal(cached.line.toString(), read[0]!.line.toString().replace('"name":"a"', `"name":"${name}"`));
    assert.equal(cached.typeHeaderBytes, read[0]!.typeHeaderBytes);
    assert.equal(cached.line.toString("utf8", cached.revisionStart, cached.revisionEnd), "7");
  }
});

test("values that another release may have stored are decoded", async () => {
  const resource = await eventsAsJson();
  resource.encodedSince(7);
  const cached = resource.reader(entryOf("a", stored("a", { unknown: true }), 7));
  assert.equal(cached.json.includes("unknown"), false);
  assert.equal(cached.fields["reason"], "Pulled");
  const asIs = resource.reader(entryOf("b", stored("b", { unknown: true }), 8));
  assert.equal(asIs.json.includes("unknown"), true);
});
