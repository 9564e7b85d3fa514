import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects, groupName } from "#dialect";
import { parseEncryptionConfig } from "./encryption-config.ts";

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
  test(`${pattern} ${matches ? "means" : "does not mean"} ${resource} of group "${group}"`, () => {
    const table = parse(config([{ resources: [pattern], providers: [gcm] }]));
    assert.equal(table({ resource, group }) !== undefined, matches);
  });
}

test("the first entry that means a resource counts, and its providers keep their order", () => {
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

test("key services are opened in the order of the file, with what it says of them", () => {
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
  const followed = reload ? "a followed file" : "a file";
  test(`the name of a key service of ${first} ${accepted ? "may" : "must not"} be that of one of ${second} in ${followed}`, () => {
    const parsed = () => parseEncryptionConfig(twice(first, second), { file: "enc.yaml", dialect, reload });
    if (accepted) parsed();
    else
      assert.throws(
        parsed,
        /resources\[1\]\.providers\[0\]\.kms\.name: Invalid value: .*another key service/,
      );
  });
}

const wrong: [name: string, text: string, message: RegExp][] = [
  [
    "another kind",
    config([], { kind: "Config", apiVersion: version }),
    /must be of kind EncryptionConfiguration/,
  ],
  ["no resources", config([]), /resources: Required value: must be a list/],
  ["no providers", config([{ resources: ["secrets"], providers: [] }]), /resources\[0\]\.providers/],
  ["a bare star", config([{ resources: ["*"], providers: [gcm] }]), /\*\. means all/],
  ["a resource in all groups", config([{ resources: ["secrets.*"], providers: [gcm] }]), /all groups/],
  [
    "two providers in one entry",
    config([{ resources: ["secrets"], providers: [{ ...gcm, identity: {} }] }]),
    /exactly one provider/,
  ],
  [
    "an unknown provider",
    config([{ resources: ["secrets"], providers: [{ rot13: {} }] }]),
    /rot13 is not known/,
  ],
  ["a key service without a name", kms({ name: "" }), /kms\.name/],
  ["a key service of version 2 with a colon", kms({ apiVersion: "v2", name: "a:b" }), /kms\.name/],
  [
    "nodes' ports, which are no objects",
    config([{ resources: ["secrets", "servicenodeportallocations"], providers: [gcm] }]),
    /resources\[0\]\.resources\[1\]: .*no objects/,
  ],
  [
    "events in the group they are not stored in",
    config([
      {
        resources: [`events.${groupName(dialect, { group: "events", branded: true })}`],
        providers: [gcm],
      },
    ]),
    /stored in the core group/,
  ],
  ["a group that is gone", config([{ resources: ["*.extensions"], providers: [gcm] }]), /extensions is gone/],
  ["a key service over TCP", kms({ endpoint: "tcp://127.0.0.1:1" }), /kms\.endpoint/],
  ["a cache of nothing", kms({ cachesize: 0 }), /kms\.cachesize/],
  ["a cache where there is none", kms({ apiVersion: "v2", cachesize: 1 }), /kms\.cachesize/],
  ["an unknown version of a key service", kms({ apiVersion: "v3" }), /kms\.apiVersion/],
  ["a timeout of nothing", kms({ timeout: "0s" }), /kms\.timeout/],
  [
    "a resource that the list has already",
    config([{ resources: ["*.apps", "deployments.apps"], providers: [gcm] }]),
    /resources\[0\]\.resources/,
  ],
  [
    "a resource that a later pattern of the list covers",
    config([{ resources: ["deployments.apps", "*.*"], providers: [gcm] }]),
    /resources\[0\]\.resources/,
  ],
  [
    "a resource hidden by an earlier wildcard",
    config([
      { resources: ["*.*"], providers: [gcm] },
      { resources: ["secrets"], providers: [gcm] },
    ]),
    /resources\[1\]\.resources/,
  ],
  [
    "a key of secretbox that is too short",
    config([
      { resources: ["secrets"], providers: [{ secretbox: { keys: [{ name: "k", secret: "AAAA" }] } }] },
    ]),
    /32 bytes, not 3/,
  ],
  [
    "a key that is too short",
    config([{ resources: ["secrets"], providers: [{ aesgcm: { keys: [{ name: "k", secret: "AAAA" }] } }] }]),
    /16 or 24 or 32 bytes, not 3/,
  ],
  [
    "a key that is not base64",
    config([{ resources: ["secrets"], providers: [{ aesgcm: { keys: [{ name: "k", secret: "?" }] } }] }]),
    /must be base64/,
  ],
  [
    "a field nobody knows",
    config([{ resources: ["secrets"], providers: [gcm], more: 1 }]),
    /more: unknown field/,
  ],
  ["a file that is no YAML", "{", /enc\.yaml/],
];
for (const [name, text, message] of wrong) {
  test(`${name} is refused by name, without telling keys`, () =>
    assert.throws(
      () => parse(text),
      (error: Error) =>
        message.test(error.message) &&
        error.message.startsWith("enc.yaml: ") &&
        !error.message.includes(secret),
    ));
}
