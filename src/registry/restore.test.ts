import assert from "node:assert/strict";
import { test } from "node:test";
import type { StatefulSet } from "#api";
import { dialects } from "#dialect";
import { MemoryStore } from "#store";
import { Resource, type StorageMedia } from "./resource.ts";
import { job } from "./strategies/job.ts";
import { persistentVolume } from "./strategies/persistent-volume.ts";
import { statefulSet } from "./strategies/stateful-set.ts";
import { persistentVolumeClaim } from "./strategies/volume-claim.ts";
import type { Strategy } from "./strategy.ts";

for (const media of ["json", "protobuf"] satisfies StorageMedia[]) {
  test(`fields omitted by protobuf are restored after reading (${media})`, () => {
    const resource = new Resource(statefulSet, {
      dialect: dialects.orch,
      store: new MemoryStore({}),
      storePrefix: "/registry",
      media,
    });
    const claim = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "v", creationTimestamp: null },
      spec: {},
      status: {},
    };
    const object = {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: { name: "s", namespace: "default" },
      spec: { volumeClaimTemplates: [claim] },
    };
    const read = resource.decodeStored(
      Uint8Array.from(resource.encode(object as never).value),
    ) as unknown as StatefulSet;
    const [found] = read.spec.volumeClaimTemplates as unknown as { apiVersion: string; kind: string }[];
    assert.deepEqual([found?.apiVersion, found?.kind], ["v1", "PersistentVolumeClaim"]);
  });
}

const others: [what: string, strategy: Strategy, stored: object, field: string, expected: unknown][] = [
  [
    "the phase of a volume defaults to Pending",
    persistentVolume,
    { apiVersion: "v1", kind: "PersistentVolume", spec: {}, status: {} },
    "status",
    { phase: "Pending" },
  ],
  [
    "the phase of a claim defaults to Pending",
    persistentVolumeClaim,
    { apiVersion: "v1", kind: "PersistentVolumeClaim", spec: {}, status: {} },
    "status",
    { phase: "Pending" },
  ],
  [
    "the phase of a bound claim is kept",
    persistentVolumeClaim,
    { apiVersion: "v1", kind: "PersistentVolumeClaim", spec: {}, status: { phase: "Bound" } },
    "status",
    { phase: "Bound" },
  ],
  [
    "a job inherits the labels of its pods",
    job,
    {
      apiVersion: "batch/v1",
      kind: "Job",
      spec: { template: { metadata: { labels: { a: "b" } }, spec: {} } },
    },
    "metadata",
    { labels: { a: "b" } },
  ],
];
for (const [what, strategy, stored, field, expected] of others) {
  test(`${what}, even if another server stored the object without it`, () => {
    const resource = new Resource(strategy, {
      dialect: dialects.orch,
      store: new MemoryStore({}),
      storePrefix: "/registry",
      media: "json",
    });
    const read = resource.decodeStored(
      Buffer.from(JSON.stringify({ metadata: {}, ...stored })),
    ) as unknown as Record<string, object>;
    assert.partialDeepStrictEqual(read[field], expected);
  });
}
