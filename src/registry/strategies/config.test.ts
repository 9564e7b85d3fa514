import assert from "node:assert/strict";
import { test } from "node:test";
import { configMap } from "./config-map.ts";
import { secret } from "./secret.ts";
import { serviceAccount } from "./service-account.ts";
import { cellsOf, tryCreate, tryUpdate } from "./strategy.fixture.ts";

const meta = { name: "a", namespace: "n" };
const type = (name: string) => `orch.io/${name}`;
const long = "k".repeat(254);

const refused: [name: string, strategy: typeof configMap, sent: object, causes: string[]][] = [
  ["an empty config map is valid", configMap, {}, []],
  [
    "a key must not be in both data and binaryData",
    configMap,
    { data: { t: "x" }, binaryData: { t: "AAEC" } },
    ["Invalid data[t]"],
  ],
  ["a key with a space is refused", configMap, { data: { "bad key": "x" } }, ["Invalid data[bad key]"]],
  ["a key that starts with two dots is refused", configMap, { data: { "..": "x" } }, ["Invalid data[..]"]],
  ["a key that is too long is refused", configMap, { data: { [long]: "x" } }, [`Invalid data[${long}]`]],
  ["a config map of one megabyte is valid", configMap, { data: { k: "x".repeat(1024 * 1024) } }, []],
  [
    "a config map above one megabyte is refused as a whole",
    configMap,
    { data: { k: "x".repeat(1024 * 1024) }, binaryData: { b: "AA==" } },
    ["TooLong []"],
  ],
  [
    "keys of stringData are validated as keys of data",
    secret,
    { stringData: { "a b": "v" } },
    ["Invalid data[a b]"],
  ],
  [
    "a secret above one megabyte is refused",
    secret,
    { stringData: { k: "x".repeat(1024 * 1024 + 1) } },
    ["TooLong data"],
  ],
  ["a registry secret requires its key", secret, { type: type("dockercfg") }, ["Required data[.dockercfg]"]],
  [
    "a registry secret must hold JSON",
    secret,
    { type: type("dockerconfigjson"), stringData: { ".dockerconfigjson": "nope" } },
    ["Invalid data[.dockerconfigjson]"],
  ],
  [
    "a registry secret must hold a JSON object",
    secret,
    { type: type("dockerconfigjson"), stringData: { ".dockerconfigjson": "[]" } },
    ["Invalid data[.dockerconfigjson]"],
  ],
  [
    "a username is sufficient for basic authentication",
    secret,
    { type: type("basic-auth"), stringData: { username: "u" } },
    [],
  ],
  [
    "basic authentication requires a username or a password",
    secret,
    { type: type("basic-auth"), stringData: { x: "y" } },
    ["Required data[password]", "Required data[username]"],
  ],
  ["an ssh secret requires its key", secret, { type: type("ssh-auth") }, ["Required data[ssh-privatekey]"]],
  [
    "a TLS secret requires certificate and key",
    secret,
    { type: type("tls"), stringData: { "tls.crt": "x" } },
    ["Required data[tls.key]"],
  ],
  [
    "a service account token requires the name of its account",
    secret,
    { type: type("service-account-token") },
    ["Required metadata.annotations[orch.io/service-account.name]"],
  ],
  ["other types have no requirements", secret, { type: "example.com/anything", stringData: { q: "r" } }, []],
];
for (const [name, strategy, sent, causes] of refused)
  test(name, () => assert.deepEqual(tryCreate(strategy, { metadata: meta, ...sent }).causes, causes));

const changed: [name: string, strategy: typeof configMap, before: object, after: object, causes: string[]][] =
  [
    [
      "the data of an immutable config map cannot change",
      configMap,
      { immutable: true, data: { a: "b" } },
      { immutable: true, data: { a: "c" } },
      ["Forbidden data"],
    ],
    [
      "the immutable flag cannot be cleared",
      configMap,
      { immutable: true, data: { a: "b" } },
      { data: { a: "b" } },
      ["Forbidden immutable"],
    ],
    [
      "an immutable config map accepts no binaryData",
      configMap,
      { immutable: true, data: { a: "b" } },
      { immutable: true, data: { a: "b" }, binaryData: { b: "AA==" } },
      ["Forbidden binaryData"],
    ],
    [
      "a config map can be made immutable later",
      configMap,
      { data: { a: "b" } },
      { immutable: true, data: { a: "c" } },
      [],
    ],
    ["the type of a secret is immutable", secret, {}, { type: "other" }, ["Invalid type"]],
    [
      "the data of an immutable secret cannot change",
      secret,
      { immutable: true, stringData: { a: "b" } },
      { immutable: true, stringData: { a: "c" } },
      ["Forbidden data"],
    ],
  ];
for (const [name, strategy, before, after, causes] of changed) {
  test(name, () =>
    assert.deepEqual(
      tryUpdate(strategy, { metadata: meta, ...before }, { metadata: meta, ...after }).causes,
      causes,
    ),
  );
}

test("stringData is merged into data and takes precedence", () => {
  const { object } = tryCreate(secret, {
    metadata: meta,
    stringData: { k: "v", b: "new" },
    data: { b: "AAE=" },
  });
  assert.deepEqual(object["data"], { k: "dg==", b: "bmV3" });
  assert.equal(object["stringData"], undefined);
  assert.equal(object["type"], "Opaque");
});

test("stringData under the name of an inherited property is merged, too", () => {
  const { object } = tryCreate(secret, {
    metadata: meta,
    stringData: JSON.parse('{"__proto__":"v"}') as Record<string, string>,
  });
  assert.deepEqual(Object.entries(object["data"] as object), [["__proto__", "dg=="]]);
});

test("an invalid pair of certificate and key gets a warning", () => {
  assert.equal(
    tryCreate(secret, { metadata: meta, type: type("tls"), stringData: { "tls.crt": "", "tls.key": "" } })
      .warnings.length,
    1,
  );
  assert.deepEqual(tryCreate(secret, { metadata: meta }).warnings, []);
});

test("only the names of a service account's secrets are kept", () => {
  const { object } = tryCreate(serviceAccount, {
    metadata: meta,
    secrets: [{ name: "s", uid: "u", kind: "Secret" }],
  });
  assert.deepEqual(object["secrets"], [{ name: "s" }]);
});

test("table rows count entries", () => {
  assert.deepEqual(
    cellsOf(configMap, {
      metadata: { ...meta, creationTimestamp: "2024-05-06T07:07:39Z" },
      data: { a: "1" },
      binaryData: { b: "AA==" },
    }),
    ["a", 2, "30s"],
  );
  assert.deepEqual(cellsOf(secret, { metadata: meta, stringData: { a: "1" } }), [
    "a",
    "Opaque",
    1,
    "<unknown>",
  ]);
  assert.deepEqual(cellsOf(serviceAccount, { metadata: meta }), ["a", 0, "<unknown>"]);
});
