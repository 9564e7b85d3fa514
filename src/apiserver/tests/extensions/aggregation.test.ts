import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { after, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { virtualClock } from "#base";
import { eventually } from "#kit";
import { type Json, each, serve } from "../../server.fixture.ts";
import { type FakeAgent, fakeAgent } from "../virtual/connect/agent.fixture.ts";

const served = await serve();
const { must, ask } = served;
const services = "/apis/apiregistration.orch.io/v1/apiservices";

/** The users that request the OpenAPI v2 document, and the OpenAPI v3 index if the backend has one. */
const requesters: unknown[] = [];
/** The group that the backend lists in aggregated discovery, if any. */
let modern: object | undefined;
let newer: Json | undefined;
const description = "/openapi/v2";
/** Overrides the backend's OpenAPI v2 document. */
let oddDescription: string | undefined;
/** Overrides the backend's response to discovery requests. */
let odd: ((response: ServerResponse) => void) | undefined;
const paths: Json = {};
const described = (request: IncomingMessage): Json => {
  requesters.push(request.headers["x-remote-user"]);
  return { swagger: "2.0", paths, definitions: { "com.example.Thing": { description: "A thing." } } };
};

const answer = (request: IncomingMessage, response: ServerResponse): void => {
  const path = request.url ?? "";
  if (path.endsWith("/redirect")) response.writeHead(302, { location: "https://elsewhere.example/" }).end();
  else if (path.endsWith("/moved")) response.writeHead(301).end();
  else if (path.endsWith("/packed")) response.writeHead(200, { "content-encoding": "gzip" }).end();
  else if (path.endsWith("/unchanged")) response.writeHead(304, { "content-encoding": "gzip" }).end();
  else if (path.endsWith("/switched"))
    response.socket!.end("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n");
  else if (path.endsWith("/nothing")) response.socket!.end("HTTP/1.1 000 No\r\ncontent-length: 0\r\n\r\n");
  else if (path === description) response.end(oddDescription ?? JSON.stringify(described(request)));
  else if (path === "/openapi/v3") response.writeHead(newer ? 200 : 404).end(JSON.stringify(newer));
  else if (path === "/apis" && modern) {
    const form = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
    const right = request.headers.accept === form;
    response.writeHead(right ? 200 : 406, { "content-type": form }).end(JSON.stringify({ items: [modern] }));
  } else if (modern && request.headers.accept !== undefined && path.endsWith("/v1"))
    response.writeHead(406).end();
  else if (odd && /^\/apis\/[^/]+\/v1$/.test(path)) odd(response);
  else if (/^\/apis\/[^/]+\/v1$/.test(path))
    response.end(
      JSON.stringify({
        kind: "APIResourceList",
        resources: [
          { name: "things", singularName: "thing", namespaced: true, kind: "Thing", verbs: ["get"] },
        ],
      }),
    );
  else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ hello: path }));
};

const backend: FakeAgent = await fakeAgent({ answer });
after(() => backend[Symbol.asyncDispose]());

let count = 0;

/** Registers the backend for a new group and waits until it is available. */
async function register({ must, place } = served, { port } = backend): Promise<string> {
  const namespace = await place();
  const group = `agg${++count}.example.com`;
  const schema = { $ref: "#/definitions/com.example.Thing" };
  paths[`/apis/${group}/v1/things`] = { get: { responses: { 200: { description: "OK", schema } } } };
  await must(201, "POST", `/api/v1/namespaces/${namespace}/services`, {
    body: {
      metadata: { name: "agg" },
      spec: { type: "ExternalName", externalName: "localhost", ports: [{ port }] },
    },
  });
  const spec = {
    group,
    version: "v1",
    groupPriorityMinimum: 1000,
    versionPriority: 15,
    insecureSkipTLSVerify: true,
    service: { namespace, name: "agg", port },
  };
  await must(201, "POST", services, { body: { metadata: { name: `v1.${group}` }, spec } });
  await eventually(
    async () =>
      (await must(200, "GET", `${services}/v1.${group}`)).at("status.conditions.0.status") === "True",
  );
  return group;
}

test("the server's own versions are registered as local ones", async () => {
  const apps = await must(200, "GET", `${services}/v1.apps`);
  assert.deepEqual(
    [apps.at("spec"), apps.at("status.conditions.0.reason")],
    [{ group: "apps", version: "v1", groupPriorityMinimum: 17800, versionPriority: 15 }, "Local"],
  );
  const names = each((await must(200, "GET", services)).at("items"), "metadata.name");
  assert.ok(names.includes("v1.") && names.includes("v1.apiextensions.orch.io"));
});

test("requests for an aggregated version are forwarded with the identity of the user", async () => {
  const group = await register();
  const path = `/apis/${group}/v1/namespaces/x/things/a`;
  const before = backend.headers.length;
  const got = await must(200, "GET", `${path}?y=1`, {
    headers: { "x-remote-user": "forged", "x-remote-extra-z": "1", authorization: "Bearer secret" },
    trusted: { name: "ann", groups: ["dev", "system:masters"], extra: { "a/b": ["c"] } },
  });
  assert.deepEqual(got.json, { hello: `${path}?y=1` });
  const sent = backend.headers.slice(before).find((headers) => headers["x-remote-user"] === "ann")!;
  assert.deepEqual(
    [sent["x-remote-user"], sent["x-remote-group"], sent["x-remote-extra-a%2fb"], sent["x-remote-extra-z"]],
    ["ann", "dev, system:masters", "c", undefined],
  );
  assert.equal(sent.authorization, undefined);
});

test("names of users are forwarded as UTF-8", async () => {
  const group = await register();
  const before = backend.headers.length;
  await must(200, "GET", `/apis/${group}/v1/things`, {
    trusted: { name: "Łukasz", groups: ["Größe", "system:masters"], extra: { k: ["é"] } },
  });
  const sent = backend.headers.slice(before).at(-1)!;
  const utf8 = (name: string): string => Buffer.from(String(sent[name]), "latin1").toString();
  assert.deepEqual(["x-remote-user", "x-remote-group", "x-remote-extra-k"].map(utf8), [
    "Łukasz",
    "Größe, system:masters",
    "é",
  ]);
});

for (const [name, trusted] of [
  ["X-Remote-User", { name: "a\r\nX-Remote-Group: system:masters", groups: ["system:masters"] }],
  ["X-Remote-Group", { name: "a", groups: ["b\nX-Remote-User: c", "system:masters"] }],
  ["x-remote-extra-k", { name: "a", groups: ["system:masters"], extra: { k: ["\0"] } }],
] as const)
  test(`a user with a control character in ${name} is not forwarded`, async () => {
    const group = await register();
    const before = backend.headers.length;
    const answer = await ask("GET", `/apis/${group}/v1/things`, { trusted });
    assert.deepEqual(
      [answer.status, answer.text],
      [503, `net/http: invalid header field value for "${name}"\n`],
    );
    assert.ok(backend.headers.slice(before).every((sent) => sent["x-remote-user"] !== "a"));
  });

test("the discovery of an aggregated server is requested as an administrator", async () => {
  const before = backend.headers.length;
  await register();
  const identities = backend.headers.slice(before).map((headers) => [headers["x-remote-user"], headers["x-remote-group"]]); // prettier-ignore
  assert.ok(
    identities.some(([user, group]) => user === "system:orch-aggregator" && group === "system:masters"),
    String(identities),
  );
});

test("an update of an API service requires its resource version, and its name is its version", async () => {
  const spec = { group: "named.example.com", version: "v1", groupPriorityMinimum: 1, versionPriority: 1 };
  const name = "v1.named.example.com";
  const refused = await must(422, "POST", services, {
    body: { metadata: { name, generateName: "x" }, spec },
  });
  assert.equal(refused.at("details.causes.0.field"), "metadata.generateName");
  await must(201, "POST", services, { body: { metadata: { name }, spec } });
  const blind = await must(422, "PUT", `${services}/${name}`, { body: { metadata: { name }, spec } });
  assert.equal(blind.at("details.causes.0.field"), "metadata.resourceVersion");
  await must(200, "DELETE", `${services}/${name}`);
});

test("a response without a body is not unpacked", async () => {
  const group = await register();
  const packed = await must(200, "HEAD", `/apis/${group}/v1/packed`);
  assert.equal(packed.headers["content-encoding"], "gzip");
  await must(304, "GET", `/apis/${group}/v1/unchanged`);
});

test("a response that switches protocols unasked, or has no possible status, is an error", async () => {
  const group = await register();
  const message = async (path: string): Promise<string> =>
    (await must(503, "GET", `/apis/${group}/v1/${path}`)).text;
  assert.match(await message("switched"), /backend tried to switch protocol "x" when "" was requested/);
  assert.match(await message("nothing"), /malformed HTTP status code "000"/);
});

test("redirects of an aggregated server with a location are rejected", async () => {
  const group = await register();
  assert.equal((await ask("GET", `/apis/${group}/v1/redirect`)).status, 502);
  assert.equal((await ask("GET", `/apis/${group}/v1/moved`)).status, 301);
});

test("discovery lists the groups of aggregated servers", async () => {
  const group = await register();
  const groups = (await must(200, "GET", "/apis")).at("groups") as Json[];
  assert.ok(groups.some(({ name }) => name === group));
  const accept = "application/json;g=apidiscovery.orch.io;v=v2beta1;as=APIGroupDiscoveryList";
  const items = (await must(200, "GET", "/apis", { accept })).at("items") as {
    metadata: Json;
    versions: Json[];
  }[];
  const found = items.find(({ metadata }) => metadata["name"] === group)!;
  assert.deepEqual(each(found.versions[0]!["resources"], "resource"), ["things"]);
});

test("aggregated discovery of another server is passed on, with a kind for each resource", async (t) => {
  const resources = [{ resource: "jobs", verbs: ["list"], shortNames: ["jz"] }];
  modern = { metadata: { name: `agg${count + 1}.example.com` }, versions: [{ version: "v1", resources }] };
  t.after(() => (modern = undefined));
  const group = await register();
  const accept = "application/json;g=apidiscovery.orch.io;v=v2beta1;as=APIGroupDiscoveryList";
  const listed = async (): Promise<unknown> => {
    const items = (await must(200, "GET", "/apis", { accept })).at("items") as {
      metadata: Json;
      versions: Json[];
    }[];
    return items.find(({ metadata }) => metadata["name"] === group)?.versions[0]!["resources"];
  };
  await eventually(async () => each(await listed(), "resource").includes("jobs"));
  const kind = { group: "", version: "", kind: "" };
  assert.deepEqual(await listed(), [
    { ...resources[0], responseKind: kind, scope: "", singularResource: "" },
  ]);
  const wrong = [{ resource: "jobs", verbs: "list" }];
  modern = { ...modern, versions: [{ version: "v1", resources: wrong }] };
  const other = await register();
  modern = { ...modern, metadata: { name: other } };
  const freshness = async (): Promise<unknown> => {
    const { json } = await must(200, "GET", "/apis", { accept });
    const found = (json["items"] as Json[]).find(({ metadata }) => (metadata as Json)["name"] === other);
    return found?.["versions"];
  };
  const stale = [{ version: "v1", freshness: "Stale" }];
  await eventually(async () => isDeepStrictEqual(await freshness(), stale));
});

test("resources of an aggregated server without a name or parent are listed unchanged", async (t) => {
  t.after(() => (odd = undefined));
  const resources = [
    null,
    { name: "things/status", kind: "Thing", verbs: ["get"] },
    { name: "a/b/c", zz: 1 },
  ];
  odd = (response) => void response.end(JSON.stringify({ resources }));
  const group = await register();
  const accept = "application/json;g=apidiscovery.orch.io;v=v2beta1;as=APIGroupDiscoveryList";
  const { json } = await must(200, "GET", "/apis", { accept });
  const found = (json["items"] as Json[]).find(({ metadata }) => (metadata as Json)["name"] === group)!;
  const none = { group: "", version: "", kind: "" };
  const whole = (resource: string): Json => ({
    resource,
    responseKind: none,
    scope: "Cluster",
    singularResource: "",
    verbs: null,
  });
  const part = (subresource: string, kind: string, verbs: string[] | null): Json => ({
    subresource,
    responseKind: { ...none, kind },
    verbs,
  });
  assert.deepEqual((found["versions"] as Json[])[0], {
    version: "v1",
    resources: [
      whole(""),
      { ...whole("things"), subresources: [part("status", "Thing", ["get"])] },
      { ...whole("a"), subresources: [part("b/c", "", null)] },
    ],
    freshness: "Current",
  });
});

const oddities: [name: string, answer: (response: ServerResponse) => void][] = [
  [
    "breaks off",
    (response) => {
      response.writeHead(200, { "content-length": 100 }).write("{");
      setImmediate(() => response.destroy());
    },
  ],
  ["is plain text", (response) => void response.end("hello")],
  ["is of another kind", (response) => void response.end('{"kind":"Status"}')],
  [
    "has a value of the wrong type",
    (response) => void response.end('{"kind":"APIResourceList","resources":[{"name":"a","verbs":5}]}'),
  ],
  [
    "has subresources of another scope than their resource",
    (response) => void response.end('{"resources":[{"name":"a","namespaced":true},{"name":"a/b"}]}'),
  ],
  ["is empty", (response) => void response.writeHead(204).end()],
];
for (const [name, answered] of oddities)
  test(`a server whose discovery ${name} is listed, with its version marked stale`, async (t) => {
    t.after(() => (odd = undefined));
    odd = answered;
    const group = await register();
    const accept = "application/json;g=apidiscovery.orch.io;v=v2beta1;as=APIGroupDiscoveryList";
    const { json } = await must(200, "GET", "/apis", { accept });
    const found = (json["items"] as Json[]).find(({ metadata }) => (metadata as Json)["name"] === group)!;
    assert.deepEqual(found["versions"], [{ version: "v1", freshness: "Stale" }]);
    await must(404, "GET", `/apis/${group}/v1/watch`);
    await must(200, "GET", `/apis/${group}/v1/watch/things`);
  });

test("a missing service makes its version unavailable", async () => {
  const group = `agg${++count}.example.com`;
  const spec = {
    group,
    version: "v1",
    groupPriorityMinimum: 1000,
    versionPriority: 15,
    service: { namespace: "default", name: "missing" },
  };
  await must(201, "POST", services, { body: { metadata: { name: `v1.${group}` }, spec } });
  await eventually(
    async () =>
      (await must(200, "GET", `${services}/v1.${group}`)).at("status.conditions.0.reason") ===
      "ServiceNotFound",
  );
  assert.equal((await ask("GET", `/apis/${group}/v1/things`)).status, 503);
  await must(200, "DELETE", `${services}/v1.${group}`);
  await eventually(async () => (await ask("GET", `/apis/${group}/v1/things`)).status === 404);
});

const wrong: [name: string, spec: Json, causes: string[]][] = [
  [
    "priorities out of range",
    { groupPriorityMinimum: 0, versionPriority: 1001 },
    ["spec.groupPriorityMinimum", "spec.versionPriority"],
  ],
  [
    "both insecureSkipTLSVerify and a CA bundle",
    { insecureSkipTLSVerify: true, caBundle: "YQ==" },
    ["spec.insecureSkipTLSVerify"],
  ],
  ["a service without a name", { service: { namespace: "x" } }, ["spec.service.name"]],
];
for (const [name, more, fields] of wrong) {
  test(`an API service is refused: ${name}`, async () => {
    const spec = {
      group: "bad.example.com",
      version: "v1",
      groupPriorityMinimum: 1000,
      versionPriority: 15,
      service: { namespace: "x", name: "y" },
      ...more,
    };
    const body = { metadata: { name: "v1.bad.example.com" }, spec };
    const found = (await must(422, "POST", services, { body })).at("details.causes");
    assert.deepEqual((each(found, "field") as string[]).sort(), fields);
  });
}

/** Reports whether the OpenAPI document has the path, without parsing megabytes on every call. */
const describes = async (path: string): Promise<boolean> =>
  (await must(200, "GET", "/openapi/v2")).text.includes(`"${path}":`);

test("the OpenAPI document of an aggregated server is part of this server's document", async () => {
  const group = await register();
  const path = `/apis/${group}/v1/things`;
  await eventually(async () => await describes(path));
  const document = (await must(200, "GET", "/openapi/v2")).json;
  assert.deepEqual((document["definitions"] as Json)["com.example.Thing"], { description: "A thing." });
  assert.deepEqual([...new Set(requesters)], ["system:aggregator"]);
  const name = `apis/${group}/v1`;
  const url = await eventually(async () => {
    const index = (await must(200, "GET", "/openapi/v3")).at("paths") as Record<string, Json>;
    return index[name]?.["serverRelativeURL"];
  });
  const converted = await must(200, "GET", String(url));
  assert.deepEqual(Object.keys(converted.at("paths") as Json), [path]);
  assert.deepEqual(converted.at("components.schemas"), { "com.example.Thing": { description: "A thing." } });
});

test("a failed request for an OpenAPI document is repeated at the next check", async () => {
  const clock = virtualClock(Date.now());
  const requests: string[] = [];
  await using failing = await fakeAgent({
    answer: (request, response) => {
      const path = request.url ?? "";
      const isFirst = path === description && !requests.includes(description);
      requests.push(path);
      if (isFirst) request.socket.destroy();
      else answer(request, response);
    },
  });
  await register(await serve({ clock }), failing);
  await eventually(async () => requests.indexOf(description) < requests.lastIndexOf(description), { clock });
  const between = requests.slice(requests.indexOf(description) + 1, requests.lastIndexOf(description));
  assert.equal(between.filter((path) => path.startsWith("/apis/")).length, 1, requests.join(" "));
});

test("an OpenAPI document with an invalid path is ignored, and documents without a URL are listed", async (t) => {
  const group = `agg${count + 1}.example.com`;
  const name = `apis/${group}/v1`;
  newer = { paths: { [name]: null } };
  paths["/apis/odd"] = 5;
  t.after(() => {
    newer = undefined;
    delete paths["/apis/odd"];
  });
  await register();
  await eventually(async () => {
    const index = (await must(200, "GET", "/openapi/v3")).at("paths") as Record<string, Json>;
    return index[name]?.["serverRelativeURL"] === "";
  });
  const described = (await must(200, "GET", "/openapi/v2")).at("paths") as Json;
  assert.equal(Object.hasOwn(described, `/apis/${group}/v1/things`), false);
});

test("versions missing from an OpenAPI v3 index are not generated from the v2 document", async (t) => {
  newer = [] as unknown as Json;
  t.after(() => (newer = undefined));
  const group = await register();
  await eventually(async () => await describes(`/apis/${group}/v1/things`));
  const index = (await must(200, "GET", "/openapi/v3")).at("paths") as Json;
  assert.equal(Object.hasOwn(index, `apis/${group}/v1`), false);
});

test("OpenAPI v3 documents of an aggregated server are listed, and requested from it", async () => {
  const name = `apis/agg${count + 1}.example.com/v1`;
  const url = `/openapi/v3/${name}?hash=ABC`;
  newer = { paths: { [name]: { serverRelativeURL: url } } };
  await register();
  const listed = async (): Promise<Json | undefined> =>
    ((await must(200, "GET", "/openapi/v3")).at("paths") as Record<string, Json>)[name];
  await eventually(async () => (await listed())?.["serverRelativeURL"] === url);
  const answered = await eventually(async () => {
    const answer_ = await ask("GET", url);
    return answer_.status === 200 && answer_;
  });
  assert.deepEqual(answered.json, { hello: url });
});

test("a condition of an API service is true, false or unknown", async () => {
  const spec = {
    group: "nobody.example.com",
    version: "v1",
    groupPriorityMinimum: 100,
    versionPriority: 10,
    service: { namespace: "none", name: "none" },
  };
  const name = "v1.nobody.example.com";
  await must(201, "POST", services, { body: { metadata: { name }, spec } });
  const body = { status: { conditions: [{ type: "Available", status: "Maybe" }] } };
  const { causes } = await must(422, "PATCH", `${services}/${name}/status`, {
    type: "application/merge-patch+json",
    body,
  });
  assert.deepEqual(causes, ["NotSupported status.conditions[0].status"]);
});

test("a backend whose description is nested too deep does not affect the documents of others", async () => {
  const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
  const name = `apis/agg${count + 1}.example.com/v1`;
  oddDescription = `{"paths":{"/${name}/things":{"get":${deep}}},"definitions":{"A":{"a":${deep}}}}`;
  newer = { paths: { [name]: { serverRelativeURL: `/openapi/v3/${name}` } } };
  await register();
  const isDescribed = async (): Promise<boolean> =>
    name in ((await must(200, "GET", "/openapi/v3")).at("paths") as Json);
  await eventually(isDescribed);
  assert.equal((await must(200, "GET", "/openapi/v2")).text.includes(name), false);
  oddDescription = undefined;
  newer = undefined;
});
