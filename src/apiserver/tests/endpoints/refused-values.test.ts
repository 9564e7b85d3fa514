// Error texts for invalid values, as in kube-apiserver.
import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "../../server.fixture.ts";

const { ask, must } = await serve({ flags: ["--feature-gates=AdmissionWebhookMatchConditions=true"] });
const merge = "application/merge-patch+json";
const of = (group: string, resource: string, scope = "/namespaces/default"): string =>
  `/apis/${group}${scope}/${resource}`;
const pod = { containers: [{ name: "c", image: "i" }] };
const labels = { a: "b" };
const pool = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"] };
const disk = { diskName: "d", diskURI: "x" };
const replicated = (volume: object): object => ({
  replicas: 2,
  selector: { matchLabels: labels },
  template: { metadata: { labels }, spec: { ...pod, volumes: [{ name: "v", ...volume }] } },
});

const created: [path: string, content: object, text: string][] = [
  [
    of("networking.orch.io/v1", "ingresses"),
    { spec: {} },
    'Ingress.networking.orch.io "a" is invalid: spec: Invalid value: []networking.IngressRule(nil): either `defaultBackend` or `rules` must be specified',
  ],
  [
    of("networking.orch.io/v1", "networkpolicies"),
    { spec: { podSelector: {}, policyTypes: ["x"] } },
    'NetworkPolicy.networking.orch.io "a" is invalid: spec.policyTypes[0]: Unsupported value: "x"',
  ],
  [
    of("apps/v1", "deployments"),
    { spec: replicated({ gcePersistentDisk: { pdName: "d" } }) },
    "must be true for replicated pods > 1; GCE PD can only be mounted on multiple machines if it is read-only",
  ],
  [
    "/api/v1/persistentvolumes",
    { spec: { ...pool, iscsi: { targetPortal: "t", iqn: "x" } } },
    'spec.iscsi.iqn: Invalid value: "x": must be valid format',
  ],
  [
    "/api/v1/namespaces/default/podtemplates",
    { template: { spec: { ...pod, volumes: [{ name: "v", iscsi: { targetPortal: "t", iqn: "x" } }] } } },
    'iscsi.iqn: Invalid value: "x": must be valid format starting with iqn, eui, or naa',
  ],
  [
    "/api/v1/namespaces/default/podtemplates",
    { template: { spec: { ...pod, volumes: [{ name: "v", azureDisk: { ...disk, kind: "Shared" } }] } } },
    'supported values: "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"',
  ],
  [
    "/api/v1/namespaces/default/services",
    { spec: { ports: [{ port: 1 }], ipFamilyPolicy: "" } },
    'Unsupported value: "": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"',
  ],
  [
    of("storage.orch.io/v1", "volumeattachments", ""),
    { spec: { attacher: "a", nodeName: "n", source: { persistentVolumeName: "" } } },
    "spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName",
  ],
  [
    of("batch/v1", "jobs"),
    {
      spec: {
        podFailurePolicy: { rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [] } }] },
        template: { spec: { ...pod, restartPolicy: "Never" } },
      },
    },
    "Invalid value: []int32{}: at least one value is required",
  ],
  [
    of("apiregistration.orch.io/v1", "apiservices", ""),
    { spec: { version: "v1", groupPriorityMinimum: 1, versionPriority: 1, caBundle: "YWI=" } },
    'spec.caBundle: Invalid value: "2 bytes": local APIServices may not have a caBundle',
  ],
];
for (const [path, content, text] of created)
  test(`a new object is refused with ${text}`, async () => {
    const answer = await ask("POST", path, { body: { metadata: { name: "a" }, ...content } });
    const message = String(answer.json["message"]);
    assert.equal(answer.status, 422, message);
    assert.ok(text.endsWith(" format") ? message.endsWith(text) : message.includes(text), message);
  });

test("owners of an API service are validated four times", async () => {
  const path = of("apiregistration.orch.io/v1", "apiservices", "");
  const spec = { group: "a.io", version: "v1", groupPriorityMinimum: 1, versionPriority: 1 };
  const service = { name: "s", namespace: "default" };
  const metadata = { name: "v1.a.io" };
  await must(201, "POST", path, { body: { metadata, spec: { ...spec, service } } });
  const owners = [{ apiVersion: "v1", kind: "K", name: "", uid: "u" }];
  const body = { metadata: { ownerReferences: owners } };
  const answer = await ask("PATCH", `${path}/v1.a.io`, { type: merge, body });
  const { causes } = answer.json["details"] as { readonly causes: readonly object[] };
  assert.deepEqual([answer.status, causes.length], [422, 4]);
});

test("errors of webhooks are reported webhook by webhook", async () => {
  const path = of("admissionregistration.orch.io/v1", "validatingwebhookconfigurations", "");
  const hook = {
    name: "a.example.com",
    sideEffects: "None",
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*", "CREATE"], resources: ["pods"] }],
    clientConfig: { url: "https://a b" },
    matchConditions: [{ name: "a", expression: "" }],
  };
  const body = { metadata: { name: "a" }, webhooks: [hook, hook] };
  const answer = await ask("POST", path, { body });
  const { causes } = answer.json["details"] as { causes: { field: string; message: string }[] };
  const ofEach = [
    "rules[0].operations",
    "clientConfig.url",
    "matchConditions[0].expression",
    "admissionReviewVersions",
  ];
  assert.deepEqual(
    causes.map(({ field }) => field),
    [
      ...ofEach.map((field) => `webhooks[0].${field}`),
      ...[...ofEach, "name"].map((field) => `webhooks[1].${field}`),
    ],
  );
  assert.match(causes[0]!.message, /\[\]admissionregistration\.OperationType\{"\*", "CREATE"\}/);
  assert.match(causes[1]!.message, /parse "https:\/\/a b": invalid character " " in host name/);
});
