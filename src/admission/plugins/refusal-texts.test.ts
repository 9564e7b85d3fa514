// Statuses and texts of refusals, which are those of kube-apiserver.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Namespace, ServiceAccount } from "#api";
import { ApiError } from "#base";
import { dialects } from "#dialect";
import { attributesOf } from "../attributes.fixture.ts";
import type { AdmissionPlugin } from "../attributes.ts";
import { securityContextDeny } from "./pod-limits.ts";
import { runtimeClassPlugin } from "./runtime-class.ts";
import { podNodeSelector, podTolerationRestriction } from "./namespace-annotations.ts";
import { resourceQuota } from "./quota/resource-quota.ts";
import { serviceAccountPlugin } from "./service-account.ts";

const dialect = dialects.orch;
const { annotations } = dialect.names;

const namespaceWith = (notes: Record<string, string>) => async (): Promise<Namespace> =>
  ({ metadata: { name: "n", annotations: notes } }) as unknown as Namespace;
const container = (more: object = {}): object => ({ name: "c", image: "i", resources: {}, ...more });
const pod = (spec: object): Record<string, unknown> => ({
  metadata: { name: "p" },
  spec: { containers: [container()], ...spec },
});
const account: ServiceAccount = {
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: {
    name: "enf",
    creationTimestamp: null,
    annotations: { [annotations.enforceMountableSecrets]: "true" },
  },
  secrets: [{ name: "mine" }],
};
const accounts = serviceAccountPlugin({
  dialect,
  find: async () => account,
  pause: async () => undefined,
  generateName: (prefix) => `${prefix}x`,
});
const gold = { scopeName: "PriorityClass", operator: "In", values: ["gold"] };
const quota = resourceQuota({
  dialect,
  now: () => 0,
  quotasIn: async () => [],
  write: async () => true,
  limited: [{ group: "", resource: "pods", matchContains: [], matchScopes: [gold] }],
});
const selectors = (text: string) =>
  podNodeSelector(dialect, namespaceWith({ [annotations.nodeSelector]: text }));
const defaults = (text: string) =>
  podTolerationRestriction(dialect, namespaceWith({ [annotations.defaultTolerations]: text }));
const tolerating = { tolerations: [{ key: "a", operator: "Exists" }] };
const only = { key: "b", operator: "Exists" };
const env = [{ name: "A", valueFrom: { secretKeyRef: { name: "other", key: "k" } } }];
const nameRule =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const valueRule =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const unlisted = "is not allowed because service account enf does not reference that";

const refusals: [name: string, plugin: AdmissionPlugin, spec: object, code: number, text: string][] = [
  [
    "supplemental groups of a pod",
    securityContextDeny,
    { securityContext: { runAsUser: 1, supplementalGroups: [1] } },
    403,
    'pods "p" is forbidden: pod.Spec.SecurityContext.SupplementalGroups is forbidden',
  ],
  [
    "SELinux options of a container",
    securityContextDeny,
    { containers: [container({ securityContext: { runAsUser: 1, seLinuxOptions: {} } })] },
    403,
    'pods "p" is forbidden: SecurityContext.SELinuxOptions is forbidden',
  ],
  ["a selector of the namespace", selectors("x==="), {}, 500, "invalid selector: [x   ]"],
  ["a set-based selector", selectors("x in (a)"), {}, 500, "invalid selector: [x in (a)]"],
  [
    "a selector with an invalid key",
    selectors("=x"),
    {},
    500,
    `<nil>: Invalid value: "": name part must be non-empty; ${nameRule}`,
  ],
  ["a selector with an invalid value", selectors("x=-"), {}, 500, `[x]: Invalid value: "-": ${valueRule}`],
  [
    "a missing priority class",
    runtimeClassPlugin(async () => undefined),
    { runtimeClassName: "" },
    403,
    'pods "p" is forbidden: pod rejected: RuntimeClass "" not found',
  ],
  [
    "tolerations of the wrong type",
    defaults('[{"key":3}]'),
    {},
    500,
    "json: cannot unmarshal number into Go struct field Toleration.key of type string",
  ],
  [
    "tolerations with field names in any case",
    podTolerationRestriction(
      dialect,
      namespaceWith({ [annotations.allowedTolerations]: '[{"Key":"b","OPERATOR":"Exists"}]' }),
    ),
    tolerating,
    500,
    "pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist",
  ],
  [
    "malformed tolerations",
    defaults("junk"),
    {},
    500,
    "invalid character 'j' looking for beginning of value",
  ],
  [
    "tolerations that are not a list",
    defaults("{}"),
    {},
    500,
    "json: cannot unmarshal object into Go value of type []v1.Toleration",
  ],
  [
    "a toleration that the namespace does not allow",
    podTolerationRestriction(
      dialect,
      namespaceWith({ [annotations.allowedTolerations]: JSON.stringify([only]) }),
    ),
    tolerating,
    500,
    "pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist",
  ],
  [
    "a toleration that the cluster does not allow",
    podTolerationRestriction(dialect, namespaceWith({}), { default: [], allowed: [only] }),
    tolerating,
    500,
    "pod tolerations (possibly merged with namespace default tolerations) conflict with its cluster whitelist",
  ],
  [
    "a resource that requires a quota",
    quota,
    { priorityClassName: "gold" },
    500,
    "insufficient quota to match these scopes: [{PriorityClass In [gold]}]",
  ],
  [
    "a secret volume",
    accounts,
    { volumes: [{ name: "v", secret: { secretName: "other" } }] },
    403,
    `pods "p" is forbidden: volume with secret.secretName="other" ${unlisted} secret`,
  ],
  [
    "a secret in an environment variable",
    accounts,
    { containers: [container({ env })] },
    403,
    `pods "p" is forbidden: container c with envVar A referencing secret.secretName="other" ${unlisted} secret`,
  ],
  [
    "a secret as environment source",
    accounts,
    { initContainers: [container({ envFrom: [{ secretRef: { name: "other" } }] })] },
    403,
    `pods "p" is forbidden: init container c with envFrom referencing secret.secretName="other" ${unlisted} secret`,
  ],
  [
    "a pull secret",
    accounts,
    { imagePullSecrets: [{ name: "r" }] },
    403,
    `pods "p" is forbidden: imagePullSecrets[0].name="r" ${unlisted} imagePullSecret`,
  ],
];
for (const [name, plugin, spec, code, text] of refusals)
  test(`${plugin.name} refuses ${name}: ${text}`, async () => {
    const attributes = attributesOf({ object: pod(spec), name: "p" });
    await assert.rejects(
      async () => {
        await plugin.mutate?.(attributes);
        await plugin.validate?.(attributes);
      },
      (error) =>
        error instanceof ApiError &&
        error.code === code &&
        error.message === text &&
        error.reason === (code === 500 ? "" : "Forbidden"),
    );
  });

test("an update of ephemeral containers checks only these", async () => {
  const tryWith = async (name: string): Promise<unknown> =>
    await accounts.validate!(
      attributesOf({
        operation: "UPDATE",
        subresource: "ephemeralcontainers",
        name: "p",
        object: pod({
          serviceAccountName: "enf",
          containers: [container({ env })],
          ephemeralContainers: [container({ envFrom: [{ secretRef: { name } }] })],
        }),
      }),
    );
  assert.deepEqual(await tryWith("mine"), []);
  await assert.rejects(tryWith("other"), /ephemeral container c with envFrom referencing/);
});
