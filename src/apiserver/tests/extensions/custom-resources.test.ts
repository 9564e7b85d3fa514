import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "#kit";
import { type Answer, type Json, each } from "../../server.fixture.ts";
import {
  ask,
  define,
  definition,
  definitions,
  must,
  newGroup,
  place,
  spec,
  version,
  watch,
  widget,
} from "./custom-resources.fixture.ts";

/** The part of a published operation that the tests use. */
interface Operation {
  readonly parameters?: unknown;
  readonly responses?: object;
  readonly requestBody?: { readonly required?: boolean };
}
test("fields that are not in the schema are dropped, reported, or refused", async () => {
  const defined = await define([version(spec({ a: { type: "string" } }))]);
  const path = `/apis/${defined.group}/v1/namespaces/${await place()}/widgets`;
  const body = widget(defined, "a", { spec: { a: "x", b: 1 }, top: {} });
  const answer = await must(201, "POST", path, { body });
  assert.deepEqual(answer.at("spec"), { a: "x" });
  assert.deepEqual(answer.headers["warning"], [
    '299 - "unknown field \\"spec.b\\""',
    '299 - "unknown field \\"top\\""',
  ]);
  await must(400, "POST", `${path}?fieldValidation=Strict`, { body });
  assert.deepEqual((await must(200, "GET", `${path}/a`)).at("spec"), { a: "x" });
});

const refused: [name: string, schema: Json, value: unknown, causes: string[]][] = [
  ["a number below its minimum", { type: "integer", minimum: 3 }, 2, ["FieldValueInvalid spec.v"]],
  ["a string for a number", { type: "integer" }, "1", ["FieldValueTypeInvalid spec.v"]],
  [
    "a string that does not match its pattern",
    { type: "string", pattern: "^a+$" },
    "b",
    ["FieldValueInvalid spec.v"],
  ],
  ["a string that is too long", { type: "string", maxLength: 1 }, "ab", ["FieldValueTooLong spec.v"]],
  ["an unknown value", { type: "string", enum: ["a"] }, "b", ["FieldValueNotSupported spec.v"]],
  ["an invalid date", { type: "string", format: "date" }, "2020-1-2", ["FieldValueTypeInvalid spec.v"]],
  [
    "no match of the alternatives",
    {
      type: "object",
      properties: { x: { type: "string" }, y: { type: "string" } },
      oneOf: [{ required: ["x"] }, { required: ["y"] }],
    },
    {},
    ["FieldValueInvalid <nil>", "FieldValueRequired spec.v.x"],
  ],
  [
    "a set with a duplicate value",
    { type: "array", items: { type: "string" }, "x-orch-list-type": "set" },
    ["a", "a"],
    ["FieldValueDuplicate spec.v[1]"],
  ],
];
for (const [name, schema, value, causes] of refused) {
  test(`invalid values are refused: ${name}`, async () => {
    const defined = await define([version(spec({ v: schema }))]);
    const path = `/apis/${defined.group}/v1/namespaces/${await place()}/widgets`;
    const answer = await must(422, "POST", path, { body: widget(defined, "a", { spec: { v: value } }) });
    assert.deepEqual([...causesOf(answer)].sort(), causes.sort());
  });
}

const causesOf = (answer: Answer): string[] =>
  (answer.at("details.causes") as { reason: string; field: string }[]).map(
    ({ reason, field }) => `${reason} ${field}`,
  );

test("defaults are filled in when an object is written and when it is read", async () => {
  const defined = await define([version(spec({ a: { type: "string", default: "x" } }))]);
  const path = `/apis/${defined.group}/v1/namespaces/${await place()}/widgets`;
  await must(201, "POST", path, { body: widget(defined, "a", { spec: {} }) });
  assert.deepEqual((await must(200, "GET", `${path}/a`)).at("spec"), { a: "x" });
  const change = [
    {
      op: "add",
      path: "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/b",
      value: { type: "integer", default: 1 },
    },
  ];
  await must(200, "PATCH", `${definitions}/${defined.name}`, {
    body: change,
    type: "application/json-patch+json",
  });
  await eventually(async () => (await ask("GET", `${path}/a`)).at("spec.b") === 1);
});

test("watches of a kind end when its definition changes", async () => {
  const defined = await define([version(spec({ a: { type: "string" } }))]);
  const path = `/apis/${defined.group}/v1/namespaces/${await place()}/widgets`;
  await must(201, "POST", path, { body: widget(defined, "a", { spec: { a: "x" } }) });
  const watching = watch(`${path}?watch=true`);
  assert.deepEqual(each(await watching.next(1), "object.spec"), [{ a: "x" }]);
  await must(200, "PATCH", `${definitions}/${defined.name}`, {
    body: { spec: { names: { shortNames: ["wdgt"] } } },
    type: "application/merge-patch+json",
  });
  assert.deepEqual(await watching.rest(), []);
});

test("the same objects are served in every version, each with the fields of the version", async () => {
  const defined = await define([
    version(spec({ a: { type: "string" }, b: { type: "string" } })),
    version(spec({ a: { type: "string" } }), { name: "v2", storage: false }),
  ]);
  const namespace = await place();
  const [one, two] = ["v1", "v2"].map(
    (name) => `/apis/${defined.group}/${name}/namespaces/${namespace}/widgets`,
  );
  await must(201, "POST", one!, { body: widget(defined, "a", { spec: { a: "x", b: "y" } }) });
  const answer = await must(200, "GET", `${two}/a`);
  assert.deepEqual([answer.at("apiVersion"), answer.at("spec")], [`${defined.group}/v2`, { a: "x" }]);
  await must(201, "POST", two!, { body: widget(defined, "b", { spec: { a: "z" } }, "v2") });
  const list = await must(200, "GET", one!);
  assert.deepEqual(each(list.at("items"), "apiVersion"), [`${defined.group}/v1`, `${defined.group}/v1`]);
  assert.deepEqual(each(list.at("items"), "spec"), [{ a: "x", b: "y" }, { a: "z" }]);
});

test("status and scale are updated separately", async () => {
  const properties = {
    spec: { type: "object", properties: { replicas: { type: "integer" } } },
    status: { type: "object", properties: { replicas: { type: "integer" } } },
  };
  const subresources = {
    status: {},
    scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
  };
  const defined = await define([version(properties, { subresources })]);
  const path = `/apis/${defined.group}/v1/namespaces/${await place()}/widgets`;
  const body = widget(defined, "a", { spec: { replicas: 1 }, status: { replicas: 9 } });
  assert.equal((await must(201, "POST", path, { body })).at("status"), undefined);
  const type = "application/merge-patch+json";
  const status = { body: { status: { replicas: 2 }, spec: { replicas: 5 } }, type };
  assert.deepEqual((await must(200, "PATCH", `${path}/a/status`, status)).at("spec.replicas"), 1);
  const scaled = await must(200, "PATCH", `${path}/a/scale`, { body: { spec: { replicas: 3 } }, type });
  assert.deepEqual(
    [scaled.at("kind"), scaled.at("spec.replicas"), scaled.at("status.replicas")],
    ["Scale", 3, 2],
  );
  assert.equal((await must(200, "GET", `${path}/a`)).at("metadata.generation"), 2);
});

test("tables have the columns of the definition", async () => {
  const columns = [
    { name: "Size", type: "integer", jsonPath: ".spec.size" },
    { name: "Ready", type: "string", jsonPath: '.spec.conditions[?(@.type=="Ready")].status' },
  ];
  const conditions = {
    type: "array",
    items: { type: "object", properties: { type: { type: "string" }, status: { type: "string" } } },
  };
  const defined = await define([
    version(spec({ size: { type: "integer" }, conditions }), { additionalPrinterColumns: columns }),
  ]);
  const path = `/apis/${defined.group}/v1/namespaces/${await place()}/widgets`;
  const ready = [
    { type: "Other", status: "x" },
    { type: "Ready", status: "True" },
  ];
  await must(201, "POST", path, { body: widget(defined, "a", { spec: { size: 3, conditions: ready } }) });
  const table = await must(200, "GET", path, { accept: "application/json;as=Table;g=meta.orch.io;v=v1" });
  assert.deepEqual(each(table.at("columnDefinitions"), "name"), ["Name", "Size", "Ready"]);
  assert.deepEqual(table.at("rows.0.cells"), ["a", 3, "True"]);
});

test("server-side apply merges lists as the schema says", async () => {
  const ports = {
    type: "array",
    "x-orch-list-type": "map",
    "x-orch-list-map-keys": ["name"],
    items: {
      type: "object",
      required: ["name"],
      properties: { name: { type: "string" }, port: { type: "integer" } },
    },
  };
  const defined = await define([version(spec({ ports }))]);
  const path = `/apis/${defined.group}/v1/namespaces/${await place()}/widgets/a`;
  const apply = (manager: string, port: Json): Promise<Answer> =>
    ask("PATCH", `${path}?fieldManager=${manager}`, {
      body: widget(defined, "a", { spec: { ports: [port] } }),
      type: "application/apply-patch+yaml",
    });
  assert.equal((await apply("one", { name: "a", port: 1 })).status, 201);
  const both = await apply("two", { name: "b", port: 2 });
  assert.deepEqual(each(both.at("spec.ports"), "name"), ["a", "b"]);
  assert.equal((await apply("two", { name: "a", port: 3 })).status, 409);
  const unknown = await apply("two", { name: "a", extra: 3 });
  assert.equal(unknown.status, 400);
  assert.equal(
    unknown.at("message"),
    `failed to create typed patch object (/a; ${defined.group}/v1, Kind=Widget): .spec.ports[name="a"].extra: field not declared in schema`,
  );
});

test("deleting a definition deletes its instances", async () => {
  const defined = await define([version(spec({ a: { type: "string" } }))]);
  const path = `/apis/${defined.group}/v1/namespaces/${await place()}/widgets`;
  await must(201, "POST", path, { body: widget(defined, "a", { spec: { a: "x" } }) });
  const gone = await must(200, "DELETE", `${definitions}/${defined.name}`);
  assert.deepEqual(gone.at("metadata.finalizers"), ["customresourcecleanup.apiextensions.orch.io"]);
  await eventually(async () => (await ask("GET", `${definitions}/${defined.name}`)).status === 404);
  assert.equal((await ask("GET", path)).status, 404);
});

test("of two definitions with the same name, the first holds it until it is deleted", async () => {
  const group = newGroup();
  const named = (plural: string, kind: string): Json => ({
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Cluster",
      names: { plural, kind, shortNames: ["same"] },
      versions: [version(spec({}))],
    },
  });
  const accepted = async (name: string): Promise<unknown> =>
    (await must(200, "GET", `${definitions}/${name}.${group}`)).at("status.acceptedNames.shortNames");
  await must(201, "POST", definitions, { body: named("ones", "One") });
  await eventually(async () => (await accepted("ones")) !== undefined);
  await must(201, "POST", definitions, { body: named("twos", "Two") });
  const path = `${definitions}/twos.${group}`;
  await eventually(
    async () => (await must(200, "GET", path)).at("status.conditions.0.reason") === "ShortNamesConflict",
  );
  assert.equal((await ask("GET", `/apis/${group}/v1/twos`)).status, 404);
  await must(200, "DELETE", `${definitions}/ones.${group}`);
  await eventually(async () => (await ask("GET", `/apis/${group}/v1/twos`)).status === 200);
  assert.deepEqual(await accepted("twos"), ["same"]);
});

const wrong: [name: string, versions: Json[], more: Json, causes: string[]][] = [
  [
    "no schema",
    [{ name: "v1", served: true, storage: true }],
    {},
    ["FieldValueRequired spec.versions[0].schema.openAPIV3Schema"],
  ],
  [
    "no storage version",
    [version({}, { storage: false })],
    {},
    ["FieldValueInvalid spec.versions", "FieldValueInvalid status.storedVersions"],
  ],
  [
    "no type",
    [version({ a: {} })],
    {},
    ["FieldValueRequired spec.validation.openAPIV3Schema.properties[a].type"],
  ],
  [
    "a default of another type",
    [version({ a: { type: "integer", default: "x" } })],
    {},
    ["FieldValueTypeInvalid spec.validation.openAPIV3Schema.properties[a].default"],
  ],
  [
    "types inside of alternatives",
    [version({ a: { type: "object", anyOf: [{ type: "string" }] } })],
    {},
    ["FieldValueForbidden spec.validation.openAPIV3Schema.properties[a].anyOf[0].type"],
  ],
  [
    "a reference",
    [version({ a: { type: "object", $ref: "#/x" } })],
    {},
    ["FieldValueForbidden spec.validation.openAPIV3Schema.properties[a].$ref"],
  ],
  ["an unknown scope", [version({})], { scope: "Galaxy" }, ["FieldValueNotSupported spec.scope"]],
  [
    "a missing webhook configuration",
    [version({})],
    { conversion: { strategy: "Webhook" } },
    [
      "FieldValueRequired spec.conversion.conversionReviewVersions",
      "FieldValueRequired spec.conversion.webhookClientConfig",
    ],
  ],
];
for (const [name, versions, more, causes] of wrong) {
  test(`a definition is refused: ${name}`, async () => {
    const answer = await must(422, "POST", definitions, { body: definition(versions, more) });
    assert.deepEqual(causesOf(answer).sort(), causes);
  });
}

test("discovery and OpenAPI documents are updated for definitions", async () => {
  const defined = await define([version(spec({ a: { type: "string" } }))]);
  const { group } = defined;
  const resources = (await must(200, "GET", `/apis/${group}/v1`)).at("resources");
  assert.deepEqual(each(resources, "name"), ["widgets"]);
  const name = `com.example.${group.split(".")[0]}.v1.Widget`;
  const v3 = await must(200, "GET", `/openapi/v3/apis/${group}/v1`);
  const schemas = v3.at("components.schemas") as Record<string, Json>;
  assert.deepEqual(schemas[name]?.["x-orch-group-version-kind"], [{ group, kind: "Widget", version: "v1" }]);
  // kubectl determines from this whether it may send a strategic merge patch.
  const paths = v3.at("paths") as Record<string, { patch?: { requestBody: { content: object } } }>;
  const patch = paths[`/apis/${group}/v1/namespaces/{namespace}/widgets/{name}`]?.patch;
  assert.deepEqual(Object.keys(patch?.requestBody.content ?? {}), [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/apply-patch+yaml",
  ]);
  assert.deepEqual(v3.at("info"), { title: "Orch CRD Swagger", version: "v0.1.0" });
  const items = schemas[`${name}List`]?.["properties"] as Record<string, Json>;
  assert.deepEqual(items["items"]?.["items"], { $ref: `#/components/schemas/${name}` });
  const one = paths[`/apis/${group}/v1/namespaces/{namespace}/widgets/{name}`] as Record<string, Operation>;
  const all = paths[`/apis/${group}/v1/namespaces/{namespace}/widgets`] as Record<string, Operation>;
  assert.deepEqual(each(one["get"]?.parameters, "name"), ["resourceVersion"]);
  assert.deepEqual(Object.keys(one["patch"]?.responses ?? {}), ["200", "401"]);
  assert.equal(all["post"]?.requestBody?.required, undefined);
  assert.equal(all["delete"]?.requestBody, undefined);
  await must(200, "DELETE", `${definitions}/${defined.name}`);
  await eventually(async () => (await ask("GET", `/openapi/v3/apis/${group}/v1`)).status === 404);
});

test("an applied field that the schema does not know is refused by its path", async () => {
  const defined = await define([version(spec({ a: { type: "string" } }))]);
  const path = `/apis/${defined.group}/v1/namespaces/${await place()}/widgets/a?fieldManager=test`;
  const answer = await must(400, "PATCH", path, {
    body: widget(defined, "a", { unheard: 1, spec: { a: "x" } }),
    type: "application/apply-patch+yaml",
  });
  assert.match(
    String(answer.at("message")),
    /typed patch object \(.*\): \.unheard: field not declared in schema$/,
  );
});

const open = { "x-orch-preserve-unknown-fields": true };
const embedded = { "x-orch-embedded-resource": true };
const inner = { type: "object", properties: { b: { type: "string" } } };
const applied: [name: string, schema: object, value: unknown, status: number, message?: RegExp][] = [
  [
    "a field below one that preserves unknown fields",
    { type: "object", ...open, properties: { a: inner } },
    { a: { z: 1 } },
    201,
  ],
  [
    "in items below",
    { type: "object", ...open, properties: { a: { type: "array", items: inner } } },
    { a: [{ z: 1 }] },
    201,
  ],
  [
    "not elsewhere",
    { type: "object", properties: { a: inner } },
    { a: { z: 1 } },
    400,
    /\.spec\.a\.z: field not/,
  ],
  [
    "a string for an object that preserves unknown fields",
    { type: "object", properties: { a: { type: "object", ...open } } },
    { a: "x" },
    400,
    /\.spec\.a: expected map, got &\{x\}$/,
  ],
  [
    "the metadata of an embedded object",
    { type: "object", properties: { a: { type: "object", ...open, ...embedded } } },
    { a: { metadata: { z: 1 } } },
    400,
    /\.spec\.a\.metadata\.z: field not declared in schema$/,
  ],
];
for (const [name, schema, value, status, message] of applied)
  test(`applied unknown fields are accepted where the schema preserves them: ${name}`, async () => {
    const defined = await define([version({ spec: schema })]);
    const path = `/apis/${defined.group}/v1/namespaces/${await place()}/widgets/a?fieldManager=test`;
    const answer = await must(status, "PATCH", path, {
      body: widget(defined, "a", { spec: value }),
      type: "application/apply-patch+yaml",
    });
    if (message) assert.match(String(answer.at("message")), message);
  });

test("quotas count custom resources", async () => {
  const defined = await define([version(spec({ a: { type: "string" } }))]);
  const namespace = await place();
  const name = `count/widgets.${defined.group}`;
  const quotas = `/api/v1/namespaces/${namespace}/resourcequotas`;
  await must(201, "POST", quotas, { body: { metadata: { name: "q" }, spec: { hard: { [name]: "1" } } } });
  await must(200, "PATCH", `${quotas}/q/status`, {
    body: { status: { hard: { [name]: "1" }, used: { [name]: "0" } } },
    type: "application/merge-patch+json",
  });
  const path = `/apis/${defined.group}/v1/namespaces/${namespace}/widgets`;
  await must(201, "POST", path, { body: widget(defined, "a", { spec: {} }) });
  await must(403, "POST", path, { body: widget(defined, "b", { spec: {} }) });
});

test("a definition with a large schema is served once it is established, and while it changes", async () => {
  const wide = (description: string): Json =>
    spec(
      Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`p${i}`, { type: "string", description }])),
    );
  const body = definition([version(wide("One of many fields, described at some length."))]);
  const { name } = body.metadata;
  const { group } = body["spec"] as { group: string };
  await must(201, "POST", definitions, { body });
  const known = async (): Promise<Json> => (await must(200, "GET", `${definitions}/${name}`)).json;
  const isEstablished = async (): Promise<boolean> =>
    ((await known())["status"] as { conditions?: Json[] }).conditions?.some(
      ({ type, status }) => type === "Established" && status === "True",
    ) ?? false;
  await eventually(isEstablished);
  const path = `/apis/${group}/v1/namespaces/${await place()}/widgets`;
  await eventually(async () => (await ask("GET", path)).status === 200);
  await must(201, "POST", path, { body: widget({ group, name }, "a", { spec: { p1: "x" } }) });
  const now = await known();
  const changed = { ...now, spec: { ...(now["spec"] as Json), versions: [version(wide("Another text."))] } };
  await must(200, "PUT", `${definitions}/${name}`, { body: changed });
  for (let turn = 0; turn < 50; turn++) {
    await must(200, "GET", `${path}/a`);
    await new Promise((resolve) => setImmediate(resolve));
  }
});

test("a definition of several versions can change while its objects are read", async () => {
  const text = spec({ a: { type: "string" } });
  const versions = [version(text), { ...version(text), name: "v2", storage: false }];
  const defined = await define(versions);
  const ns = await place();
  const path = (name: string) => `/apis/${defined.group}/${name}/namespaces/${ns}/widgets`;
  await must(201, "POST", path("v1"), { body: widget(defined, "a", { spec: { a: "x" } }) });
  await must(200, "GET", `${path("v2")}/a`);
  for (const added of ["b", "c", "d"]) {
    const changed = version(spec({ a: { type: "string" }, [added]: { type: "string" } }));
    await must(200, "PATCH", `${definitions}/${defined.name}`, {
      type: "application/merge-patch+json",
      body: { spec: { versions: [changed, { ...changed, name: "v2", storage: false }] } },
    });
    const body = { spec: { [added]: "y" } };
    await eventually(async () => {
      const answer = await ask("PATCH", `${path("v2")}/a`, { type: "application/merge-patch+json", body });
      return (answer.json["spec"] as Json | undefined)?.[added] === "y";
    });
  }
  // Each definition has only the fields of its own schema.
  assert.deepEqual((await must(200, "GET", `${path("v1")}/a`)).at("spec"), { a: "x", d: "y" });
});
