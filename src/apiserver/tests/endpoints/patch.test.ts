import assert from "node:assert/strict";
import { test } from "node:test";
import { type Json, coreEvent, each, newEvent, serve } from "../../server.fixture.ts";

const { ask, must, place } = await serve();
const maps = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;
const [json, merge, strategic, apply] = [
  "json-patch+json",
  "merge-patch+json",
  "strategic-merge-patch+json",
  "apply-patch+yaml",
].map((type) => `application/${type}`) as [string, string, string, string];
const original = {
  metadata: { name: "a", labels: { keep: "1", drop: "2" }, finalizers: ["example.com/one"] },
  data: { x: "1", y: "2" },
};

async function fresh(): Promise<string> {
  const path = maps(await place());
  await must(201, "POST", path, { body: original });
  return `${path}/a`;
}

const patches: [name: string, type: string, patch: unknown, changed: Record<string, unknown>][] = [
  [
    "a merge patch adds and changes",
    merge,
    { data: { x: "9", z: "3" } },
    { data: { x: "9", y: "2", z: "3" } },
  ],
  [
    "a merge patch removes with null",
    merge,
    { data: { x: null }, metadata: { labels: { drop: null } } },
    { data: { y: "2" }, "metadata.labels": { keep: "1" } },
  ],
  [
    "a merge patch replaces lists",
    merge,
    { metadata: { finalizers: ["example.com/two"] } },
    { "metadata.finalizers": ["example.com/two"] },
  ],
  [
    "a JSON patch with several operations",
    json,
    [
      { op: "replace", path: "/data/x", value: "9" },
      { op: "remove", path: "/data/y" },
      { op: "copy", from: "/data/x", path: "/data/z" },
    ],
    { data: { x: "9", z: "9" } },
  ],
  [
    "a JSON patch with a successful test",
    json,
    [
      { op: "test", path: "/data/x", value: "1" },
      { op: "move", from: "/data/x", path: "/data/w" },
    ],
    { data: { w: "1", y: "2" } },
  ],
  [
    "a JSON patch that replaces a missing value",
    json,
    [{ op: "replace", path: "/data/new", value: "1" }],
    { data: { x: "1", y: "2", new: "1" } },
  ],
  [
    "a JSON patch appends",
    json,
    [{ op: "add", path: "/metadata/finalizers/-", value: "example.com/two" }],
    { "metadata.finalizers": ["example.com/one", "example.com/two"] },
  ],
  [
    "a JSON pointer with escapes",
    json,
    [
      { op: "add", path: "/metadata/annotations", value: {} },
      { op: "add", path: "/metadata/annotations/a.b~1c", value: "1" },
    ],
    { "metadata.annotations": { "a.b/c": "1" } },
  ],
  ["a strategic patch merges maps", strategic, { data: { x: "9" } }, { data: { x: "9", y: "2" } }],
  [
    "a strategic patch merges finalizers",
    strategic,
    { metadata: { finalizers: ["example.com/two"] } },
    { "metadata.finalizers": ["example.com/two", "example.com/one"] },
  ],
  [
    "a strategic patch replaces on request",
    strategic,
    { data: { $patch: "replace", z: "3" } },
    { data: { z: "3" } },
  ],
  [
    "a strategic patch deletes from a plain list",
    strategic,
    { metadata: { "$deleteFromPrimitiveList/finalizers": ["example.com/one"] } },
    { "metadata.finalizers": undefined },
  ],
];
for (const [name, type, body, changed] of patches) {
  test(name, async () => {
    const path = await fresh();
    const answer = await must(200, "PATCH", path, { type, body });
    for (const [where, value] of Object.entries(changed)) assert.deepEqual(answer.at(where), value);
    assert.deepEqual((await must(200, "GET", path)).json, answer.json);
  });
}

const nothing: [type: string, patch: unknown][] = [
  [merge, {}],
  [merge, { data: { x: "1" } }],
  [merge, { data: { none: null } }],
  [json, []],
  [json, [{ op: "replace", path: "/data/x", value: "1" }]],
  [strategic, {}],
  [strategic, { data: { y: "2" } }],
  [strategic, { metadata: { finalizers: ["example.com/one"] } }],
];
for (const [type, body] of nothing) {
  test(`${type} ${JSON.stringify(body)} changes nothing and keeps the version`, async () => {
    const path = await fresh();
    const before = (await must(200, "GET", path)).json;
    assert.deepEqual((await must(200, "PATCH", path, { type, body })).json, before);
  });
}

const refusals: [name: string, type: string, patch: unknown, status: number][] = [
  ["a media type other than a patch", "application/json", {}, 415],
  ["a missing media type", "", {}, 415],
  ["a patch that is invalid JSON", merge, "{", 400],
  ["a merge patch that is a list", merge, [], 400],
  ["a merge patch that is null", merge, "null", 400],
  ["an empty merge patch", merge, "", 400],
  ["a JSON patch that is an object", json, {}, 400],
  ["a JSON patch with an unknown operation", json, [{ op: "sing", path: "/data" }], 422],
  ["a JSON patch with a test that fails", json, [{ op: "test", path: "/data/x", value: "no" }], 422],
  ["a JSON patch that removes a missing value", json, [{ op: "remove", path: "/data/none" }], 422],
  ["a JSON patch with an invalid pointer", json, [{ op: "add", path: "data", value: 1 }], 422],
  ["a value of the wrong type", merge, { data: { x: 1 } }, 422],
  ["a map that becomes a list", merge, { data: [] }, 422],
  ["another name", merge, { metadata: { name: "b" } }, 400],
  ["another kind", merge, { kind: "Secret" }, 422],
  ["another version", merge, { apiVersion: "v2" }, 422],
  ["another uid", merge, { metadata: { uid: "b" } }, 422],
  ["an old version", merge, { metadata: { resourceVersion: "1" } }, 409],
  ["another namespace", merge, { metadata: { namespace: "elsewhere" } }, 400],
  ["an unknown directive", strategic, { data: { $patch: "sing" } }, 400],
  ["metadata that becomes null", merge, { metadata: null }, 400],
];
for (const [name, type, body, status] of refusals) {
  test(`${name} is refused with ${status}, and nothing changes`, async () => {
    const path = await fresh();
    const before = (await must(200, "GET", path)).text;
    const answer = await ask("PATCH", path, { type, body });
    assert.equal(answer.status, status, answer.text);
    assert.equal((await must(200, "GET", path)).text, before);
  });
}

test("concurrent patches of one object are all applied", async () => {
  const path = await fresh();
  await Promise.all(
    Array.from({ length: 20 }, (_each, i) =>
      must(200, "PATCH", path, { type: merge, body: { data: { [`n${i}`]: "" } } }),
    ),
  );
  assert.equal(Object.keys((await must(200, "GET", path)).at("data") as object).length, 22);
});

test("a patch against an outdated version is refused", async () => {
  const path = await fresh();
  const resourceVersion = (await must(200, "GET", path)).at("metadata.resourceVersion");
  const outcomes = await Promise.all(
    Array.from({ length: 10 }, (_each, i) =>
      ask("PATCH", path, { type: merge, body: { metadata: { resourceVersion }, data: { x: `n${i}` } } }),
    ),
  );
  assert.deepEqual(outcomes.map(({ status }) => String(status)).toSorted(), [
    "200",
    ...Array.from({ length: 9 }, () => "409"),
  ]);
});

test("a patch of a missing object answers 404, except for apply", async () => {
  const path = `${maps(await place())}/none`;
  for (const [type, body] of [
    [merge, {}],
    [json, []],
    [strategic, {}],
  ] as const)
    await must(404, "PATCH", path, { type, body });
});

test("a JSON patch cannot exceed its size limits", async () => {
  const path = await fresh();
  const steps = [
    { op: "add", path: "/data/z", value: "z".repeat(1000) },
    ...Array.from({ length: 10_001 }, (_each, i) => ({ op: "copy", from: "/data/z", path: `/data/z${i}` })),
  ];
  const { status } = await ask("PATCH", path, { type: json, body: steps });
  assert.ok(status === 413 || status === 422, String(status));
});

test("unknown fields of a patch are handled as the client requests", async () => {
  const path = await fresh();
  const body = { unheard: 1 };
  assert.deepEqual(
    (await must(200, "PATCH", `${path}?dryRun=All`, { type: merge, body })).headers["warning"],
    ['299 - "unknown field \\"unheard\\""'],
  );
  assert.equal(
    (await must(200, "PATCH", `${path}?fieldValidation=Ignore`, { type: merge, body })).headers["warning"],
    undefined,
  );
  await must(422, "PATCH", `${path}?fieldValidation=Strict`, { type: merge, body });
  await must(422, "PATCH", `${path}?fieldValidation=Strict`, {
    type: merge,
    body: '{"data":{"x":"1","x":"2"}}',
  });
});

test("a dry run of a patch changes nothing", async () => {
  const path = await fresh();
  const before = (await must(200, "GET", path)).text;
  assert.equal(
    (await must(200, "PATCH", `${path}?dryRun=All`, { type: merge, body: { data: { x: "9" } } })).at(
      "data.x",
    ),
    "9",
  );
  assert.equal((await must(200, "GET", path)).text, before);
});

test("large numbers survive creation, reading and patches of every kind", async () => {
  const path = `/apis/apps/v1/namespaces/${await place()}/controllerrevisions`;
  await must(201, "POST", path, {
    body: '{"metadata":{"name":"a"},"revision":9007199254740993,"data":{"big":1234567890123456789,"list":[9007199254740995]}}',
  });
  const holds = (text: string): void => {
    for (const part of [
      '"revision":9007199254740993',
      '"big":1234567890123456789',
      '"list":[9007199254740995]',
    ])
      assert.ok(text.includes(part), `${part} in ${text}`);
  };
  holds((await must(200, "GET", `${path}/a`)).text);
  holds(
    (await must(200, "PATCH", `${path}/a`, { type: merge, body: { metadata: { labels: { x: "1" } } } })).text,
  );
  holds(
    (
      await must(200, "PATCH", `${path}/a`, {
        type: json,
        body: [{ op: "add", path: "/metadata/labels/y", value: "1" }],
      })
    ).text,
  );
  holds(
    (await must(200, "PATCH", `${path}/a`, { type: strategic, body: { metadata: { labels: { z: "1" } } } }))
      .text,
  );
  holds((await must(200, "GET", path)).text);
});

test("a strategic patch works on events of both groups", async () => {
  const namespace = await place();
  const core = `/api/v1/namespaces/${namespace}/events`;
  await must(201, "POST", core, { body: coreEvent("a", namespace) });
  const patched = await must(200, "PATCH", `${core}/a`, {
    type: strategic,
    body: { count: 2, lastTimestamp: "2030-01-02T04:00:00Z", involvedObject: { fieldPath: "spec" } },
  });
  assert.deepEqual(
    [
      patched.at("count"),
      patched.at("firstTimestamp"),
      patched.at("involvedObject.name"),
      patched.at("involvedObject.fieldPath"),
    ],
    [2, "2030-01-02T03:04:05Z", "p", "spec"],
  );
  assert.equal(
    (await must(200, "GET", `/apis/events.orch.io/v1/namespaces/${namespace}/events/a`)).at(
      "deprecatedCount",
    ),
    2,
  );
  const series = { count: 2, lastObservedTime: "2030-01-02T03:04:06.000000Z" };
  await must(201, "POST", `/apis/events.orch.io/v1/namespaces/${namespace}/events`, {
    body: newEvent("b", namespace),
  });
  assert.deepEqual(
    (
      await must(200, "PATCH", `/apis/events.orch.io/v1/namespaces/${namespace}/events/b`, {
        type: strategic,
        body: { series },
      })
    ).at("series"),
    series,
  );
});

const applied = (data: object, more: object = {}): Json => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", ...more },
  data,
});

test("apply creates, changes and removes fields, and transfers their ownership", async () => {
  const path = `${maps(await place())}/a`;
  const send = (manager: string, body: unknown, query = "") =>
    ask("PATCH", `${path}?fieldManager=${manager}${query}`, { type: apply, body });
  assert.equal((await send("one", applied({ x: "1", y: "1" }))).status, 201);
  const again = await send("one", applied({ x: "1" }));
  assert.deepEqual([again.status, again.at("data")], [200, { x: "1" }]);
  const conflict = await send("two", applied({ x: "2" }));
  assert.deepEqual(
    [conflict.status, conflict.at("reason"), conflict.causes],
    [409, "Conflict", ["FieldManagerConflict .data.x"]],
  );
  assert.deepEqual((await send("two", applied({ x: "2" }), "&force=true")).at("data"), { x: "2" });
  assert.equal((await send("one", applied({ x: "1" }))).status, 409);
  const version = (await must(200, "GET", path)).at("metadata.resourceVersion");
  assert.equal((await send("two", applied({ x: "2" }))).at("metadata.resourceVersion"), version);
});

test("apply takes YAML, and needs a type, the right name and known fields", async () => {
  const namespace = await place();
  const path = `${maps(namespace)}/a?fieldManager=me`;
  const send = (body: unknown) => ask("PATCH", path, { type: apply, body });
  assert.equal(
    (await send("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata: {x: 'yes'}\n")).status,
    201,
  );
  const refused: unknown[] = [
    "{",
    "a: [",
    "",
    "just text",
    "- a\n- b",
    { metadata: { name: "a" } },
    applied({}, { name: "b" }),
    applied({}, { namespace: "elsewhere" }),
    { ...applied({}), kind: "Secret" },
    { ...applied({}), apiVersion: "v2" },
    { ...applied({}), unheard: 1 },
    applied(
      {},
      {
        managedFields: [
          { manager: "x", operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: {} },
        ],
      },
    ),
    applied([]),
    applied({ x: 1 }),
  ];
  for (const body of refused) {
    const { status, text } = await send(body);
    assert.equal(status, 400, `${JSON.stringify(body)}: ${text}`);
  }
  assert.equal((await send(applied({ x: "1" }, { uid: "other" }))).status, 422);
});

test("conflicts of an applied object are reported before another name", async () => {
  const path = `${maps(await place())}/a`;
  const send = (manager: string, body: unknown) =>
    ask("PATCH", `${path}?fieldManager=${manager}`, { type: apply, body });
  assert.equal((await send("one", applied({ x: "1" }))).status, 201);
  assert.equal((await send("two", applied({ x: "2" }, { name: "b" }))).status, 409);
  assert.equal((await send("two", applied({ x: "1" }, { name: "b" }))).status, 400);
});

test("a list is not a valid merge patch, with any field validation", async () => {
  const path = maps(await place());
  await must(201, "POST", path, { body: { metadata: { name: "a" } } });
  const send = (mode: string) =>
    ask("PATCH", `${path}/a?fieldValidation=${mode}`, { type: "application/merge-patch+json", body: "[]" });
  assert.deepEqual([(await send("Warn")).status, (await send("Ignore")).status], [400, 422]);
});

test("a dry run of an apply stores nothing", async () => {
  const path = `${maps(await place())}/a`;
  const answer = await must(201, "PATCH", `${path}?fieldManager=me&dryRun=All`, {
    type: apply,
    body: applied({ x: "1" }),
  });
  assert.equal(answer.at("metadata.resourceVersion"), undefined);
  await must(404, "GET", path);
});

test("the first document of a YAML body is used", async () => {
  const path = maps(await place());
  const document = (name: string): string => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;
  await must(201, "POST", path, { type: "application/yaml", body: `${document("a")}---\n${document("b")}` });
  await must(201, "PATCH", `${path}/c?fieldManager=me`, {
    type: apply,
    body: `---\n${document("c")}---\n${document("d")}`,
  });
  assert.deepEqual(each((await must(200, "GET", path)).at("items"), "metadata.name"), ["a", "c"]);
});

const workload = {
  selector: { matchLabels: { a: "b" } },
  template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
};
test("a missing scale is reported with the resource name that its kind uses", async () => {
  const namespace = await place();
  const named = async (path: string): Promise<unknown> =>
    (await must(404, "GET", `${path}/none/scale`)).at("details");
  assert.deepEqual(await named(`/apis/apps/v1/namespaces/${namespace}/deployments`), {
    name: "none",
    group: "apps",
    kind: "deployments/scale",
  });
  assert.deepEqual(await named(`/apis/apps/v1/namespaces/${namespace}/statefulsets`), {
    name: "none",
    group: "apps",
    kind: "statefulsets",
  });
  assert.deepEqual(await named(`/api/v1/namespaces/${namespace}/replicationcontrollers`), {
    name: "none",
    group: "autoscaling",
    kind: "replicationcontrollers/scale",
  });
});

for (const [name, type, field] of [
  [
    "a strategic patch keeps the low bits of an integer too large for its field",
    strategic,
    "spec.minReadySeconds",
  ],
  ["apply keeps the low bits of an integer too large for its field", apply, "spec.minReadySeconds"],
  ["a merge patch refuses an integer too large for its field", merge, "patch"],
] as const)
  test(name, async () => {
    const path = `/apis/apps/v1/namespaces/${await place()}/deployments`;
    await must(201, "POST", path, { body: { metadata: { name: "d" }, spec: workload } });
    const body = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "d" },
      spec: { minReadySeconds: 2147483648 },
    };
    const refused = await must(422, "PATCH", `${path}/d?fieldManager=m`, { type, body });
    assert.equal(refused.at("details.causes.0.field"), field);
  });

test("scale shows and sets the replicas of a workload", async () => {
  const path = `/apis/apps/v1/namespaces/${await place()}/deployments`;
  await must(201, "POST", path, { body: { metadata: { name: "d" }, spec: { replicas: 2, ...workload } } });
  const scale = await must(200, "GET", `${path}/d/scale`);
  assert.deepEqual(
    [scale.at("kind"), scale.at("apiVersion"), scale.at("spec.replicas"), scale.at("status")],
    ["Scale", "autoscaling/v1", 2, { replicas: 0, selector: "a=b" }],
  );
  const replaced = await must(200, "PUT", `${path}/d/scale?fieldManager=scaler`, {
    body: { ...scale.json, spec: { replicas: 5 } },
  });
  assert.equal(replaced.at("spec.replicas"), 5);
  assert.equal((await must(200, "GET", `${path}/d`)).at("spec.replicas"), 5);
  await must(409, "PUT", `${path}/d/scale`, { body: { ...scale.json, spec: { replicas: 6 } } });
  assert.equal(
    (await must(200, "PATCH", `${path}/d/scale`, { type: merge, body: { spec: { replicas: 7 } } })).at(
      "spec.replicas",
    ),
    7,
  );
  const before = (await must(200, "GET", `${path}/d`)).at("metadata.resourceVersion");
  assert.equal(
    (await must(200, "PATCH", `${path}/d/scale`, { type: merge, body: { spec: { replicas: 7 } } })).at(
      "metadata.resourceVersion",
    ),
    before,
  );
  await must(422, "PATCH", `${path}/d/scale`, { type: merge, body: { spec: { replicas: -1 } } });
  await must(400, "PUT", `${path}/d/scale`, { body: { ...scale.json, metadata: { name: "other" } } });
  const yours = {
    apiVersion: "autoscaling/v1",
    kind: "Scale",
    metadata: { name: "d" },
    spec: { replicas: 9 },
  };
  assert.equal(
    (await ask("PATCH", `${path}/d/scale?fieldManager=other`, { type: apply, body: yours })).status,
    409,
  );
  await must(200, "PATCH", `${path}/d/scale?fieldManager=other&force=true`, { type: apply, body: yours });
  assert.equal((await must(200, "GET", `${path}/d`)).at("spec.replicas"), 9);
  await must(200, "PATCH", `${path}/d/scale?dryRun=All`, { type: merge, body: { spec: { replicas: 1 } } });
  assert.equal((await must(200, "GET", `${path}/d/scale`)).at("spec.replicas"), 9);
  await must(404, "GET", `${path}/none/scale`);
  await must(405, "DELETE", `${path}/d/scale`);
});
