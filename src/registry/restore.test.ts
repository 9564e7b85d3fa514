import assert from "node:assert/strict";
import { test } from "node:test";
import type { StatefulSet } from "#api";
import { dialects } from "#dialect";
import { MemoryStore } from "#store";
import { Resource, type StorageMedia } from "./resource.ts";
import { statefulSet } from "./strategies/stateful-set.ts";

for (const media of ["json", "protobuf"] satisfies StorageMedia[]) {
  test(`what the binary form leaves out is there again after reading (${media})`, () => {
    const resource = new Resource(statefulSet, { dialect: dialects.orch, store: new MemoryStore({}), storePrefix: "/registry", media });
    const claim = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "v", creationTimestamp: null }, spec: {}, status: {} };
    const object = { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name: "s", namespace: "default" }, spec: { volumeClaimTemplates: [claim] } };
    const read = resource.decodeStored(Uint8Array.from(resource.encode(object as never).value)) as unknown as StatefulSet;
    const [found] = read.spec.volumeClaimTemplates as unknown as { apiVersion: string; kind: string }[];
    assert.deepEqual([found?.apiVersion, found?.kind], ["v1", "PersistentVolumeClaim"]);
  });
}
