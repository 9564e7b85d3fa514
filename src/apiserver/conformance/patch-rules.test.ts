// Responses to unusual patches and apply configurations: status, causes and warnings, as clients of this API
// family expect them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Answer, serve } from "../server.fixture.ts";

const { ask, must, place } = await serve();
const [json, merge, strategic, apply] = [
  "json-patch+json",
  "merge-patch+json",
  "strategic-merge-patch+json",
  "apply-patch+yaml",
].map((type) => `application/${type}`) as [string, string, string, string];
const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { x: "1" } };
const strict = "?fieldValidation=Strict";
const mine = "?fieldManager=m";
const twice = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: "1"\n  x: "2"\n';

/** Returns the quoted parts of the warnings. */
const warned = ({ headers }: Answer): string[] =>
  [headers["warning"] ?? []].flat().map((text) => /\\"(.*)\\"/.exec(text)?.[1] ?? text);

interface Outcome {
  readonly causes?: readonly string[];
  readonly warned?: readonly string[];
  readonly data?: unknown;
}
const cases: [name: string, type: string, query: string, body: unknown, status: number, outcome?: Outcome][] =
  [
    [
      "a duplicate field of a merge patch is a warning",
      merge,
      "",
      '{"data":{"x":"2"},"data":{"y":"2"}}',
      200,
      { warned: ["data"], data: { x: "1", y: "2" } },
    ],
    [
      "a duplicate field of a merge patch is invalid for a strict client",
      merge,
      strict,
      '{"data":{"x":"2"},"data":{"y":"2"}}',
      422,
      { causes: ["Invalid patch"] },
    ],
    [
      "a duplicate field of a strategic patch is invalid for a strict client",
      strategic,
      strict,
      '{"data":{"x":"2"},"data":{"y":"2"}}',
      422,
      { causes: ["Invalid patch"] },
    ],
    [
      "an unknown field of a JSON patch operation is a warning",
      json,
      "",
      [{ op: "add", path: "/data/y", value: "2", why: "" }],
      200,
      { warned: ["[0].why"] },
    ],
    [
      "an unknown field of a JSON patch operation is invalid for a strict client",
      json,
      strict,
      [{ op: "test", path: "/data/x", value: "1", why: "" }],
      422,
      { causes: ["Invalid patch"] },
    ],
    [
      "an unknown field of a JSON patch operation is accepted if unknown fields are ignored",
      json,
      "?fieldValidation=Ignore",
      [{ op: "test", path: "/data/x", value: "1", why: "" }],
      200,
      { warned: [] },
    ],
    ["the op of a JSON patch operation must be a string", json, "", [{ op: 1, path: "/data/x" }], 400],
    ["unknown fields are reported in order", merge, "", { z: 1, b: 1 }, 200, { warned: ["b", "z"] }],
    ["a merge patch may remove the kind", merge, "", { kind: null }, 200],
    ["a merge patch may not remove the apiVersion", merge, "", { apiVersion: null }, 400],
    [
      "a strategic patch cannot change the kind",
      strategic,
      "",
      { kind: "Secret", apiVersion: "v9" },
      200,
      { data: { x: "1" } },
    ],
    ["a strategic patch that is null changes nothing", strategic, "", "null", 200, { data: { x: "1" } }],
    [
      "a strategic patch replaces the whole object",
      strategic,
      "",
      { $patch: "replace", metadata: { name: "a" }, data: { z: "1" } },
      200,
      { data: { z: "1" } },
    ],
    ["a strategic patch cannot delete the whole object", strategic, "", { $patch: "delete" }, 400],
    [
      "an apply configuration may omit the name",
      apply,
      mine,
      { apiVersion: "v1", kind: "ConfigMap", data: { y: "1" } },
      200,
      { data: { x: "1", y: "1" } },
    ],
    [
      "an apply configuration with another uid is invalid",
      apply,
      mine,
      { ...map, metadata: { name: "a", uid: "u" } },
      422,
      { causes: ["Invalid metadata.uid", "Invalid metadata.uid"] },
    ],
    [
      "an apply configuration with managedFields, even an empty list, is refused",
      apply,
      mine,
      { ...map, metadata: { name: "a", managedFields: [] } },
      400,
    ],
    [
      "an apply configuration with null managedFields is accepted",
      apply,
      mine,
      { ...map, metadata: { name: "a", managedFields: null } },
      200,
    ],
    [
      "a duplicate key in an apply configuration is a warning",
      apply,
      `${mine}&force=1`,
      twice,
      200,
      { warned: ["x"], data: { x: "2" } },
    ],
    [
      "a duplicate key in an apply configuration is refused for a strict client",
      apply,
      `${mine}&force=1&fieldValidation=Strict`,
      twice,
      400,
    ],
    [
      "a field manager with two unprintable characters is invalid",
      merge,
      "?fieldManager=%07%07",
      {},
      422,
      { causes: ["Invalid fieldManager", "Invalid fieldManager"] },
    ],
  ];
for (const [name, type, query, body, status, { causes, warned: warnings, data } = {}] of cases) {
  test(`patching: ${name}`, async () => {
    const path = `/api/v1/namespaces/${await place()}/configmaps`;
    await must(201, "POST", path, { body: map });
    const answer = await must(status, "PATCH", `${path}/a${query}`, { type, body });
    if (causes) assert.deepEqual(answer.causes, causes);
    if (warnings) assert.deepEqual(warned(answer), warnings);
    if (data) assert.deepEqual(answer.at("data"), data);
  });
}

test("a patch of a missing object is not parsed", async () => {
  const path = `/api/v1/namespaces/${await place()}/configmaps/none`;
  for (const type of [json, merge, strategic]) await must(404, "PATCH", path, { type, body: "{" });
  await must(400, "PATCH", `${path}${mine}`, { type: apply, body: "a: [" });
});

test("a duplicate key in YAML is a warning, and refused for a strict client", async () => {
  const path = `/api/v1/namespaces/${await place()}/configmaps`;
  const answer = await must(201, "POST", path, {
    type: "application/yaml",
    body: `${twice}odd: 1\nbad: 1\n`,
  });
  assert.deepEqual(warned(answer), ["x", "bad", "odd"]);
  assert.deepEqual(answer.at("data"), { x: "2" });
  await must(400, "PUT", `${path}/a${strict}`, { type: "application/yaml", body: twice });
  assert.deepEqual(
    warned(
      await must(200, "PUT", `${path}/a?fieldValidation=Ignore`, { type: "application/yaml", body: twice }),
    ),
    [],
  );
});

const deletions: [name: string, query: string, body: unknown, status: number, causes?: string[]][] = [
  ["an empty propagation policy", "?propagationPolicy=", undefined, 422, ["NotSupported propagationPolicy"]],
  ["two bad dry runs", "?dryRun=a&dryRun=b", undefined, 422, ["NotSupported dryRun"]],
  ["another uid", "?uid=u", undefined, 409],
  ["another version", "?resourceVersion=1", undefined, 409],
  ["another uid, in addition to a body", "?uid=u", { dryRun: ["All"] }, 200],
];
for (const [name, query, body, status, causes] of deletions) {
  test(`deleting with ${name} in the query answers ${status}`, async () => {
    const path = `/api/v1/namespaces/${await place()}/configmaps`;
    await must(201, "POST", path, { body: map });
    const answer = await must(status, "DELETE", `${path}/a${query}`, body === undefined ? {} : { body });
    if (causes) assert.deepEqual(answer.causes, causes);
    await must(200, "GET", `${path}/a`);
  });
}

test("a PUT that creates an object ignores the sent resourceVersion", async () => {
  const path = `/apis/coordination.orch.io/v1/namespaces/${await place()}/leases/l`;
  const lease = { metadata: { name: "l", resourceVersion: "5" }, spec: {} };
  await must(201, "PUT", path, { body: lease });
  const refused = await ask("PUT", path, { body: { metadata: { name: "l" }, spec: {} } });
  assert.deepEqual(
    [refused.status, refused.at("details.kind"), refused.causes],
    [422, "leases", ["Invalid metadata.resourceVersion"]],
  );
});

const creating: [name: string, verbs: string[], status: number][] = [
  ["who may update but not create", ["patch", "update"], 403],
  ["who may do both", ["patch", "update", "create"], 201],
];
for (const [name, verbs, status] of creating) {
  test(`an update that would create, by a user ${name}, answers ${status}`, async () => {
    const namespace = await place();
    const rbac = `/apis/rbac.authorization.orch.io/v1/namespaces/${namespace}`;
    const rules = [{ apiGroups: ["", "coordination.orch.io"], resources: ["configmaps", "leases"], verbs }];
    await must(201, "POST", `${rbac}/roles`, { body: { metadata: { name: "r" }, rules } });
    await must(201, "POST", `${rbac}/rolebindings`, {
      body: {
        metadata: { name: "b" },
        roleRef: { kind: "Role", name: "r" },
        subjects: [{ kind: "User", name: "helper" }],
      },
    });
    const trusted = { name: "helper", groups: [] };
    const applied = await must(status, "PATCH", `/api/v1/namespaces/${namespace}/configmaps/a${mine}`, {
      type: apply,
      body: map,
      trusted,
    });
    const put = await must(status, "PUT", `/apis/coordination.orch.io/v1/namespaces/${namespace}/leases/l`, {
      body: { metadata: { name: "l" }, spec: {} },
      trusted,
    });
    if (status === 403)
      assert.deepEqual(
        [applied.at("details"), put.at("details.kind")],
        [{ name: "a", kind: "configmaps" }, "leases"],
      );
  });
}

for (const apiVersion of ["v1", "meta.orch.io/v1", "apps/v1", "example.com/v7"]) {
  test(`deletion options may be of ${apiVersion}`, async () => {
    const path = `/api/v1/namespaces/${await place()}/configmaps`;
    await must(201, "POST", path, { body: map });
    await must(200, "DELETE", `${path}/a`, {
      body: { apiVersion, kind: "DeleteOptions", propagationPolicy: "Foreground" },
    });
    assert.deepEqual((await must(200, "GET", `${path}/a`)).at("metadata.finalizers"), ["foregroundDeletion"]);
    await must(400, "DELETE", `${path}/a`, { body: { apiVersion, kind: "ConfigMap" } });
  });
}

test("a JSON patch of too many operations is too large", async () => {
  const path = `/api/v1/namespaces/${await place()}/configmaps`;
  await must(201, "POST", path, { body: map });
  const body = Array.from({ length: 10_001 }, () => ({ op: "test", path: "/kind", value: "ConfigMap" }));
  const refused = await must(413, "PATCH", `${path}/a`, { type: json, body });
  assert.equal(
    refused.at("message"),
    "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
  );
});
