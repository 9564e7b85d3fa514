import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { ConfigMap } from "#api";
import { type DialectName, dialects } from "#dialect";
import { encodeEnvelope, protobufCodec } from "#schema";
import { type Asking, coreEvent, each, serve } from "../../server.fixture.ts";
import { maxFields } from "#endpoints";

const { ask, must, place } = await serve();
const maps = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;
const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { x: "1" } };

for (const name of ["orch", "kubernetes"] satisfies DialectName[]) {
  const dialect = dialects[name];
  const served = await serve({ dialect: name });
  const type = dialect.wire.protobufMediaType;
  const envelope = (raw: Uint8Array, kind = "ConfigMap", apiVersion = "v1"): Uint8Array =>
    encodeEnvelope({ apiVersion, kind }, raw, dialect.wire.protobufMagic);
  const raw = (more: object = {}): Uint8Array =>
    protobufCodec(ConfigMap).encode({ ...body, ...more } as never);

  test(`${name}: an object sent as protobuf equals the object sent as JSON`, async () => {
    const path = maps(await served.place());
    const made = await served.must(201, "POST", path, { type, body: envelope(raw()) });
    assert.deepEqual([made.at("metadata.name"), made.at("data")], ["a", { x: "1" }]);
    const replaced = await served.must(200, "PUT", `${path}/a`, {
      type,
      body: envelope(raw({ data: { x: "2" } })),
    });
    assert.equal(replaced.at("data.x"), "2");
  });

  test(`${name}: unknown protobuf fields are ignored`, async () => {
    const path = maps(await served.place());
    // Field 900 as a string, field 901 as a number, both before and after the known fields.
    const unknown = Buffer.from([0xa2, 0x38, 0x03, 0x61, 0x62, 0x63, 0xa8, 0x38, 0x05]);
    const made = await served.must(201, "POST", path, {
      type,
      body: envelope(Buffer.concat([unknown, raw(), unknown])),
    });
    assert.deepEqual(made.at("data"), { x: "1" });
    await served.must(400, "POST", path, {
      type,
      body: envelope(Buffer.concat([raw(), Buffer.from([0xa2, 0x38, 0x7f])])),
    });
  });

  test(`${name}: a protobuf body with too many elements is too large`, async () => {
    // An empty finalizer takes two bytes.
    const finalizers = Buffer.alloc(2 * (maxFields + 1)).fill(Buffer.from([0x72, 0x00]));
    const length = Buffer.from([
      (finalizers.length & 127) | 128,
      ((finalizers.length >> 7) & 127) | 128,
      finalizers.length >> 14,
    ]);
    const answer = await served.ask("POST", maps("default"), {
      type,
      body: envelope(Buffer.concat([Buffer.from([0x0a]), length, finalizers])),
    });
    assert.deepEqual(
      [answer.status, answer.at("reason")],
      [413, "RequestEntityTooLarge"],
      answer.text.slice(0, 200),
    );
  });

  const broken: [name: string, body: Uint8Array | string][] = [
    ["nothing", ""],
    ["a missing envelope", raw()],
    ["JSON", JSON.stringify(body)],
    ["a truncated envelope", envelope(raw()).subarray(0, 20)],
    ["another kind", envelope(raw(), "Secret")],
    ["another version", envelope(raw(), "ConfigMap", "v2")],
    ["a message with invalid lengths", envelope(Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]))],
  ];
  for (const [what, given] of broken) {
    test(`${name}: ${what} instead of protobuf is refused`, async () => {
      const answer = await served.ask("POST", maps("default"), { type, body: given });
      assert.deepEqual([answer.status, answer.at("reason")], [400, "BadRequest"], answer.text);
    });
  }
}

const refusals: [name: string, asking: Asking, status: number, message?: RegExp][] = [
  ["an empty body", { body: "" }, 400],
  ["invalid JSON", { body: "{" }, 400],
  ["null, which is treated as an empty object,", { body: "null" }, 422],
  ["a list", { body: "[]" }, 400],
  ["a string", { body: '"a"' }, 400],
  ["two objects", { body: `${JSON.stringify(body)}${JSON.stringify(body)}` }, 400],
  ["invalid UTF-8", { body: Buffer.from([0x7b, 0xff, 0xfe, 0x7d]) }, 400],
  ["another kind", { body: { ...body, kind: "Secret" } }, 400, /Secret.*cannot be handled as a ConfigMap/],
  [
    "another kind, which cannot be decoded as the expected one",
    { body: { ...body, kind: "Secret", data: 7 } },
    400,
    /Secret in version \\?"v1\\?" cannot be handled as a ConfigMap: converting/,
  ],
  ["another version", { body: { ...body, apiVersion: "v2" } }, 400],
  ["a value of the wrong type", { body: { ...body, data: { x: 1 } } }, 400, /data/],
  ["a string for the metadata", { body: { ...body, metadata: "a" } }, 400],
  ["an unknown media type", { body, type: "text/plain" }, 415],
  ["an unknown charset of a known type", { body, type: "application/json; charset=utf-8" }, 201],
  [
    "a compressed body",
    { body: gzipSync(JSON.stringify(body)), headers: { "content-encoding": "gzip" } },
    400,
    /json parse error: invalid character/,
  ],
  ["a body with identity encoding", { body, headers: { "content-encoding": "identity" } }, 201],
  ["invalid YAML", { body: "a: [", type: "application/yaml" }, 400],
  ["deep nesting", { body: `{"metadata":${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}}` }, 400],
  ["deep lists", { body: `{"data":${"[".repeat(50_000)}${"]".repeat(50_000)}}` }, 400],
  [
    "a YAML bomb",
    {
      body: "a: &a [x,x,x,x,x,x,x,x,x]\n".concat(
        ...Array.from(
          { length: 12 },
          (_e, i) =>
            `${String.fromCharCode(98 + i)}: &${String.fromCharCode(98 + i)} [${`*${String.fromCharCode(97 + i)},`.repeat(8)}]\n`,
        ),
      ),
      type: "application/yaml",
    },
    400,
  ],
];
for (const [name, asking, status, message] of refusals) {
  test(`a creation with ${name} answers ${status}`, async () => {
    const answer = await ask("POST", `${maps(await place())}?dryRun=All`, asking);
    assert.equal(answer.status, status, answer.text.slice(0, 300));
    if (message) assert.match(String(answer.at("message")), message);
  });
}

test("the maximum size of a body is three megabytes", async () => {
  const path = `${maps(await place())}?dryRun=All`;
  const padded = (bytes: number): string => `{"metadata":{"name":"a"}${" ".repeat(bytes - 25)}}`;
  await must(201, "POST", path, { body: padded(3 * 1024 * 1024) });
  const answer = await must(413, "POST", path, { body: padded(3 * 1024 * 1024 + 1) });
  assert.equal(answer.at("reason"), "RequestEntityTooLarge");
});

test("creation outside of a namespace, or in a missing or terminating one, is refused", async () => {
  await must(405, "POST", "/api/v1/configmaps", { body });
  const absent = await must(404, "POST", maps("nowhere"), { body });
  assert.equal(absent.at("details.kind"), "namespaces");
  const going = await place();
  await must(200, "DELETE", `/api/v1/namespaces/${going}`);
  const refused = await must(403, "POST", maps(going), { body });
  assert.deepEqual(refused.causes, ["NamespaceTerminating metadata.namespace"]);
  await must(404, "PUT", `/api/v1/namespaces/nowhere/events/a`, { body: coreEvent("a", "nowhere") });
  await must(403, "PUT", `/api/v1/namespaces/${going}/events/a`, { body: coreEvent("a", going) });
});

test("a replacement must be the object that the path names", async () => {
  const namespace = await place();
  const path = `${maps(namespace)}/a`;
  await must(201, "POST", maps(namespace), { body });
  await must(400, "PUT", path, { body: { ...body, metadata: { name: "b" } } });
  await must(400, "PUT", path, { body: { ...body, metadata: {} } });
  await must(400, "PUT", path, { body: { ...body, metadata: { name: "a", namespace: "other" } } });
  await must(404, "PUT", `${maps(namespace)}/none`, { body: { ...body, metadata: { name: "none" } } });
  assert.equal((await must(200, "PUT", path, { body: { ...body, data: { x: "2" } } })).at("data.x"), "2");
});

test("exactly one of several concurrent replacements of a version succeeds", async () => {
  const path = maps(await place());
  const { json } = await must(201, "POST", path, { body });
  const outcomes = await Promise.all(
    Array.from({ length: 10 }, (_each, i) =>
      ask("PUT", `${path}/a`, { body: { ...json, data: { x: `n${i}` } } }),
    ),
  );
  assert.deepEqual(outcomes.map(({ status }) => String(status)).toSorted(), [
    "200",
    ...Array.from({ length: 9 }, () => "409"),
  ]);
  const winner = outcomes.find(({ status }) => status === 200)!;
  assert.deepEqual((await must(200, "GET", `${path}/a`)).json, winner.json);
});

test("unsupported methods answer 405, unknown paths 404", async () => {
  const path = maps("default");
  for (const [method, where] of [
    ["PUT", path],
    ["PATCH", path],
    ["POST", `${path}/a`],
    ["HEAD", path],
    ["HEAD", `${path}/a`],
    ["OPTIONS", path],
    ["DELETE", "/api/v1/configmaps"],
    ["DELETE", "/api/v1/namespaces"],
  ] as const)
    assert.equal((await ask(method, where)).status, 405, `${method} ${where}`);
  for (const where of [
    "/api/v1/unheard",
    "/api/v2/pods",
    "/apis/apps/v9/deployments",
    `${path}/a/status`,
    `${path}/a/b/c`,
    "/api/v1/configmaps/a",
    "/api/v1/namespaces/default/nodes",
    "/apis/unheard/v1/x",
  ])
    assert.equal((await ask("GET", where)).status, 404, where);
});

test("keys such as __proto__, and values in any script, are preserved", async () => {
  const path = maps(await place());
  const text =
    '{"metadata":{"name":"a","annotations":{"example.com/x":"日本 \u{1f600} \\u0000"}},"data":{"__proto__":"own","constructor":"c","toString":"t"}}';
  await must(201, "POST", path, { body: text });
  const keys = async (): Promise<string[]> =>
    Object.keys((await must(200, "GET", `${path}/a`)).at("data") as object).toSorted();
  assert.ok((await must(200, "GET", `${path}/a`)).text.includes("日本 \u{1f600} \\u0000"));
  assert.deepEqual(await keys(), ["__proto__", "constructor", "toString"]);
  const patched = await must(200, "PATCH", `${path}/a`, {
    type: "application/merge-patch+json",
    body: '{"data":{"__proto__":"changed","hasOwnProperty":"h"}}',
  });
  assert.ok(patched.text.includes('"__proto__":"changed"'), patched.text);
  assert.deepEqual(await keys(), ["__proto__", "constructor", "hasOwnProperty", "toString"]);
  await must(200, "PATCH", `${path}/a?fieldManager=me&force=true`, {
    type: "application/apply-patch+yaml",
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"__proto__":"applied"}}',
  });
  assert.ok((await must(200, "GET", `${path}/a`)).text.includes('"__proto__":"applied"'));
});

test("deleting a collection ends at the first object that is refused", async () => {
  const path = maps(await place());
  const uids: unknown[] = [];
  for (const name of ["a", "b", "c"])
    uids.push((await must(201, "POST", path, { body: { metadata: { name } } })).at("metadata.uid"));
  const left = async (): Promise<unknown[]> =>
    each((await must(200, "GET", path)).at("items"), "metadata.name");
  await must(409, "DELETE", path, { body: { preconditions: { uid: uids[1] } } });
  assert.deepEqual(await left(), ["a", "b", "c"]);
  await must(409, "DELETE", path, { body: { preconditions: { uid: uids[0] } } });
  assert.deepEqual(await left(), ["b", "c"]);
});

test("deleting a collection removes the matching objects, page by page, and keeps the rest", async () => {
  const path = maps(await place());
  for (const [name, x] of [
    ["a", "1"],
    ["b", "1"],
    ["c", "2"],
    ["d", "1"],
  ] as const)
    await must(201, "POST", path, { body: { metadata: { name, labels: { x } } } });
  const names = async (): Promise<unknown[]> =>
    each((await must(200, "GET", path)).at("items"), "metadata.name");
  const dry = await must(200, "DELETE", `${path}?dryRun=All`);
  assert.deepEqual(
    [dry.at("kind"), each(dry.at("items"), "metadata.name"), await names()],
    ["ConfigMapList", ["a", "b", "c", "d"], ["a", "b", "c", "d"]],
  );
  const first = await must(200, "DELETE", `${path}?labelSelector=x%3D1&limit=2`);
  assert.deepEqual(
    [each(first.at("items"), "metadata.name"), await names()],
    [
      ["a", "b"],
      ["c", "d"],
    ],
  );
  const second = await must(
    200,
    "DELETE",
    `${path}?labelSelector=x%3D1&limit=2&continue=${first.at("metadata.continue")}`,
  );
  assert.deepEqual([each(second.at("items"), "metadata.name"), await names()], [["d"], ["c"]]);
  await must(200, "DELETE", `${path}?fieldSelector=metadata.name%3Dnone`);
  assert.deepEqual(await names(), ["c"]);
  await must(400, "DELETE", `${path}?continue=nonsense`);
  await must(422, "DELETE", `${path}?propagationPolicy=Sideways`);
  await must(422, "DELETE", path, { body: { dryRun: ["Some"] } });
  await must(200, "DELETE", path, { body: { kind: "DeleteOptions", apiVersion: "v1", dryRun: ["All"] } });
  assert.deepEqual(await names(), ["c"]);
  await must(200, "DELETE", path);
  assert.deepEqual(await names(), []);
});

const deleteBodies: [name: string, body: unknown, status: number][] = [
  ["missing", undefined, 200],
  ["empty", "", 200],
  ["an empty object", {}, 200],
  ["options of the core group", { kind: "DeleteOptions", apiVersion: "v1" }, 200],
  ["options of the meta group", { kind: "DeleteOptions", apiVersion: "meta.orch.io/v1" }, 200],
  ["another kind", { kind: "Pod", apiVersion: "v1" }, 400],
  ["invalid JSON", "{", 400],
  ["null", "null", 200],
  ["a string for the grace period", { gracePeriodSeconds: "soon" }, 400],
];
for (const [name, given, status] of deleteBodies) {
  test(`a deletion whose body is ${name} answers ${status}`, async () => {
    const path = maps(await place());
    await must(201, "POST", path, { body });
    const answer = await ask("DELETE", `${path}/a`, given === undefined ? {} : { body: given });
    assert.equal(answer.status, status, answer.text);
    await must(status === 200 ? 404 : 200, "GET", `${path}/a`);
  });
}

test("a deletion returns what was deleted, and options in the body take precedence over the query", async () => {
  const path = maps(await place());
  const { json } = await must(201, "POST", path, { body });
  await must(200, "DELETE", `${path}/a?dryRun=All`, { body: { dryRun: ["All"] } });
  const answer = await must(200, "DELETE", `${path}/a?dryRun=All`, {
    body: { preconditions: { uid: (json["metadata"] as { uid: string }).uid } },
  });
  assert.deepEqual(
    [answer.at("status"), answer.at("details")],
    ["Success", { name: "a", kind: "configmaps", uid: (json["metadata"] as { uid: string }).uid }],
  );
  await must(404, "GET", `${path}/a`);
});

const order: [name: string, method: string, query: string, asking: Asking, status: number][] = [
  [
    "creation checks the media type of the body before its options",
    "POST",
    "dryRun=x",
    { type: "text/plain", body: "x" },
    415,
  ],
  [
    "creation checks the size of the body before its options",
    "POST",
    "dryRun=x",
    { body: `"${"x".repeat(3 * 1024 * 1024)}"` },
    413,
  ],
  [
    "replacement checks the options before the media type of the body",
    "PUT",
    "dryRun=x",
    { type: "text/plain", body: "x" },
    422,
  ],
  [
    "deletecollection checks the selector before the delete options",
    "DELETE",
    "dryRun=x&fieldSelector=data.x%3D1",
    {},
    400,
  ],
];
for (const [name, method, query, asking, status] of order) {
  test(name, async () => {
    const path = maps(await place());
    await must(status, method, `${method === "PUT" ? `${path}/a` : path}?${query}`, asking);
  });
}

test("an error is encoded in the first accepted media type for plain objects", async () => {
  const accept = "application/yaml;as=Table;g=meta.orch.io;v=v1,application/json";
  assert.match((await must(404, "GET", `${maps("default")}/none`, { accept })).text, /^\{/);
});

test("the export parameter is ignored", async () => {
  const path = maps(await place());
  await must(201, "POST", path, { body });
  assert.match(String((await must(400, "GET", `${path}/a?export=true`)).at("message")), /export/);
  await must(200, "GET", `${path}/a?export=false`);
});

const unreadable: [name: string, asking: Asking, message: string][] = [
  [
    "nothing",
    { body: "" },
    "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
  ],
  [
    "a version that is a number",
    { body: '{"apiVersion":1,"kind":"ConfigMap"}' },
    `the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .apiVersion of type string ({"apiVersion":1,"kind":"Config ...)`,
  ],
  [
    "data of another type",
    { body: '{"data":1}' },
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string',
  ],
];
for (const [name, asking, message] of unreadable) {
  test(`the reason why ${name} cannot be decoded is reported`, async () =>
    assert.equal((await must(400, "POST", maps("default"), asking)).at("message"), message));
}

test("system priority classes cannot be deleted, others can", async () => {
  const path = "/apis/scheduling.orch.io/v1/priorityclasses";
  const refused = await must(403, "DELETE", `${path}/system-node-critical`);
  assert.match(
    String(refused.at("message")),
    /"system-node-critical" is forbidden: this is a system priority class and cannot be deleted/,
  );
  await must(200, "GET", `${path}/system-node-critical`);
  await must(201, "POST", path, { body: { metadata: { name: "mine" }, value: 1 } });
  await must(200, "DELETE", `${path}/mine`);
});

test("duplicate owners are reported for a replacement of a missing object, too", async () => {
  const path = `${maps(await place())}/gone`;
  const owner = { apiVersion: "v1", kind: "Node", name: "n", uid: "u" };
  const { headers } = await must(404, "PUT", path, {
    body: { ...body, metadata: { name: "gone", ownerReferences: [owner, owner] } },
  });
  assert.match(
    String(headers["warning"]),
    /\.metadata\.ownerReferences contains duplicate entries; .* observed: u/,
  );
});

test("the apiVersion of the core group may start with a slash", async () => {
  const made = await must(201, "POST", maps(await place()), { body: { ...body, apiVersion: "/v1" } });
  assert.equal(made.at("apiVersion"), "v1");
});

test("a dry run that would remove the finalizers of an object returns it without them", async () => {
  const path = maps(await place());
  await must(201, "POST", path, { body });
  await must(200, "DELETE", `${path}/a?propagationPolicy=Foreground`);
  const shown = await must(200, "DELETE", `${path}/a?propagationPolicy=Background&dryRun=All`);
  assert.equal(shown.at("kind"), "ConfigMap");
  assert.equal(shown.at("metadata.finalizers"), undefined);
  assert.notEqual(shown.at("metadata.deletionTimestamp"), undefined);
  const gone = await must(200, "DELETE", `${path}/a?propagationPolicy=Background`);
  assert.equal(gone.at("kind"), "Status");
});

test("a field manager with unprintable characters is reported with their positions", async () => {
  const path = `${maps(await place())}?fieldManager=${encodeURIComponent("é\u0001\u00a0")}`;
  const refused = await must(422, "POST", path, { body });
  assert.deepEqual(
    (refused.at("details.causes") as { message: string }[]).map(({ message }) => message),
    [
      String.raw`Invalid value: "é\x01\u00a0": invalid character U+0001 (at position 2)`,
      String.raw`Invalid value: "é\x01\u00a0": invalid character U+00A0 (at position 3)`,
    ],
  );
});
