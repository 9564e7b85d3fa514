import assert from "node:assert/strict";
import { test } from "node:test";
import { configMap } from "./config-map.ts";
import { secret } from "./secret.ts";
import { serviceAccount } from "./service-account.ts";
import { cellsOf, tryCreate, tryUpdate } from "./try-out.fixture.ts";

const meta = { name: "a", namespace: "n" };
const type = (name: string) => `orch.io/${name}`;
const long = "k".repeat(254);

const refused: [name: string, strategy: typeof configMap, sent: object, causes: string[]][] = [
  ["settings may be empty", configMap, {}, []],
  [
    "a key cannot be in both maps",
    configMap,
    { data: { t: "x" }, binaryData: { t: "AAEC" } },
    ["Invalid data[t]"],
  ],
  ["a key with a blank is refused", configMap, { data: { "bad key": "x" } }, ["Invalid data[bad key]"]],
  ["a key that leads upwards is refused", configMap, { data: { "..": "x" } }, ["Invalid data[..]"]],
  ["a long key is refused", configMap, { data: { [long]: "x" } }, [`Invalid data[${long}]`]],
  ["settings of a megabyte are the most", configMap, { data: { k: "x".repeat(1024 * 1024) } }, []],
  [
    "settings beyond a megabyte are refused as a whole",
    configMap,
    { data: { k: "x".repeat(1024 * 1024) }, binaryData: { b: "AA==" } },
    ["TooLong []"],
  ],
  ["keys of text are checked as keys of data", secret, { stringData: { "a b": "v" } }, ["Invalid data[a b]"]],
  [
    "a secret beyond a megabyte is refused",
    secret,
    { stringData: { k: "x".repeat(1024 * 1024 + 1) } },
    ["TooLong data"],
  ],
  ["a registry secret needs its key", secret, { type: type("dockercfg") }, ["Required data[.dockercfg]"]],
  [
    "a registry secret holds JSON",
    secret,
    { type: type("dockerconfigjson"), stringData: { ".dockerconfigjson": "nope" } },
    ["Invalid data[.dockerconfigjson]"],
  ],
  [
    "a registry secret holds a JSON object",
    secret,
    { type: type("dockerconfigjson"), stringData: { ".dockerconfigjson": "[]" } },
    ["Invalid data[.dockerconfigjson]"],
  ],
  [
    "a user name is enough for basic authentication",
    secret,
    { type: type("basic-auth"), stringData: { username: "u" } },
    [],
  ],
  [
    "basic authentication needs a name or a password",
    secret,
    { type: type("basic-auth"), stringData: { x: "y" } },
    ["Required data[password]", "Required data[username]"],
  ],
  ["an ssh secret needs its key", secret, { type: type("ssh-auth") }, ["Required data[ssh-privatekey]"]],
  [
    "a tls secret needs both parts",
    secret,
    { type: type("tls"), stringData: { "tls.crt": "x" } },
    ["Required data[tls.key]"],
  ],
  [
    "an account token names its account",
    secret,
    { type: type("service-account-token") },
    ["Required metadata.annotations[orch.io/service-account.name]"],
  ],
  ["any other type is free", secret, { type: "example.com/anything", stringData: { q: "r" } }, []],
];
for (const [name, strategy, sent, causes] of refused)
  test(name, () => assert.deepEqual(tryCreate(strategy, { metadata: meta, ...sent }).causes, causes));

const changed: [name: string, strategy: typeof configMap, before: object, after: object, causes: string[]][] =
  [
    [
      "frozen settings keep their data",
      configMap,
      { immutable: true, data: { a: "b" } },
      { immutable: true, data: { a: "c" } },
      ["Forbidden data"],
    ],
    [
      "frozen settings stay frozen",
      configMap,
      { immutable: true, data: { a: "b" } },
      { data: { a: "b" } },
      ["Forbidden immutable"],
    ],
    [
      "frozen settings take no bytes",
      configMap,
      { immutable: true, data: { a: "b" } },
      { immutable: true, data: { a: "b" }, binaryData: { b: "AA==" } },
      ["Forbidden binaryData"],
    ],
    [
      "settings can be frozen later",
      configMap,
      { data: { a: "b" } },
      { immutable: true, data: { a: "c" } },
      [],
    ],
    ["the type of a secret stays", secret, {}, { type: "other" }, ["Invalid type"]],
    [
      "a frozen secret keeps its data",
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

test("text of a secret becomes data and wins over it", () => {
  const { object } = tryCreate(secret, {
    metadata: meta,
    stringData: { k: "v", b: "new" },
    data: { b: "AAE=" },
  });
  assert.deepEqual(object["data"], { k: "dg==", b: "bmV3" });
  assert.equal(object["stringData"], undefined);
  assert.equal(object["type"], "Opaque");
});

test("text under a key that every object inherits becomes data, too", () => {
  const { object } = tryCreate(secret, {
    metadata: meta,
    stringData: JSON.parse('{"__proto__":"v"}') as Record<string, string>,
  });
  assert.deepEqual(Object.entries(object["data"] as object), [["__proto__", "dg=="]]);
});

test("an unusable pair of certificate and key is warned of", () => {
  assert.equal(
    tryCreate(secret, { metadata: meta, type: type("tls"), stringData: { "tls.crt": "", "tls.key": "" } })
      .warnings.length,
    1,
  );
  assert.deepEqual(tryCreate(secret, { metadata: meta }).warnings, []);
});

test("of an account's secrets only the names are kept", () => {
  const { object } = tryCreate(serviceAccount, {
    metadata: meta,
    secrets: [{ name: "s", uid: "u", kind: "Secret" }],
  });
  assert.deepEqual(object["secrets"], [{ name: "s" }]);
});

test("tables count entries", () => {
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
