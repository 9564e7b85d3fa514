import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConfigMap, Container, Secret } from "#api";
import { samplePod } from "../pod.fixture.ts";
import { ConfigError, environment } from "./environment.ts";

const maps: Readonly<Record<string, object>> = { cm: { data: { a: "1", "not a name": "2" } }, empty: {} };
const secrets: Readonly<Record<string, object>> = {
  sec: { data: { s: Buffer.from("hidden").toString("base64") } },
};
const skipped: string[] = [];
const of = async (container: object): Promise<Record<string, string>> => {
  skipped.length = 0;
  const found = await environment(samplePod({ nodeName: "n1" }), { name: "c", ...container } as Container, {
    objects: {
      configMap: async (_, name) => maps[name] as ConfigMap | undefined,
      secret: async (_, name) => secrets[name] as Secret | undefined,
      watch: () => undefined,
      forget: () => undefined,
    },
    node: { name: "n1", hostIps: () => ["192.0.2.1"], allocatable: () => ({ cpu: "4" }), labels: () => ({}) },
    podIps: ["10.0.0.1"],
    services: [["SVC_HOST", "10.0.0.9"]],
    onSkipped: (message) => void skipped.push(message),
  });
  return Object.fromEntries(found);
};
const service = { SVC_HOST: "10.0.0.9" };

const cases: [name: string, container: object, variables: Record<string, string>][] = [
  ["services only", {}, service],
  ["plain values", { env: [{ name: "A", value: "x" }] }, { A: "x", ...service }],
  [
    "values that reference earlier values and services",
    {
      env: [
        { name: "A", value: "x" },
        { name: "B", value: "$(A)-$(SVC_HOST)-$(LATER)" },
      ],
    },
    { A: "x", B: "x-10.0.0.9-$(LATER)", ...service },
  ],
  [
    "explicit values, which override services",
    { env: [{ name: "SVC_HOST", value: "mine" }] },
    { SVC_HOST: "mine" },
  ],
  [
    "the later of two values of the same name",
    {
      env: [
        { name: "A", value: "1" },
        { name: "A", value: "2" },
      ],
    },
    { A: "2", ...service },
  ],
  [
    "all keys of a config map, with a prefix",
    { envFrom: [{ prefix: "P_", configMapRef: { name: "cm" } }] },
    { P_a: "1", ...service },
  ],
  ["all keys of a secret", { envFrom: [{ secretRef: { name: "sec" } }] }, { s: "hidden", ...service }],
  [
    "explicit values, which override those of a config map",
    { envFrom: [{ configMapRef: { name: "cm" } }], env: [{ name: "a", value: "mine" }] },
    { a: "mine", ...service },
  ],
  [
    "a key of a config map",
    { env: [{ name: "A", valueFrom: { configMapKeyRef: { name: "cm", key: "a" } } }] },
    { A: "1", ...service },
  ],
  [
    "a key of a secret",
    { env: [{ name: "A", valueFrom: { secretKeyRef: { name: "sec", key: "s" } } }] },
    { A: "hidden", ...service },
  ],
  [
    "no variable for a missing optional key",
    { env: [{ name: "A", valueFrom: { configMapKeyRef: { name: "none", key: "a", optional: true } } }] },
    service,
  ],
  [
    "no variables for a missing optional config map",
    { envFrom: [{ configMapRef: { name: "none", optional: true } }] },
    service,
  ],
  ["no variables for a config map without data", { envFrom: [{ configMapRef: { name: "empty" } }] }, service],
  [
    "fields of the pod",
    {
      env: [
        { name: "A", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
        { name: "B", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
      ],
    },
    { A: "10.0.0.1", B: "n1", ...service },
  ],
  [
    "a limit defaulted from the node",
    { env: [{ name: "A", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } }] },
    { A: "4", ...service },
  ],
];
for (const [name, container, variables] of cases)
  test(`an environment contains ${name}`, async () => assert.deepEqual(await of(container), variables));

test("keys that are invalid variable names are skipped and reported", async () => {
  await of({ envFrom: [{ configMapRef: { name: "cm" } }] });
  assert.deepEqual(skipped, [
    "Keys [not a name] from the EnvFrom configMap n/cm were skipped since they are considered invalid environment variable names.",
  ]);
});

const problems: [name: string, container: object, message: string][] = [
  [
    "a config map",
    { env: [{ name: "A", valueFrom: { configMapKeyRef: { name: "none", key: "a" } } }] },
    'configmap "none" not found',
  ],
  [
    "a key of a config map",
    { env: [{ name: "A", valueFrom: { configMapKeyRef: { name: "cm", key: "z" } } }] },
    "couldn't find key z in ConfigMap n/cm",
  ],
  [
    "a secret",
    { env: [{ name: "A", valueFrom: { secretKeyRef: { name: "none", key: "a" } } }] },
    'secret "none" not found',
  ],
  [
    "a key of a secret",
    { env: [{ name: "A", valueFrom: { secretKeyRef: { name: "sec", key: "z" } } }] },
    "couldn't find key z in Secret n/sec",
  ],
  ["a whole secret", { envFrom: [{ secretRef: { name: "none" } }] }, 'secret "none" not found'],
];
for (const [name, container, message] of problems) {
  test(`a missing reference to ${name} is an error`, () =>
    assert.rejects(
      of(container),
      (error: Error) => error instanceof ConfigError && error.message === message,
    ));
}
