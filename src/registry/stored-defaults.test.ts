import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { MemoryStore } from "#store";
import { builtInStrategies } from "./index.ts";
import { Resource } from "./resource.ts";

const store = new MemoryStore();
const metadata = { name: "a", namespace: "b", uid: "u", creationTimestamp: "2018-01-01T00:00:00Z" };

/** Decodes JSON stored by another program. */
function read(resource: string, version: string, stored: object): Record<string, Record<string, unknown>> {
  const strategy = builtInStrategies.find((each) => each.resource === resource)!;
  const options = { dialect: dialects.kubernetes, store, storePrefix: "/registry", media: "json" } as const;
  const { kind } = strategy.hub.kind;
  const value = Buffer.from(JSON.stringify({ kind, apiVersion: version, metadata, ...stored }));
  return new Resource(strategy, options).decodeStored(value) as never;
}

const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
const spec = { selector: { matchLabels: { a: "b" } }, template };
const source = { apiGroup: null, kind: "PersistentVolumeClaim", name: "foo" };

const cases: [
  name: string,
  resource: string,
  version: string,
  stored: object,
  read: Record<string, unknown>,
][] = [
  ["a simple default", "persistentvolumeclaims", "v1", { spec: {} }, { volumeMode: "Filesystem" }],
  [
    "a value in two fields",
    "persistentvolumeclaims",
    "v1",
    { spec: { dataSource: source } },
    { dataSourceRef: source },
  ],
  [
    "a default that depends on other fields",
    "deployments",
    "apps/v1",
    { spec },
    { strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } } },
  ],
  ["a default of an embedded kind", "cronjobs", "batch/v1", { spec: { schedule: "* * * * *", jobTemplate: { spec } } }, { failedJobsHistoryLimit: 1 }], // prettier-ignore
  ["a value that is set", "deployments", "apps/v1", { spec: { ...spec, replicas: 7 } }, { replicas: 7 }],
];
for (const [name, resource, version, stored, wanted] of cases)
  test(`objects of older releases are read with defaults: ${name}`, () => {
    const found = read(resource, version, stored)["spec"]!;
    assert.deepEqual(Object.fromEntries(Object.keys(wanted).map((key) => [key, found[key]])), wanted);
  });
