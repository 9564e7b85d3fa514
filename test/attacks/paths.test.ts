// Paths and methods: spellings that might bypass a rule, and verbs that might be mistaken for others.
import { attacks, target } from "./target.fixture.ts";

const at = await target();

const spellings = [
  "/api/v1/namespaces/default/secrets/vault",
  "//api/v1/namespaces/default/secrets/vault",
  "/api//v1/namespaces/default/secrets/vault",
  "/api/v1//namespaces/default/secrets/vault",
  "/api/v1/namespaces//default/secrets/vault",
  "/api/v1/namespaces/default//secrets/vault",
  "/api/v1/namespaces/default/secrets//vault",
  "/api/v1/namespaces/default/secrets/vault/",
  "/api/v1/./namespaces/default/secrets/vault",
  "/api/v1/namespaces/default/configmaps/../secrets/vault",
  "/api/v1/namespaces/default/configmaps/%2e%2e/secrets/vault",
  "/api/v1/namespaces/default/configmaps/..%2fsecrets%2fvault",
  "/api/v1/namespaces/default/configmaps/%252e%252e%252fsecrets%252fvault",
  "/api/v1/namespaces/default/configmaps/c%2f..%2f..%2fsecrets%2fvault",
  "/api/v1/namespaces/default/configmaps/c/../../secrets/vault",
  "/healthz/../api/v1/namespaces/default/secrets/vault",
  "/version/../api/v1/namespaces/default/secrets/vault",
  "/healthz%2f..%2fapi/v1/namespaces/default/secrets/vault",
  "/api/v1/namespaces/default/secrets%2fvault",
  "/api/v1/namespaces%2fdefault%2fsecrets%2fvault",
  "/api%2fv1/namespaces/default/secrets/vault",
  "/%61pi/v1/namespaces/default/secrets/vault",
  "/api/v1/namespaces/default/%73ecrets/vault",
  "/api/v1/namespaces/default/secrets/vaul%74",
  "/API/v1/namespaces/default/secrets/vault",
  "/api/V1/namespaces/default/secrets/vault",
  "/api/v1/namespaces/default/Secrets/vault",
  "/api/v1/namespaces/DEFAULT/secrets/vault",
  "/api/v1/namespaces/default/secret/vault",
  "/api/v1/secrets/vault",
  "/api/v1/secrets",
  "/api/v1/watch/secrets",
  "/api/v1/watch/namespaces/default/secrets",
  "/api/v1/watch/namespaces/default/secrets/vault",
  "/api/v1/watch/watch/namespaces/default/secrets/vault",
  "/api/v1/namespaces/default/secrets?watch=true&timeoutSeconds=1",
  "/api/v1/namespaces/default/secrets?fieldSelector=metadata.name%3Dvault",
  "/api/v1/namespaces/default/secrets/vault?resourceVersion=0",
  "/api/v1/namespaces/default/secrets/vault;a=b",
  "/api/v1/namespaces/default;a=b/secrets/vault",
  "/api/v1/namespaces/default/secrets/vault%00",
  "/api/v1/namespaces/default/secrets/vault%20",
  "/api/v1/namespaces/default/secrets/vault#x",
  "/api/v1/namespaces/default/secrets/vault%23",
  "/api/v1/namespaces/default/secrets/vault/status",
  "/api/v1/namespaces/default\\secrets\\vault",
  "/api/v1/namespaces/default/secrets/vault?",
  "/apis//v1/namespaces/default/secrets/vault",
  "/apis/core/v1/namespaces/default/secrets/vault",
  "/apis/v1/namespaces/default/secrets/vault",
  "/proxy/api/v1/namespaces/default/secrets/vault",
  "/api/v1/proxy/namespaces/default/services/x",
  "/api/v1/namespaces/default/services/https:orch:443/proxy/api/v1/namespaces/default/secrets/vault",
  "/api/v1/nodes/n1/proxy/run/default/mine/c",
  "/api/v1/nodes/n1:10250/proxy/pods",
];
attacks(
  spellings.flatMap((path) =>
    (["nobody", "reader"] as const).map((as) => [`${as} reads ${path}`, { as, path }] as const),
  ),
  async ({ as, path }) => await at.refuses(as, "GET", path),
);

const subresources: [path: string, body: unknown][] = [
  ["namespaces/default/serviceaccounts/boss/token", { spec: {} }],
  ["namespaces/default/pods/mine/binding", { target: { kind: "Node", name: "n2" } }],
  ["namespaces/default/pods/mine/eviction", { metadata: { name: "mine" } }],
  ["namespaces/default/pods/mine/exec?command=id", undefined],
  ["namespaces/default/pods/mine/attach", undefined],
  ["namespaces/default/pods/mine/portforward", undefined],
  ["namespaces/default/pods/mine/log", undefined],
  ["namespaces/default/pods/mine/proxy", undefined],
  ["namespaces/default/pods/mine/status", { status: { phase: "Failed" } }],
  [
    "namespaces/default/pods/mine/ephemeralcontainers",
    { spec: { ephemeralContainers: [{ name: "e", image: "i" }] } },
  ],
  ["namespaces/default/pods/mine", { metadata: { labels: { a: "b" } } }],
  ["namespaces/default/configmaps/c", { data: { k: "w" } }],
  ["namespaces/default/configmaps", { metadata: { name: "new" } }],
  ["nodes/n1/status", { status: {} }],
  ["nodes/n1", { metadata: { labels: { a: "b" } } }],
];
const methods = ["POST", "PUT", "PATCH", "DELETE"] as const;
attacks(
  subresources.flatMap(([path, body]) =>
    methods.flatMap((method) =>
      ["/api/v1/", "/api/v1/watch/"].map(
        (prefix) => [`reader: ${method} ${prefix}${path}`, { method, path: prefix + path, body }] as const,
      ),
    ),
  ),
  async ({ method, path, body }) =>
    await at.refuses("reader", method, path, {
      ...(body !== undefined && { body }),
      ...(method === "PATCH" && { type: "application/merge-patch+json" }),
    }),
);

const overrides = [
  "x-http-method-override",
  "x-http-method",
  "x-method-override",
  "x-original-url",
  "x-rewrite-url",
  "x-forwarded-prefix",
];
attacks(
  overrides.map((name) => [`reader sends ${name}`, name] as const),
  async (name) =>
    await at.refuses("reader", "POST", "/api/v1/namespaces/default/configmaps/c", {
      headers: { [name]: name.includes("url") ? "/api/v1/namespaces/default/configmaps" : "DELETE" },
      body: {},
    }),
);
