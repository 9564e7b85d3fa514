// Malicious responses of webhooks for admission, token review and access review. Each case scripts a loopback
// listener; a false response is refused, and nothing is stored.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { startServer } from "#apiserver";
import { createAuthority, signServing } from "#authn";
import { attacks, group } from "./target.fixture.ts";

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request?: { readonly uid: string };
  readonly spec?: { readonly token?: string; readonly user?: string };
}
interface Lie {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}
/** The responses of the webhooks, which each case overrides. */
const honest = {
  admit: ({ apiVersion, kind, request }: Review): Lie => ({
    body: { apiVersion, kind, response: { uid: request!.uid, allowed: true } },
  }),
  authenticate: ({ apiVersion, kind }: Review): Lie => ({
    body: { apiVersion, kind, status: { authenticated: false } },
  }),
  authorize: ({ apiVersion, kind }: Review): Lie => ({
    body: { apiVersion, kind, status: { allowed: false } },
  }),
};
const script = {
  ...honest,
  /** The target of redirects: the body of the redirect must not count, and this body is not a review. */
  elsewhere: (): Lie => ({ body: "<html>allowed</html>" }),
};

const year = { now: Date.now(), days: 30 };
const authority = createAuthority({ commonName: "hooks" }, year);
const serving = signServing(authority, { commonName: "hook" }, ["127.0.0.1"], year);
async function answer(incoming: IncomingMessage, reply: ServerResponse): Promise<void> {
  let text = "";
  for await (const chunk of incoming) text += String(chunk);
  const name = (incoming.url ?? "").slice(1).split("?")[0] as keyof typeof script;
  const review = (incoming.method === "GET" ? {} : JSON.parse(text)) as Review;
  const { status = 200, headers = {}, body } = (script[name] ?? honest.admit)(review);
  reply.writeHead(status, { "content-type": "application/json", ...headers });
  reply.end(typeof body === "string" ? body : JSON.stringify(body));
}
const hook = createServer({ cert: serving.certificate, key: serving.key }, (incoming, reply) => {
  answer(incoming, reply).catch(() => reply.destroy());
});
/** Another server of the same authority, to which the first one may redirect. */
let askedElsewhere = 0;
const other = createServer({ cert: serving.certificate, key: serving.key }, (_asked, reply) => {
  askedElsewhere++;
  reply.end();
});
const listening = async (server: typeof hook): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
const url = await listening(hook);
const otherUrl = await listening(other);

const folder = mkdtempSync(join(tmpdir(), "attack-webhooks-"));
after(() => {
  for (const server of [hook, other]) {
    server.close();
    server.closeAllConnections();
  }
  rmSync(folder, { recursive: true, force: true });
});
const clientConfig = (name: string): string => {
  const file = join(folder, name);
  writeFileSync(
    file,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "c",
      contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
      users: [{ name: "u", user: {} }],
      clusters: [
        {
          name: "c",
          cluster: {
            server: `${url}/${name}`,
            "certificate-authority-data": Buffer.from(authority.certificate).toString("base64"),
          },
        },
      ],
    }),
  );
  return file;
};
const server = await startServer({
  store: "memory",
  flags: [
    "--authorization-mode=Webhook",
    `--authentication-token-webhook-config-file=${clientConfig("authenticate")}`,
    `--authorization-webhook-config-file=${clientConfig("authorize")}`,
    "--authentication-token-webhook-cache-ttl=0s",
    "--authorization-webhook-cache-authorized-ttl=0s",
    "--authorization-webhook-cache-unauthorized-ttl=0s",
    "--authentication-token-webhook-version=v1",
    "--authorization-webhook-version=v1",
  ],
});
after(() => server.stop());

const maps = "/api/v1/namespaces/default/configmaps";
async function send(method: string, path: string, body?: object, authorization?: string) {
  const { status, text } = await server.inject({
    method,
    path,
    headers: {
      ...(body && { "content-type": "application/json" }),
      ...(authorization && { authorization }),
    },
    ...(authorization && { trusted: null }),
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status, text: await text() };
}
const registrations = `/apis/${group("admissionregistration")}/v1`;
for (const [resource, name] of [
  ["mutatingwebhookconfigurations", "mutating"],
  ["validatingwebhookconfigurations", "validating"],
] as const) {
  const { status, text } = await send("POST", `${registrations}/${resource}`, {
    metadata: { name },
    webhooks: [
      {
        name: `${name}.example.com`,
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
        timeoutSeconds: 10,
        clientConfig: {
          url: `${url}/${name === "mutating" ? "admit" : "approve"}`,
          caBundle: Buffer.from(authority.certificate).toString("base64"),
        },
        rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
      },
    ],
  });
  assert.equal(status, 201, text);
}

const patch = (...steps: object[]): object => ({
  patchType: "JSONPatch",
  patch: Buffer.from(JSON.stringify(steps)).toString("base64"),
});
const admits =
  (response: object, envelope: object = {}) =>
  ({ apiVersion, kind, request }: Review): Lie => ({
    body: { apiVersion, kind, response: { uid: request!.uid, allowed: true, ...response }, ...envelope },
  });
const add = (path: string, value: unknown) => patch({ op: "add", path, value });
const replace = (path: string, value: unknown) => patch({ op: "replace", path, value });
const lies: [name: string, lie: (review: Review) => Lie][] = [
  ["answers with the uid of another request", admits({ uid: "another" })],
  ["answers without a uid", admits({ uid: "" })],
  ["answers with another kind", admits({}, { kind: "TokenReview" })],
  ["answers with another version", admits({}, { apiVersion: `${group("admission")}/v1beta1` })],
  ["answers with another group", admits({}, { apiVersion: "evil.example/v1" })],
  ["answers without a version", admits({}, { apiVersion: undefined })],
  ["answers without a response", admits({}, { response: undefined })],
  ["answers with a null response", admits({}, { response: null })],
  ["allows with a string", admits({ allowed: "true" })],
  ["allows with a number", admits({ allowed: 1 })],
  ["omits whether it allows", admits({ allowed: undefined })],
  ["patches without a type", admits({ ...add("/data/x", "y"), patchType: undefined })],
  ["patches with another type", admits({ ...add("/data/x", "y"), patchType: "MergePatch" })],
  ["sets a patch type without a patch", admits({ patchType: "JSONPatch" })],
  [
    "patches with text that is not JSON",
    admits({ patchType: "JSONPatch", patch: Buffer.from("nope").toString("base64") }),
  ],
  [
    "patches with JSON that is not a list",
    admits({ patchType: "JSONPatch", patch: Buffer.from("{}").toString("base64") }),
  ],
  ["patches with text that is not base64", admits({ patchType: "JSONPatch", patch: "!!!" })],
  ["patches with an unknown operation", admits(patch({ op: "execute", path: "/data" }))],
  ["patches a path that does not exist", admits(replace("/spec/x", "y"))],
  ["patches the prototype of all objects", admits(add("/__proto__/polluted", "yes"))],
  ["patches the prototype of the constructor", admits(add("/constructor/prototype/polluted", "yes"))],
  ["changes the kind", admits(replace("/kind", "Secret"))],
  ["changes the version", admits(replace("/apiVersion", "v2"))],
  ["changes the namespace", admits(replace("/metadata/namespace", "orch-system"))],
  ["changes the name to a path", admits(replace("/metadata/name", "../secrets/vault"))],
  ["makes the object too large", admits(add("/data", { x: "y".repeat(1_500_000) }))],
  ["changes data values to numbers", admits(add("/data", { x: 1 }))],
  ["sets invalid labels", admits(add("/metadata/labels", { "-": "-" }))],
  ["sets invalid finalizers", admits(add("/metadata/finalizers", ["not qualified at all!"]))],
  [
    "sets an owner without a uid",
    admits(add("/metadata/ownerReferences", [{ apiVersion: "v1", kind: "Pod", name: "x" }])),
  ],
  ["allows with an error status", (review) => ({ ...admits({})(review), status: 500 })],
  ["allows with a status that forbids", (review) => ({ ...admits({})(review), status: 403 })],
  [
    "allows with a temporary redirect",
    (review) => ({ ...admits({})(review), status: 302, headers: { location: `${url}/elsewhere` } }),
  ],
  [
    "allows with a permanent redirect",
    (review) => ({ ...admits({})(review), status: 308, headers: { location: `${url}/elsewhere` } }),
  ],
  [
    "redirects to a cloud's metadata service",
    () => ({ status: 307, headers: { location: "http://169.254.169.254/latest" }, body: "" }),
  ],
  [
    "redirects to another server",
    (review) => ({ ...admits({})(review), status: 307, headers: { location: `${otherUrl}/admit` } }),
  ],
  ["answers nothing", () => ({ body: "" })],
  ["answers null", () => ({ body: "null" })],
  ["answers with a list", () => ({ body: "[]" })],
  ["answers with a string", () => ({ body: '"allowed"' })],
  ["answers half", () => ({ body: '{"response":{"allowed":true' })],
  ["answers deep", () => ({ body: `${"[".repeat(50_000)}${"]".repeat(50_000)}` })],
  ["answers HTML", () => ({ body: "<html>allowed</html>", headers: { "content-type": "text/html" } })],
];
attacks(
  lies.map(([name, lie]) => [`an admission webhook ${name}`, lie] as const),
  async (lie) => {
    script.admit = lie;
    const { status, text } = await send("POST", maps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "attacked", namespace: "default" },
      data: {},
    });
    script.admit = honest.admit;
    assert.ok(status >= 400, `answered with ${status}: ${text.slice(0, 200)}`);
    assert.equal(askedElsewhere, 0, "the server followed the redirect");
    assert.equal(({} as { polluted?: string }).polluted, undefined);
    const stored =
      (await send("GET", maps)).text + (await send("GET", "/api/v1/namespaces/orch-system/configmaps")).text;
    assert.ok(!stored.includes("attacked"), "it was stored");
  },
);

test("a valid response of an admission webhook admits the object", async () => {
  const { status, text } = await send("POST", maps, { metadata: { name: "honest" } });
  assert.equal(status, 201, text);
});

const user = { username: "admin", groups: ["system:masters"] };
const says =
  (status: unknown, envelope: object = {}) =>
  ({ apiVersion, kind }: Review): Lie => ({ body: { apiVersion, kind, status, ...envelope } });
const identities: [name: string, lie: (review: Review) => Lie][] = [
  ["names a user but did not authenticate", says({ authenticated: false, user })],
  ["omits whether it authenticated", says({ user })],
  ["authenticates with a string", says({ authenticated: "true", user })],
  ["authenticates for another audience", says({ authenticated: true, user, audiences: ["elsewhere"] })],
  ["answers with another kind", says({ authenticated: true, user }, { kind: "SubjectAccessReview" })],
  ["answers with another group", says({ authenticated: true, user }, { apiVersion: "evil.example/v1" })],
  ["answers without a version", says({ authenticated: true, user }, { apiVersion: undefined })],
  ["answers with a status that is a list", says([{ authenticated: true, user }])],
  ["answers with a user that is a string", says({ authenticated: true, user: "admin" })],
  [
    "answers with groups that are a string",
    says({ authenticated: true, user: { username: "admin", groups: "system:masters" } }),
  ],
  [
    "authenticates with an error status",
    (review) => ({ ...says({ authenticated: true, user })(review), status: 401 }),
  ],
  [
    "allows with a redirect",
    (review) => ({
      ...says({ authenticated: true, user })(review),
      status: 307,
      headers: { location: `${url}/elsewhere` },
    }),
  ],
  ["answers nothing", () => ({ body: "" })],
  ["answers half", () => ({ body: '{"status":{"authenticated":true' })],
];
attacks(
  identities.map(([name, lie]) => [`a token review webhook ${name}`, lie] as const),
  async (lie) => {
    script.authenticate = lie;
    const { status, text } = await send(
      "GET",
      "/api/v1/secrets",
      undefined,
      `Bearer opaque-${Math.random()}`,
    );
    script.authenticate = honest.authenticate;
    assert.ok(status === 401 || status === 403, `answered with ${status}: ${text.slice(0, 200)}`);
  },
);

const decisions: [name: string, lie: (review: Review) => Lie][] = [
  ["allows and denies", says({ allowed: true, denied: true })],
  ["allows with a string", says({ allowed: "true" })],
  ["allows with a number", says({ allowed: 1 })],
  ["omits whether it allows", says({})],
  ["answers with another kind", says({ allowed: true }, { kind: "TokenReview" })],
  ["answers with another group", says({ allowed: true }, { apiVersion: "evil.example/v1" })],
  ["answers without a version", says({ allowed: true }, { apiVersion: undefined })],
  ["answers with a status that is a list", says([{ allowed: true }])],
  ["allows with an error status", (review) => ({ ...says({ allowed: true })(review), status: 403 })],
  [
    "allows with a redirect",
    (review) => ({
      ...says({ allowed: true })(review),
      status: 307,
      headers: { location: `${url}/elsewhere` },
    }),
  ],
  ["answers nothing", () => ({ body: "" })],
  ["answers half", () => ({ body: '{"status":{"allowed":true' })],
];
attacks(
  decisions.map(([name, lie]) => [`an access review webhook ${name}`, lie] as const),
  async (lie) => {
    script.authenticate = says({ authenticated: true, user: { username: "reader" } });
    script.authorize = lie;
    const { status, text } = await send(
      "GET",
      "/api/v1/secrets",
      undefined,
      `Bearer opaque-${Math.random()}`,
    );
    Object.assign(script, honest);
    assert.ok(status === 403 || status === 500, `answered with ${status}: ${text.slice(0, 200)}`);
  },
);

test("valid responses of token and access review webhooks allow the same request", async () => {
  script.authenticate = says({ authenticated: true, user: { username: "reader" } });
  script.authorize = says({ allowed: true });
  const { status, text } = await send("GET", "/api/v1/secrets", undefined, "Bearer honest");
  Object.assign(script, honest);
  assert.equal(status, 200, text.slice(0, 200));
});
