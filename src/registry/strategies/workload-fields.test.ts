import assert from "node:assert/strict";
import { test } from "node:test";
import { controllerRevision } from "./controller-revision.ts";
import { daemonSet } from "./daemon-set.ts";
import { deployment } from "./deployment.ts";
import { podDisruptionBudget } from "./disruption-budget.ts";
import { podTemplate, replicationController } from "./replication-controller.ts";
import { statefulSet } from "./stateful-set.ts";
import { cellsOf, contextOf, defaulted, tryCreate, tryPart } from "./strategy.fixture.ts";

const pod = { containers: [{ name: "c", image: "i:1" }] };
const template = { metadata: { labels: { a: "b" } }, spec: pod };
const selector = { matchLabels: { a: "b" } };
const spec = { selector, template };
const metadata = { name: "x", namespace: "n" };
type Sent = Record<string, unknown>;

const specOf = (strategy: typeof deployment, sent: Sent): Sent =>
  tryCreate(strategy, { metadata, spec: sent }).object["spec"] as Sent;

test("omitted fields that depend on others get defaults", () => {
  assert.deepEqual(
    specOf(deployment, { ...spec, strategy: { rollingUpdate: { maxSurge: 3 } } })["strategy"],
    {
      type: "RollingUpdate",
      rollingUpdate: { maxSurge: 3, maxUnavailable: "25%" },
    },
  );
  assert.deepEqual(specOf(deployment, { ...spec, strategy: { type: "Recreate" } })["strategy"], {
    type: "Recreate",
  });
  assert.deepEqual(specOf(statefulSet, spec)["updateStrategy"], {
    type: "RollingUpdate",
    rollingUpdate: { partition: 0 },
  });
  assert.deepEqual(
    specOf(statefulSet, { ...spec, updateStrategy: { type: "RollingUpdate" } })["updateStrategy"],
    { type: "RollingUpdate" },
  );
  assert.deepEqual(specOf(statefulSet, spec)["persistentVolumeClaimRetentionPolicy"], {
    whenDeleted: "Retain",
    whenScaled: "Retain",
  });
  assert.deepEqual(specOf(daemonSet, spec)["updateStrategy"], {
    type: "RollingUpdate",
    rollingUpdate: { maxUnavailable: 1, maxSurge: 0 },
  });
  assert.deepEqual(specOf(daemonSet, { ...spec, updateStrategy: { type: "OnDelete" } })["updateStrategy"], {
    type: "OnDelete",
  });
  const unused = { type: "OnDelete", rollingUpdate: { maxUnavailable: 2 } };
  assert.deepEqual(specOf(daemonSet, { ...spec, updateStrategy: unused })["updateStrategy"], {
    type: "OnDelete",
    rollingUpdate: { maxUnavailable: 2, maxSurge: 0 },
  });
  assert.deepEqual(specOf(replicationController, { template })["selector"], { a: "b" });
});

const images: [image: string, policy: string][] = [
  ["i", "Always"],
  ["i:latest", "Always"],
  ["host:5000/i", "Always"],
  ["i:1", "IfNotPresent"],
  ["host:5000/i:1", "IfNotPresent"],
  ["i@sha256:00", "IfNotPresent"],
];
for (const [image, policy] of images) {
  test(`the pull policy of image ${image} is ${policy}`, () => {
    const { object } = tryCreate(podTemplate, {
      metadata,
      template: { spec: { containers: [{ name: "c", image }] } },
    });
    assert.equal(
      (object["template"] as { spec: { containers: { imagePullPolicy: string }[] } }).spec.containers[0]!
        .imagePullPolicy,
      policy,
    );
  });
}

test("claim templates with fractional bytes get a warning", () => {
  const volumeClaimTemplates = [
    {
      metadata: { name: "v" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1500m" } } },
    },
  ];
  const { warnings } = tryCreate(statefulSet, {
    metadata,
    spec: { ...spec, serviceName: "s", volumeClaimTemplates },
  });
  assert.deepEqual(
    warnings.map((text) => text.split(": ")[0]),
    ["spec.volumeClaimTemplates[0].resources.requests[storage]"],
  );
});

test("table rows show the progress of workloads", () => {
  assert.deepEqual(
    cellsOf(deployment, {
      metadata,
      spec: { ...spec, replicas: 5 },
      status: { readyReplicas: 3, updatedReplicas: 2 },
    }),
    ["x", "3/5", 2, 0, "<unknown>", "c", "i:1", "a=b"],
  );
  assert.deepEqual(cellsOf(daemonSet, { metadata, spec }), [
    "x",
    0,
    0,
    0,
    0,
    0,
    "<none>",
    "<unknown>",
    "c",
    "i:1",
    "a=b",
  ]);
  assert.deepEqual(cellsOf(statefulSet, { metadata, spec }), ["x", "0/1", "<unknown>", "c", "i:1"]);
  assert.deepEqual(cellsOf(podDisruptionBudget, { metadata, spec: { minAvailable: 2 } }), [
    "x",
    "2",
    "N/A",
    0,
    "<unknown>",
  ]);
  const owner = { apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid: "u", controller: true };
  assert.deepEqual(
    cellsOf(controllerRevision, { metadata: { ...metadata, ownerReferences: [owner] }, revision: 7 }),
    ["x", "statefulset.apps/web", 7, "<unknown>"],
  );
});

test("disabled fields are dropped from a template unless the stored object has them", () => {
  const sent = { metadata, spec: { ...spec, template: { ...template, spec: { ...pod, hostUsers: false } } } };
  const specOf = ({ object }: { object: Record<string, unknown> }): Sent =>
    (object["spec"] as { template: { spec: Sent } }).template.spec;
  assert.equal(
    specOf({ object: defaulted(deployment, sent) as unknown as Record<string, unknown> })["hostUsers"],
    false,
  );
  assert.equal(specOf(tryCreate(deployment, sent))["hostUsers"], undefined);
  const old = defaulted(deployment, sent);
  const next = defaulted(deployment, sent);
  deployment.prepareForUpdate!(next, old, contextOf(deployment));
  assert.equal(specOf({ object: next as unknown as Record<string, unknown> })["hostUsers"], false);
  const context = contextOf(deployment);
  const fresh = defaulted(deployment, sent);
  deployment.prepareForCreate!(fresh, {
    ...context,
    settings: { ...context.settings, userNamespaces: true },
  });
  assert.equal(specOf({ object: fresh as unknown as Record<string, unknown> })["hostUsers"], false);
});

test("a status update does not change the template generation of a daemon set", () => {
  const { object } = tryPart(
    daemonSet,
    "status",
    { metadata, spec },
    { metadata: { ...metadata, annotations: { a: "b" } }, status: {} },
  );
  assert.deepEqual((object["metadata"] as { annotations: object }).annotations, {
    a: "b",
    "deprecated.daemonset.template.generation": "1",
  });
});

test("a malformed template generation is refused", () => {
  for (const [text, fault] of [
    ["abc", /parsing "abc": invalid syntax/],
    ["123456789012345678901234567890", /value out of range/],
  ] as const) {
    const annotations = { "deprecated.daemonset.template.generation": text };
    const sent = { metadata: { name: "d", annotations } };
    assert.throws(() => tryCreate(daemonSet, { ...sent, spec }), fault);
    assert.throws(() => tryPart(daemonSet, "status", { metadata, spec }, sent), fault);
  }
});
