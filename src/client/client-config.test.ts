import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import {
  connectionOf,
  parseClientConfig,
  readClientConfig,
  singleContext,
  writeClientConfig,
} from "./client-config.ts";

// In a group, so that the hooks apply to these tests only: all files share one process.
describe("client configuration files", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "orch-config-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const put = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  /** The content of a certificate is not validated until a connection is made. */
  const ca = "-----BEGIN CERTIFICATE-----\n";

  test("a written config is read back unchanged, for its owner only, without a temporary file", () => {
    const config = singleContext({
      name: "local",
      server: "https://127.0.0.1:1",
      ca,
      certificate: "CERT\n",
      key: "KEY\n",
      token: "t",
      namespace: "n",
    });
    const file = join(folder, "deep", "config");
    writeClientConfig(file, config);
    writeClientConfig(file, config);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(join(folder, "deep")), ["config"]);
    assert.deepEqual(readClientConfig(file), config);
    const { secrets, token, ...rest } = connectionOf(readClientConfig(file));
    assert.deepEqual(secrets!(), { ca, certificate: "CERT\n", key: "KEY\n" });
    assert.equal(token!(), "t");
    assert.deepEqual(rest, { server: "https://127.0.0.1:1", headers: {}, namespace: "n" });
  });

  test("unknown fields are preserved by reading and writing", () => {
    const file = put(
      "config",
      "kind: Config\npreferences: {colors: true}\nclusters: [{name: a, cluster: {server: 's', extensions: [1]}, extra: x}]\n",
    );
    writeClientConfig(file, readClientConfig(file));
    const again = readClientConfig(file) as unknown as Record<string, unknown>;
    assert.deepEqual(again["preferences"], { colors: true });
    assert.deepEqual(again["clusters"], [
      { name: "a", cluster: { server: "s", extensions: [1] }, extra: "x" },
    ]);
  });

  const files = `
apiVersion: v1
kind: Config
current-context: second
clusters:
- {name: c1, cluster: {server: "https://one", insecure-skip-tls-verify: true}}
- {name: c2, cluster: {server: "https://two", certificate-authority: pki/ca.crt, tls-server-name: two.test}}
users:
- {name: u1, user: {token: one}}
- {name: u2, user: {tokenFile: token, client-certificate: pki/me.crt, client-key: pki/me.key}}
- {name: u3, user: {username: me, password: secret, as: other, as-groups: [a, b], as-uid: "7", as-user-extra: {"x/é": [c]}}}
- {name: u4, user: {exec: {command: helper}}}
contexts:
- {name: first, context: {cluster: c1, user: u1, namespace: n1}}
- {name: second, context: {cluster: c2, user: u2}}
- {name: third, context: {cluster: c1, user: u3}}
- {name: plugin, context: {cluster: c1, user: u4}}
- {name: nobody, context: {cluster: c1, user: ""}}
- {name: lost, context: {cluster: nowhere, user: u1}}
- {name: stranger, context: {cluster: c1, user: nobody}}
`;

  test("the current context is the default; file names are relative to the config's directory", () => {
    mkdirSync(join(folder, "pki"));
    for (const [name, text] of [
      ["pki/ca.crt", ca],
      ["pki/me.crt", "CERT"],
      ["pki/me.key", "KEY"],
      ["token", "from-file\n"],
    ] as const)
      put(name, text);
    const config = readClientConfig(put("config", files));
    const current = connectionOf(config);
    assert.equal(current.server, "https://two");
    assert.equal(current.serverName, "two.test");
    assert.equal(current.token!(), "from-file");
    assert.deepEqual(current.secrets!(), { ca, certificate: "CERT", key: "KEY" });
    put("pki/me.crt", "ROTATED");
    assert.equal(current.secrets!().certificate, "ROTATED", "each connection takes the files as they are");
    const first = connectionOf(config, "first");
    assert.deepEqual([first.server, first.namespace, first.token!()], ["https://one", "n1", "one"]);
    assert.deepEqual(connectionOf(config, "third").headers, {
      authorization: `Basic ${Buffer.from("me:secret").toString("base64")}`,
      "impersonate-user": "other",
      "impersonate-uid": "7",
      "impersonate-group": ["a", "b"],
      "impersonate-extra-x%2F%C3%A9": ["c"],
    });
    assert.equal(connectionOf(config, "nobody").token, undefined);
  });

  const refusals: [name: string, text: string, context: string | undefined, message: RegExp][] = [
    ["invalid YAML", "a: [", undefined, /config: /],
    ["a list", "- a", undefined, /not a client config/],
    ["another kind", "kind: Pod", undefined, /kind "Pod"/],
    ["clusters that are not a list", "clusters: {}", undefined, /clusters must be a list/],
    ["a cluster without a name", "clusters: [{cluster: {}}]", undefined, /clusters\[0\] must have a name/],
    [
      "a server that is not a string",
      "clusters: [{name: a, cluster: {server: 5}}]",
      undefined,
      /clusters\[0\].cluster.server must be a string/,
    ],
    ["a current-context that is not a name", "current-context: [a]", undefined, /current-context/],
    ["no current context", "kind: Config", undefined, /no current-context/],
    ["an unknown context", files, "missing", /no context "missing"/],
    ["a context with an unknown cluster", files, "lost", /cluster "nowhere"/],
    ["a context with an unknown user", files, "stranger", /user "nobody"/],
    ["a credential helper", files, "plugin", /by exec/],
    ["missing files", files, "second", /ca\.crt/],
  ];
  const odd = (cluster: object, user: object, more: object = {}): string =>
    JSON.stringify({
      clusters: [{ name: "c", cluster: { server: "https://a", ...cluster } }],
      users: [{ name: "u", user }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
      ...more,
    });
  const text = (value: string): string => Buffer.from(value).toString("base64");
  refusals.push(
    [
      "a certificate without a key",
      odd({}, { "client-certificate-data": text("x") }),
      undefined,
      /client-key-data or client-key must be specified for u/,
    ],
    ["two credentials", odd({}, { token: "t", username: "a" }), undefined, /found \[token basicAuth\]/],
    ["groups without a user", odd({}, { "as-groups": ["g"] }), undefined, /without impersonating a user/],
    [
      "attributes without a user",
      odd({}, { "as-user-extra": { a: [] } }),
      undefined,
      /without impersonating a user/,
    ],
    [
      "authorities that are not certificates",
      odd({ "certificate-authority-data": text("x") }, {}),
      undefined,
      /unable to parse bytes as PEM block/,
    ],
    [
      "data that are not base64",
      odd({ "certificate-authority-data": "%%" }, {}),
      undefined,
      /must be base64/,
    ],
    [
      "authorities with verification disabled",
      odd({ "certificate-authority-data": text("x"), "insecure-skip-tls-verify": true }, {}),
      undefined,
      /with the insecure flag is not allowed/,
    ],
    [
      "a proxy",
      odd({ "proxy-url": "http://x" }, {}),
      undefined,
      /by a proxy, which this client does not use/,
    ],
    [
      "a proxy with an unknown scheme",
      odd({ "proxy-url": "ftp://x" }, {}),
      undefined,
      /unsupported scheme "ftp"/,
    ],
    ["an invalid proxy", odd({ "proxy-url": "://" }, {}), undefined, /could not parse: :\/\//],
    [
      "two users with the same name",
      odd({}, {}, { users: [{ name: "u" }, { name: "u" }] }),
      undefined,
      /duplicate name "u" in users/,
    ],
  );
  for (const [name, text, context, message] of refusals) {
    test(`${name}: the error names it`, () => {
      assert.throws(() => connectionOf(parseClientConfig(text, join(folder, "config")), context), {
        name: "ClientConfigError",
        message,
      });
    });
  }

  test("a missing file is named", () => assert.throws(() => readClientConfig(join(folder, "none")), /none/));

  test("an interrupted write does not replace the existing file", () => {
    const file = put("config", "kind: Config\n");
    const broken = {
      ...singleContext({ name: "a", server: "s" }),
      get preferences(): never {
        throw new Error("interrupted");
      },
    };
    assert.throws(() => writeClientConfig(file, broken), /interrupted/);
    assert.equal(readFileSync(file, "utf8"), "kind: Config\n");
    assert.deepEqual(readdirSync(folder), ["config"]);
  });
});
