// Privilege escalation through roles, bindings, certificates, node credentials and pods.
import { generateKeyPairSync } from "node:crypto";
import { createCertificateRequest } from "#authn";
import { type Attack, attacks, group, target } from "./target.fixture.ts";

const at = await target();
const rbac = `/apis/${group("rbac.authorization")}/v1`;
const everything = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }];
const ref = (kind: string, name: string) => ({ apiGroup: group("rbac.authorization"), kind, name });
const clerk = [{ apiGroup: group("rbac.authorization"), kind: "User", name: "clerk" }];

const rules: [name: string, rules: object[]][] = [
  ["everything", everything],
  ["all verbs on secrets", [{ apiGroups: [""], resources: ["secrets"], verbs: ["*"] }]],
  ["reading secrets", [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }]],
  ["one secret", [{ apiGroups: [""], resources: ["secrets"], resourceNames: ["vault"], verbs: ["get"] }]],
  ["impersonation", [{ apiGroups: [""], resources: ["users", "groups"], verbs: ["impersonate"] }]],
  [
    "escalation",
    [{ apiGroups: [group("rbac.authorization")], resources: ["clusterroles"], verbs: ["escalate"] }],
  ],
  ["binding", [{ apiGroups: [group("rbac.authorization")], resources: ["clusterroles"], verbs: ["bind"] }]],
  ["tokens", [{ apiGroups: [""], resources: ["serviceaccounts/token"], verbs: ["create"] }]],
  ["exec", [{ apiGroups: [""], resources: ["pods/exec"], verbs: ["create", "get"] }]],
  ["all parts", [{ apiGroups: [""], resources: ["*/*"], verbs: ["get"] }]],
  ["nodes' proxy", [{ apiGroups: [""], resources: ["nodes/proxy"], verbs: ["*"] }]],
  ["all paths", [{ nonResourceURLs: ["*"], verbs: ["*"] }]],
  ["approval", [{ apiGroups: [group("certificates")], resources: ["signers"], verbs: ["approve", "sign"] }]],
  ["webhooks", [{ apiGroups: [group("admissionregistration")], resources: ["*"], verbs: ["create"] }]],
];
attacks<Attack>(
  rules.flatMap(([name, list], number) => [
    [
      `clerk creates a cluster role: ${name}`,
      {
        method: "POST",
        path: `${rbac}/clusterroles`,
        body: { metadata: { name: `evil-${number}` }, rules: list },
      },
    ] as const,
    [
      `clerk creates a role: ${name}`,
      {
        method: "POST",
        path: `${rbac}/namespaces/default/roles`,
        body: { metadata: { name: `evil-${number}` }, rules: list },
      },
    ] as const,
    [
      `clerk extends a role: ${name}`,
      { method: "PATCH", path: `${rbac}/clusterroles/t-clerk`, body: { rules: list } },
    ] as const,
    [
      `clerk replaces a role: ${name}`,
      {
        method: "PUT",
        path: `${rbac}/clusterroles/t-reader`,
        body: { metadata: { name: "t-reader" }, rules: list },
      },
    ] as const,
  ]),
  async ({ method, path, body }) =>
    await at.refuses("clerk", method, path, {
      body,
      ...(method === "PATCH" && { type: "application/merge-patch+json" }),
    }),
);

const strong = [
  "cluster-admin",
  "system:node",
  "system:orch-controller-manager",
  "system:orch-scheduler",
  "system:auth-delegator",
  "not-there",
];
attacks<Pick<Attack, "path" | "body">>(
  strong.flatMap((name) => [
    [
      `clerk binds ${name} in the cluster`,
      {
        path: `${rbac}/clusterrolebindings`,
        body: {
          metadata: { name: `evil-${name.replaceAll(":", "-")}` },
          roleRef: ref("ClusterRole", name),
          subjects: clerk,
        },
      },
    ] as const,
    [
      `clerk binds ${name} in a namespace`,
      {
        path: `${rbac}/namespaces/default/rolebindings`,
        body: {
          metadata: { name: `evil-${name.replaceAll(":", "-")}` },
          roleRef: ref("ClusterRole", name),
          subjects: clerk,
        },
      },
    ] as const,
  ]),
  async ({ path, body }) => await at.refuses("clerk", "POST", path, { body }),
);
attacks<Attack>(
  [
    [
      "clerk adds itself to the binding of cluster-admin",
      { method: "PATCH", path: `${rbac}/clusterrolebindings/cluster-admin`, body: { subjects: clerk } },
    ],
    [
      "clerk changes the subjects of a binding",
      {
        method: "PATCH",
        path: `${rbac}/clusterrolebindings/t-clerk`,
        body: { roleRef: ref("ClusterRole", "cluster-admin") },
      },
    ],
    [
      "clerk creates a role that aggregates all roles",
      {
        method: "POST",
        path: `${rbac}/clusterroles`,
        body: { metadata: { name: "evil-sum" }, aggregationRule: { clusterRoleSelectors: [{}] } },
      },
    ],
    [
      "clerk creates a role that is aggregated into another one",
      {
        method: "POST",
        path: `${rbac}/clusterroles`,
        body: {
          metadata: {
            name: "evil-part",
            labels: { [`rbac.authorization.${"orch.io"}/aggregate-to-admin`]: "true" },
          },
          rules: everything,
        },
      },
    ],
    [
      "clerk applies a role",
      {
        method: "PATCH",
        path: `${rbac}/clusterroles/evil-applied?fieldManager=x`,
        body: {
          apiVersion: `${group("rbac.authorization")}/v1`,
          kind: "ClusterRole",
          metadata: { name: "evil-applied" },
          rules: everything,
        },
        type: "application/apply-patch+yaml",
      },
    ],
    [
      "clerk extends a role by a JSON patch",
      {
        method: "PATCH",
        path: `${rbac}/clusterroles/t-clerk`,
        body: [{ op: "replace", path: "/rules/0/verbs", value: ["*"] }],
        type: "application/json-patch+json",
      },
    ],
  ],
  async ({ method, path, body, type = "application/merge-patch+json" }) =>
    await at.refuses("clerk", method, path, {
      body,
      ...(method === "PATCH" && { type }),
    }),
);

const core = "/api/v1/namespaces/default";
const csr = `/apis/${group("certificates")}/v1/certificatesigningrequests`;
const timelineOf = (kind: string, name: string): string =>
  `/apis/${group("timeline")}/v1/namespaces/default/timelines?kind=${kind}&name=${name}`;
const vault = { name: "v", secret: { secretName: "vault" } };
const mirror = (spec: object): object => ({
  metadata: {
    name: "evil",
    annotations: { "orch.io/config.mirror": "x" },
    ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n1", uid: "u", controller: true }],
  },
  spec: { nodeName: "n1", containers: [{ name: "c", image: "i" }], ...spec },
});
const masters = {
  metadata: { name: "evil" },
  spec: {
    request: Buffer.from(
      createCertificateRequest(
        { commonName: "evil", organizations: ["system:masters"] },
        [],
        generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey,
      ),
    ).toString("base64"),
    signerName: "orch.io/orch-apiserver-client",
    usages: ["client auth"],
  },
};
const asNode: [name: string, method: string, path: string, body?: unknown][] = [
  ["reads a secret that no pod of its own uses", "GET", `${core}/secrets/vault`],
  ["lists secrets", "GET", `${core}/secrets`],
  ["lists all secrets", "GET", "/api/v1/secrets"],
  ["reads a configmap that no pod of its own uses", "GET", `${core}/configmaps/c`],
  ["changes another node", "PATCH", "/api/v1/nodes/n2", { metadata: { labels: { a: "b" } } }],
  ["changes another node's status", "PATCH", "/api/v1/nodes/n2/status", { status: { phase: "x" } }],
  ["deletes another node", "DELETE", "/api/v1/nodes/n2"],
  [
    "sets a restricted label on itself",
    "PATCH",
    "/api/v1/nodes/n1",
    { metadata: { labels: { "node-restriction.orch.io/x": "y" } } },
  ],
  ["removes its taints", "PATCH", "/api/v1/nodes/n1", { spec: { taints: [], unschedulable: true } }],
  ["deletes another node's pod", "DELETE", `${core}/pods/yours`],
  ["changes another node's pod", "PATCH", `${core}/pods/yours/status`, { status: { phase: "Failed" } }],
  ["evicts another node's pod", "POST", `${core}/pods/yours/eviction`, { metadata: { name: "yours" } }],
  [
    "creates a pod that is not a mirror pod",
    "POST",
    `${core}/pods`,
    { metadata: { name: "evil" }, spec: { nodeName: "n1", containers: [{ name: "c", image: "i" }] } },
  ],
  [
    "creates a pod on another node",
    "POST",
    `${core}/pods`,
    {
      metadata: { name: "evil", annotations: { "orch.io/config.mirror": "x" } },
      spec: { nodeName: "n2", containers: [{ name: "c", image: "i" }] },
    },
  ],
  [
    "creates a token of an account that none of its pods uses",
    "POST",
    `${core}/serviceaccounts/boss/token`,
    { spec: {} },
  ],
  ["binds a pod", "POST", `${core}/pods/yours/binding`, { target: { kind: "Node", name: "n1" } }],
  ["runs a command in another node's pod", "POST", `${core}/pods/yours/exec?command=id`],
  [
    "creates a role binding",
    "POST",
    `${rbac}/clusterrolebindings`,
    { metadata: { name: "evil" }, roleRef: ref("ClusterRole", "cluster-admin"), subjects: [] },
  ],
  [
    "updates another node's lease",
    "PUT",
    `/apis/${group("coordination")}/v1/namespaces/orch-node-lease/leases/n2`,
    { metadata: { name: "n2" } },
  ],
  ["labels its pod", "PATCH", `${core}/pods/mine`, { metadata: { labels: { a: "b" } } }],
  ["registers another node", "POST", "/api/v1/nodes", { metadata: { name: "n3" } }],
  ["reads an account that none of its pods uses", "GET", `${core}/serviceaccounts/boss`],
  ["reads the timeline of a secret", "GET", timelineOf("Secret", "vault")],
  ["mounts a secret into a mirror pod", "POST", `${core}/pods`, mirror({ volumes: [vault] })],
  ["uses an account in a mirror pod", "POST", `${core}/pods`, mirror({ serviceAccountName: "boss" })],
  [
    "mounts a projected token into a mirror pod",
    "POST",
    `${core}/pods`,
    mirror({
      volumes: [{ name: "v", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } }],
    }),
  ],
  [
    "uses a secret for the environment of a mirror pod",
    "POST",
    `${core}/pods`,
    mirror({ containers: [{ name: "c", image: "i", envFrom: [{ secretRef: { name: "vault" } }] }] }),
  ],
  [
    "reports the drivers of another node",
    "POST",
    `/apis/${group("storage")}/v1/csinodes`,
    { metadata: { name: "n2" }, spec: { drivers: [] } },
  ],
  [
    "creates another node's lease",
    "POST",
    `/apis/${group("coordination")}/v1/namespaces/orch-node-lease/leases`,
    { metadata: { name: "n9", namespace: "orch-node-lease" } },
  ],
  [
    "creates a lease in another namespace",
    "POST",
    `/apis/${group("coordination")}/v1/namespaces/default/leases`,
    { metadata: { name: "n1", namespace: "default" } },
  ],
  ["requests a certificate of the superusers' group", "POST", csr, masters],
];
attacks(
  asNode.map(([name, method, path, body]) => [`a node ${name}`, { method, path, body }] as const),
  async ({ method, path, body }) =>
    await at.refuses("node", method, path, {
      ...(body !== undefined && { body }),
      ...(method === "PATCH" && { type: "application/merge-patch+json" }),
    }),
);

const asWorker: [name: string, method: string, path: string, body?: unknown][] = [
  [
    "approves a request",
    "PUT",
    `${csr}/x/approval`,
    { metadata: { name: "x" }, status: { conditions: [{ type: "Approved", status: "True" }] } },
  ],
  ["signs a request", "PUT", `${csr}/x/status`, { metadata: { name: "x" }, status: { certificate: "eA==" } }],
  [
    "creates a pod with an account that does not exist",
    "POST",
    `${core}/pods`,
    {
      metadata: { name: "evil" },
      spec: { serviceAccountName: "ghost", containers: [{ name: "c", image: "i" }] },
    },
  ],
  [
    "adds a container to a running pod",
    "PATCH",
    `${core}/pods/mine/ephemeralcontainers`,
    { spec: { ephemeralContainers: [{ name: "e", image: "i" }] } },
  ],
  ["creates a token", "POST", `${core}/serviceaccounts/boss/token`, { spec: {} }],
  ["reads a secret", "GET", `${core}/secrets/vault`],
  ["reviews a token", "POST", `/apis/${group("authentication")}/v1/tokenreviews`, { spec: { token: "x" } }],
  [
    "reviews another user's access",
    "POST",
    `/apis/${group("authorization")}/v1/subjectaccessreviews`,
    { spec: { user: "admin", nonResourceAttributes: { path: "/", verb: "get" } } },
  ],
  ["reads metrics", "GET", "/metrics"],
  ["profiles the server", "GET", "/debug/pprof/heap"],
  ["reads logs", "GET", "/logs/"],
  [
    "creates a webhook",
    "POST",
    `/apis/${group("admissionregistration")}/v1/mutatingwebhookconfigurations`,
    { metadata: { name: "evil" }, webhooks: [] },
  ],
  [
    "creates a resource definition",
    "POST",
    `/apis/${group("apiextensions")}/v1/customresourcedefinitions`,
    { metadata: { name: "evil.example.com" } },
  ],
  ["deletes a namespace", "DELETE", "/api/v1/namespaces/default"],
  ["requests a certificate of the superusers' group", "POST", csr, masters],
  ["reads the timeline of a secret", "GET", timelineOf("Secret", "vault")],
  ["reads the timeline of an account", "GET", timelineOf("ServiceAccount", "boss")],
  ["reads all timelines", "GET", `/apis/${group("timeline")}/v1/timelines`],
];
attacks(
  asWorker.map(([name, method, path, body]) => [`worker ${name}`, { method, path, body }] as const),
  async ({ method, path, body }) =>
    await at.refuses("worker", method, path, {
      ...(body !== undefined && { body }),
      ...(method === "PATCH" && { type: "application/merge-patch+json" }),
    }),
);
