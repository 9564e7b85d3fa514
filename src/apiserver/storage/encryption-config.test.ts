import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects, groupName } from "#dialect";
import { parseEncryptionConfig, readEncryptionFile } from "./encryption-config.ts";

const dialect = dialects.orch;
const version = `${groupName(dialect, { group: "apiserver.config", branded: true })}/v1`;
const secret = Buffer.alloc(32, 7).toString("base64");
const config = (
  resources: unknown,
  head: object = { kind: "EncryptionConfiguration", apiVersion: version },
): string => JSON.stringify({ ...head, resources });
const gcm = { aesgcm: { keys: [{ name: "k1", secret }] } };
const parse = (text: string) => parseEncryptionConfig(text, { file: "enc.yaml", dialect, reload: false });

const patterns: [pattern: string, resource: string, group: string, matches: boolean][] = [
  ["secrets", "secrets", "", true],
  ["secrets", "secrets", "apps", false],
  ["deployments.apps", "deployments", "apps", true],
  ["*.apps", "daemonsets", "apps", true],
  ["*.apps", "secrets", "", false],
  ["*.", "secrets", "", true],
  ["*.", "deployments", "apps", false],
  ["*.*", "deployments", "apps", true],
];
for (const [pattern, resource, group, matches] of patterns) {
  test(`${pattern} ${matches ? "matches" : "does not match"} ${resource} of group "${group}"`, () => {
    const table = parse(config([{ resources: [pattern], providers: [gcm] }]));
    assert.equal(table({ resource, group }) !== undefined, matches);
  });
}

test("the first matching entry applies, with its providers in order", () => {
  const table = parse(
    config([
      {
        resources: ["secrets"],
        providers: [{ aescbc: { keys: [{ name: "old", secret }] } }, gcm, { identity: {} }],
      },
      { resources: ["*.*"], providers: [gcm] },
    ]),
  );
  assert.deepEqual(
    table({ resource: "secrets", group: "" })!.map(({ id }) => id),
    ["aescbc:v1:old:", "aesgcm:v1:k1:", ""],
  );
  assert.equal(table({ resource: "pods", group: "" })!.length, 1);
});

const kms = (given: object): string =>
  config([
    { resources: ["secrets"], providers: [{ kms: { name: "p", endpoint: "unix:///p.sock", ...given } }] },
  ]);

test("KMS providers are opened in the order of the file, with its settings", () => {
  const opened: unknown[] = [];
  parseEncryptionConfig(kms({ timeout: "2s", cachesize: 5 }), {
    file: "enc.yaml",
    dialect,
    reload: false,
    openKms: (settings) => {
      opened.push(settings);
      return { id: "", seal: (value) => value, open: (value) => value };
    },
  });
  assert.deepEqual(opened, [
    { version: "v1", name: "p", endpoint: "unix:///p.sock", timeoutMilliseconds: 2000, cacheSize: 5 },
  ]);
});

const twice = (first: string, second: string): string =>
  config(
    [first, second].map((apiVersion, at) => ({
      resources: [["secrets", "configmaps"][at]],
      providers: [{ kms: { apiVersion, name: "p", endpoint: "unix:///p.sock" } }],
    })),
  );
const names: [first: string, second: string, reload: boolean, accepted: boolean][] = [
  ["v1", "v1", false, true],
  ["v1", "v1", true, false],
  ["v1", "v2", false, false],
  ["v2", "v1", false, true],
  ["v2", "v2", false, false],
];
for (const [first, second, reload, accepted] of names) {
  const followed = reload ? "a file with automatic reload" : "a file";
  test(`a KMS ${first} provider ${accepted ? "may" : "must not"} have the name of a ${second} provider in ${followed}`, () => {
    const parsed = () => parseEncryptionConfig(twice(first, second), { file: "enc.yaml", dialect, reload });
    if (accepted) parsed();
    else
      assert.throws(
        parsed,
        /resources\[1\]\.providers\[0\]\.kms\.name: Invalid value: "p": duplicate KMS provider name p, names must be unique/,
      );
  });
}

const ofProviders = (...providers: object[]): string => config([{ resources: ["secrets"], providers }]);
const ofResources = (...resources: string[]): string => config([{ resources, providers: [gcm] }]);
const events = groupName(dialect, { group: "events", branded: true });
const overlap =
  "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked";
const noProvider =
  "config.ProviderConfiguration{AESGCM:(*config.AESConfiguration)(nil), AESCBC:(*config.AESConfiguration)(nil), Secretbox:(*config.SecretboxConfiguration)(nil), Identity:(*config.IdentityConfiguration)(nil), KMS:(*config.KMSConfiguration)(nil)}: provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity";
const ofKeys = (name: string, ...keys: object[]): string => ofProviders({ [name]: { keys } });
const decoding = 'error decoding encryption provider configuration file "enc.yaml": ';

const wrong: [name: string, text: string, message: string][] = [
  ["an empty file", "", 'encryption provider configuration file "enc.yaml" is empty'],
  [
    "another kind",
    config([], { kind: "Config", apiVersion: version }),
    `${decoding}no kind "Config" is registered for version "${version}"`,
  ],
  [
    "a missing kind, with keys redacted in the error,",
    "a: 1\n",
    `${decoding}Object 'Kind' is missing in 'REDACTED'`,
  ],
  [
    "a missing apiVersion",
    "kind: EncryptionConfiguration\n",
    `${decoding}Object 'apiVersion' is missing in 'REDACTED'`,
  ],
  [
    "a string",
    "text\n",
    `${decoding}couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
  ],
  [
    "a field of another type",
    config(5),
    `${decoding}json: cannot unmarshal number into Go struct field EncryptionConfiguration.resources of type []v1.ResourceConfiguration`,
  ],
  ["an empty list of resources", config([]), "resources: Required value: at least one resources is required"],
  [
    "an empty list of providers",
    ofProviders(),
    "resources[0].providers: Required value: at least one resources[0].providers is required",
  ],
  [
    "a bare wildcard",
    ofResources("*"),
    `resources[0].resources[0]: Invalid value: "*": use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources`,
  ],
  [
    "a resource in all groups",
    ofResources("secrets.*"),
    'resources[0].resources[0]: Invalid value: "secrets.*": encrypting the same resource across groups is not supported',
  ],
  [
    "capital letters",
    ofResources("Secrets"),
    'resources[0].resources[0]: Invalid value: "Secrets": resource name should not contain capital letters',
  ],
  [
    "two providers in one entry",
    ofProviders({ ...gcm, identity: {} }),
    "resources[0].providers[0]: Invalid value: config.ProviderConfiguration{AESGCM:(*config.AESConfiguration)(set), AESCBC:(*config.AESConfiguration)(nil), Secretbox:(*config.SecretboxConfiguration)(nil), Identity:(*config.IdentityConfiguration)(set), KMS:(*config.KMSConfiguration)(nil)}: more than one provider specified in a single element, should split into different list elements",
  ],
  [
    "an unknown provider",
    ofProviders({ rot13: {} }),
    `resources[0].providers[0]: Invalid value: ${noProvider}`,
  ],
  [
    "a null provider",
    ofProviders({ identity: null }),
    `resources[0].providers[0]: Invalid value: ${noProvider}`,
  ],
  [
    "a KMS provider without a name",
    kms({ name: "" }),
    "resources[0].providers[0].kms.name: Required value: name is a mandatory field for a provider",
  ],
  [
    "a KMS v2 provider with a colon in its name",
    kms({ apiVersion: "v2", name: "a:b" }),
    `resources[0].providers[0].kms.name: Invalid value: "a:b": invalid KMS provider name a:b, must not contain ':'`,
  ],
  [
    "the node port allocations, which are not API objects,",
    ofResources("secrets", "servicenodeportallocations"),
    'resources[0].resources[1]: Invalid value: "servicenodeportallocations": resources which do not have REST API/s cannot be encrypted',
  ],
  [
    "events in the group in which they are not stored",
    ofResources(`events.${events}`),
    `resources[0].resources[0]: Invalid value: "events.${events}": '*.${events}' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file`,
  ],
  [
    "a removed group",
    ofResources("*.extensions"),
    `resources[0].resources[0]: Invalid value: "*.extensions": 'extensions' group has been removed and cannot be used for encryption`,
  ],
  [
    "a KMS provider without an endpoint",
    kms({ endpoint: "" }),
    'resources[0].providers[0].kms.endpoint: Invalid value: "": endpoint is a mandatory field for a kms',
  ],
  [
    "a KMS provider over TCP",
    kms({ endpoint: "tcp://127.0.0.1:1" }),
    'resources[0].providers[0].kms.endpoint: Invalid value: "tcp://127.0.0.1:1": unsupported scheme "tcp" for KMS provider, only unix is supported',
  ],
  [
    "a KMS provider with an invalid endpoint",
    kms({ endpoint: "unix://foo:%zz" }),
    'resources[0].providers[0].kms.endpoint: Invalid value: "unix://foo:%zz": invalid endpoint for kms provider, error: parse "unix://foo:%zz": invalid port ":%zz" after host',
  ],
  [
    "a cache size of zero",
    kms({ cachesize: 0 }),
    "resources[0].providers[0].kms.cachesize: Invalid value: 0: cachesize should be a positive value, or negative to disable",
  ],
  [
    "a cache size for KMS v2",
    kms({ apiVersion: "v2", cachesize: 1 }),
    "resources[0].providers[0].kms.cachesize: Invalid value: 1: cachesize is not supported in v2",
  ],
  [
    "an unknown version of a KMS provider",
    kms({ apiVersion: "v3" }),
    'resources[0].providers[0].kms.apiVersion: Invalid value: "v3": unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported',
  ],
  [
    "a negative timeout",
    kms({ timeout: "-1s" }),
    "resources[0].providers[0].kms.timeout: Invalid value: v1.Duration{Duration:-1000000000}: timeout should be a positive value",
  ],
  ["an invalid timeout", kms({ timeout: "xx" }), `${decoding}time: invalid duration "xx"`],
  [
    "a resource that is covered by a wildcard of the list",
    ofResources("*.apps", "deployments.apps"),
    `resources[0].resources: Invalid value: []string{"*.apps", "deployments.apps"}: ${overlap}`,
  ],
  [
    "a resource that is covered by a later wildcard of the list",
    ofResources("deployments.apps", "*.*"),
    `resources[0].resources: Invalid value: []string{"deployments.apps", "*.*"}: ${overlap}`,
  ],
  [
    "a duplicate resource",
    ofResources("secrets", "secrets"),
    'resources[0].resources: Invalid value: []string{"secrets", "secrets"}: the same resource cannot be specified multiple times',
  ],
  [
    "a secretbox key that is too short",
    ofKeys("secretbox", { name: "k", secret: "AAAA" }),
    'resources[0].providers[0].secretbox.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 3, expected one of [32]',
  ],
  [
    "an empty list of keys",
    ofKeys("aescbc"),
    "resources[0].providers[0].aescbc.keys: Required value: at least one keys is required",
  ],
  [
    "an empty key and a short key",
    ofKeys("aesgcm", {}, { name: "k", secret: "AAAA" }),
    '[resources[0].providers[0].aesgcm.keys[0].name: Required value: name is a mandatory field for a key, resources[0].providers[0].aesgcm.keys[0].secret: Required value: secret is a mandatory field for a key, resources[0].providers[0].aesgcm.keys[1].secret: Invalid value: "REDACTED": secret is not of the expected length, got 3, expected one of [16 24 32]]',
  ],
  [
    "a key that is not base64",
    ofKeys("aesgcm", { name: "k", secret: "?" }),
    'resources[0].providers[0].aesgcm.keys[0].secret: Invalid value: "REDACTED": secrets must be base64 encoded',
  ],
];
for (const [name, text, message] of wrong) {
  test(`${name} is rejected with kube-apiserver's error text`, () =>
    assert.throws(() => parse(text), new Error(`error while parsing file: ${message}`)));
}

const masked: [first: string, second: string, by: string][] = [
  ["*.*", "secrets", "*.*"],
  ["*.apps", "deployments.apps", "*.apps"],
  ["*.", "configmaps", "*."],
];
for (const [first, second, by] of masked) {
  test(`${second} behind ${first} is refused, since it would never apply`, () =>
    assert.throws(
      () => parse(config([first, second].map((name) => ({ resources: [name], providers: [gcm] })))),
      new Error(`error while building transformers: resource "${second}" is masked by earlier rule "${by}"`),
    ));
}

test("a resource of two rules is written with the first and read with the keys of both", () => {
  const table = parse(
    config([
      { resources: ["secrets"], providers: [gcm] },
      { resources: ["configmaps", "secrets"], providers: [{ identity: {} }] },
    ]),
  );
  assert.deepEqual(
    table({ resource: "secrets", group: "" })!.map(({ id }) => id),
    ["aesgcm:v1:k1:", ""],
  );
});

const accepted: [name: string, text: string][] = [
  ["an unknown field", config([{ resources: ["secrets"], providers: [gcm], more: 1 }])],
  ["a key with a colon in its name", ofKeys("aesgcm", { name: "a:b", secret })],
  [
    "the former kind name",
    config([{ resources: ["secrets"], providers: [gcm] }], { kind: "EncryptionConfig", apiVersion: "v1" }),
  ],
];
for (const [name, text] of accepted)
  test(`${name} is accepted, as by kube-apiserver`, () =>
    assert.notEqual(parse(text)({ resource: "secrets", group: "" }), undefined));

test("an unreadable file is reported with kube-apiserver's error text", () => {
  assert.throws(
    () => readEncryptionFile("/nowhere/at/all"),
    new Error(
      'error while parsing file: error opening encryption provider configuration file "/nowhere/at/all": open /nowhere/at/all: no such file or directory',
    ),
  );
  assert.throws(
    () => readEncryptionFile("/"),
    new Error("error while parsing file: could not read contents: read /: is a directory"),
  );
});

test("errors about invalid files contain no keys", () => {
  const key = "bXktc2VjcmV0LWtleS1teS1zZWNyZXQta2V5LW15LXM=";
  const rules = `resources: [{ resources: [secrets], providers: [{ aesgcm: { keys: [{ name: k, secret: ${key} }] } }] }]`;
  for (const text of [
    rules,
    `kind: EncryptionConfiguration\n${rules}`,
    `kind: Other\napiVersion: v1\n${rules}`,
    `${rules}\n  - [`,
    `resources:\n  secret: ${key}: ${key}`,
    `resources: "${key}`,
  ])
    assert.throws(
      () => parseEncryptionConfig(text, { file: "enc.yaml", dialect: dialects.orch, reload: false }),
      (error: Error) => !error.message.includes(key) && !error.message.includes(key.slice(4, 16)),
    );
});
