import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects, groupName } from "#dialect";
import { aesCbc, parseEncryptionConfig } from "./encryption-config.ts";

const dialect = dialects.orch;
const version = `${groupName(dialect, { group: "apiserver.config", branded: true })}/v1`;
const secret = Buffer.alloc(32, 7).toString("base64");
const config = (
  resources: unknown,
  head: object = { kind: "EncryptionConfiguration", apiVersion: version },
): string => JSON.stringify({ ...head, resources });
const gcm = { aesgcm: { keys: [{ name: "k1", secret }] } };
const parse = (text: string) => parseEncryptionConfig(text, "enc.yaml", dialect);

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

const wrong: [name: string, text: string, message: RegExp][] = [
  [
    "another kind",
    config([], { kind: "Config", apiVersion: version }),
    /must be of kind EncryptionConfiguration/,
  ],
  ["no resources", config([]), /resources: must be a list/],
  ["no providers", config([{ resources: ["secrets"], providers: [] }]), /resources\[0\]\.providers/],
  ["a bare star", config([{ resources: ["*"], providers: [gcm] }]), /\*\. means all/],
  ["a resource in all groups", config([{ resources: ["secrets.*"], providers: [gcm] }]), /all groups/],
  [
    "two providers in one entry",
    config([{ resources: ["secrets"], providers: [{ ...gcm, identity: {} }] }]),
    /exactly one provider/,
  ],
  [
    "an external key service",
    config([{ resources: ["secrets"], providers: [{ kms: {} }] }]),
    /kms: this provider is not there/,
  ],
  [
    "a key that is too short",
    config([{ resources: ["secrets"], providers: [{ aesgcm: { keys: [{ name: "k", secret: "AAAA" }] } }] }]),
    /16, 24 or 32 bytes, not 3/,
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

test("AES-CBC opens what it sealed and refuses what is cut short", () => {
  const provider = aesCbc("k", Buffer.alloc(32, 1));
  const value = Buffer.from("a value of some length");
  const sealed = provider.seal(value, "/x");
  assert.deepEqual(Buffer.from(provider.open(sealed, "/x")), value);
  assert.notDeepEqual(provider.seal(value, "/x"), sealed);
  assert.throws(() => provider.open(sealed.subarray(0, 20), "/x"), /cut short/);
});
