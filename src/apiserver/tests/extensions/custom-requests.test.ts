import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "#kit";
import { type Json, each } from "../../server.fixture.ts";
import { ask, define, must, place, spec, version, widget } from "./custom-resources.fixture.ts";

const scaled = {
  subresources: { status: {}, scale: { specReplicasPath: ".spec.n", statusReplicasPath: ".status.n" } },
};
const methods: [
  name: string,
  method: string,
  path: string,
  body: Json | undefined,
  code: number,
  says: string,
][] = [
  [
    "a status cannot be created",
    "POST",
    "/a/status",
    {},
    405,
    "create is not supported on resources of kind",
  ],
  ["a scale cannot be deleted", "DELETE", "/a/scale", undefined, 405, "delete is not supported on resources"],
  ["a collection cannot be replaced", "PUT", "", {}, 400, "name must be provided"],
  ["a collection cannot be patched", "PATCH", "", {}, 400, "name must be provided"],
  ["another kind is refused", "PATCH", "/a", { kind: "X" }, 422, 'kind: Invalid value: "X": must be Widget'],
  ["another version is refused", "PATCH", "/a", { apiVersion: "b/v1" }, 422, "apiVersion: Invalid value"],
  ["a kind is required", "PATCH", "/a", { kind: null }, 422, "Object 'Kind' is missing"],
  [
    "a scale requires an object on its path",
    "PATCH",
    "/a",
    { spec: "x" },
    422,
    "expected map[string]interface{}",
  ],
  ["replicas are an integer", "PATCH", "/a", { spec: { n: "x" } }, 422, "of the type string, expected int64"],
  ["replicas are not huge", "PATCH", "/a", { spec: { n: 1e30 } }, 422, "of the type float64, expected int64"],
];
test("unsupported operations on custom resources are rejected", async () => {
  const properties = { ...spec({ n: { type: "integer" } }), status: { type: "object" } };
  const defined = await define([version(properties, scaled)]);
  const path = `/apis/${defined.group}/v1/namespaces/${await place()}/widgets`;
  await must(201, "POST", path, { body: widget(defined, "a", { spec: { n: 1 } }) });
  for (const [name, method, below, body, code, says] of methods) {
    const type = method === "PATCH" ? { "content-type": "application/merge-patch+json" } : {};
    const answer = await ask(method, path + below, { ...(body && { body }), headers: type });
    assert.equal(answer.status, code, name);
    const message = answer.at("message") as string;
    assert.ok(message.includes(says), `${name}: ${message}`);
  }
  assert.equal((await ask("HEAD", `${path}/a`)).status, 200);
});

test("a body without a valid type is quoted in the error", async () => {
  const defined = await define([version(spec({ n: { type: "integer" } }))]);
  const path = `/apis/${defined.group}/v1/namespaces/${await place()}/widgets`;
  const unrecognized = "the object provided is unrecognized (must be of type Widget): ";
  const bodies: [body: object, says: string][] = [
    [{ metadata: {} }, `${unrecognized}Object 'Kind' is missing in '{"metadata":{}}' ({"metadata":{}})`],
    [
      { kind: 1 },
      `${unrecognized}couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string ({"kind":1})`,
    ],
    [
      { kind: "Widget", apiVersion: "a/b/c" },
      `${unrecognized}unexpected GroupVersion string: a/b/c ({"kind":"Widget","apiVersion": ...)`,
    ],
    [
      { kind: "Widget" },
      `the API version in the data () does not match the expected API version (${defined.group}/v1)`,
    ],
  ];
  for (const [body, says] of bodies)
    assert.equal((await must(400, "POST", path, { body })).at("message"), says);
});

test("the first deletion of a definition ignores its dependents", async () => {
  const { group } = await define([version(spec({ n: { type: "integer" } }))]);
  const path = `/apis/apiextensions.orch.io/v1/customresourcedefinitions/widgets.${group}`;
  const body = { dryRun: ["All"], propagationPolicy: "Orphan" };
  const going = await must(200, "DELETE", path, { body });
  assert.deepEqual(going.at("metadata.finalizers"), ["customresourcecleanup.apiextensions.orch.io"]);
  const other = await must(409, "DELETE", path, { body: { preconditions: { uid: "other" } } });
  assert.match(
    String(other.at("message")),
    /Precondition failed: UID in precondition: other, UID in object meta: /,
  );
});

test("the apiVersion and kind of an embedded object are strings", async () => {
  const embedded = {
    type: "object",
    "x-orch-embedded-resource": true,
    "x-orch-preserve-unknown-fields": true,
  };
  const defined = await define([version(spec({ e: embedded }))]);
  const path = `/apis/${defined.group}/v1/namespaces/${await place()}/widgets`;
  const body = widget(defined, "a", { spec: { e: { apiVersion: 1, kind: "A" } } });
  await must(400, "POST", path, { body });
});
test("a version other than the storage version is converted both ways, in dry runs too", async () => {
  const [a, b] = [{ type: "string" }, { type: "string" }];
  const defined = await define([
    version(spec({ a })),
    version(spec({ a, b }), { name: "v2", storage: false }),
  ]);
  const base = `/apis/${defined.group}`;
  await eventually(async () => (await ask("GET", `${base}/v2`)).status === 200);
  const path = `${base}/v2/namespaces/${await place()}/widgets`;
  const body = widget(defined, "a", { spec: { a: "1", b: "2" } }, "v2");
  for (const query of ["?dryRun=All", ""])
    assert.deepEqual((await must(201, "POST", path + query, { body })).at("spec"), { a: "1" });
  const patch = { body: { spec: { b: "3" } }, type: "application/merge-patch+json" };
  assert.deepEqual((await must(200, "PATCH", `${path}/a?dryRun=All`, patch)).at("spec"), { a: "1" });
  const hashes = await Promise.all(
    ["v1", "v2"].map(async (each) => (await must(200, "GET", `${base}/${each}`)).at("resources")),
  );
  const [first, second] = hashes.map((list) => each(list, "storageVersionHash"));
  assert.deepEqual(first, second);
});
