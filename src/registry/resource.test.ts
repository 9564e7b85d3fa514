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
    test(`an event stored as ${name} of the core group is read in the stored shape (${dialect.name})`, () => {
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
