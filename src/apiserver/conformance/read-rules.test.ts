// Edge cases of lists, watches and representations, as clients of this API family expect them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { eventually } from "#kit";
import { type Answer, type Json, type Served, at, coreEvent, each, serve } from "../server.fixture.ts";

const shared = await serve();
const { must, place, watch } = shared;
const form = (as: string, version = "v1", media = "application/json"): string =>
  `${media};as=${as};v=${version};g=meta.orch.io`;
const names = (json: Json): unknown[] => each(json["items"], "metadata.name");

const maps = (...labels: readonly string[]): Promise<string> => mapsOn(shared, ...labels);
async function mapsOn({ place, must }: Served, ...labels: readonly string[]): Promise<string> {
  const path = `/api/v1/namespaces/${await place()}/configmaps`;
  for (const [index, x] of labels.entries())
    await must(201, "POST", path, { body: { metadata: { name: "abcdef"[index], labels: { x } } } });
  return path;
}

test("lists of events are paged even with resourceVersion=0", async () => {
  const namespace = await place();
  const path = `/api/v1/namespaces/${namespace}/events`;
  for (const name of ["a", "b"]) await must(201, "POST", path, { body: coreEvent(name, namespace) });
  const page = await must(200, "GET", `${path}?resourceVersion=0&limit=1`);
  assert.deepEqual(names(page.json), ["a"]);
  assert.ok(page.at("metadata.continue"));
  assert.deepEqual(
    names((await must(200, "GET", `${await maps("1", "2")}?resourceVersion=0&limit=1`)).json),
    ["a", "b"],
  );
});

test("a list selected by a single name in a namespace is not paged", async () => {
  const path = await maps("1", "2");
  const one = await must(200, "GET", `${path}?limit=1&fieldSelector=metadata.name%3Da`);
  assert.deepEqual([names(one.json), one.at("metadata.continue")], [["a"], undefined]);
  const others = await must(200, "GET", `${path}?limit=1&fieldSelector=metadata.name!%3Db`);
  assert.deepEqual([names(others.json), typeof others.at("metadata.continue")], [["a"], "string"]);
});

const named: [query: string, status: number][] = [
  ["", 200],
  ["&fieldSelector=metadata.name%3Da", 200],
  ["&fieldSelector=metadata.name%3Db", 400],
  ["&fieldSelector=metadata.name!%3Db", 400],
  ["&fieldSelector=metadata.namespace%3Db", 400],
];
// Watches that last a second.
const clock = virtualClock(Date.now());
const timed = await serve({ clock });
async function watched(path: string): Promise<Answer> {
  let answer: Answer | undefined;
  const asking = timed.ask("GET", path).then((found) => (answer = found));
  await eventually(async () => answer !== undefined, { clock });
  return await asking;
}
for (const [query, status] of named) {
  test(`a watch of one name with "${query}" answers ${status}`, async () => {
    const path = (await mapsOn(timed, "1", "2")).replace("/v1/", "/v1/watch/");
    const answer = await watched(`${path}/a?timeoutSeconds=1${query}`);
    assert.equal(answer.status, status, answer.text);
  });
}

test("the deprecated watch path is validated as a list", async () => {
  const path = await mapsOn(timed, "1");
  const old = path.replace("/v1/", "/v1/watch/");
  const rv = (await timed.must(200, "GET", path)).at("metadata.resourceVersion");
  const query = `resourceVersion=${String(rv)}&resourceVersionMatch=NotOlderThan&timeoutSeconds=1`;
  assert.equal((await watched(`${old}?${query}`)).status, 200);
  assert.deepEqual((await timed.must(422, "GET", `${old}?${query}&watch=1`)).causes, [
    "Forbidden resourceVersionMatch",
  ]);
  assert.deepEqual((await timed.must(422, "GET", `${old}?sendInitialEvents=true`)).causes, [
    "Forbidden sendInitialEvents",
  ]);
});

test("a watch of tables sends column definitions in the first event only", async () => {
  const path = await maps("1", "2");
  const watching = watch(`${path}?watch=1`, { accept: form("Table") });
  const [first, second] = await watching.next(2);
  await must(201, "POST", path, { body: { metadata: { name: "c" } } });
  const [third] = await watching.next();
  watching.stop();
  assert.equal((at(first, "object.columnDefinitions") as unknown[]).length, 3);
  assert.deepEqual(
    [at(second, "object.columnDefinitions"), at(third, "object.columnDefinitions")],
    [null, null],
  );
  assert.deepEqual(at(third, "object.rows.0.cells.0"), "c");
});

test("the rows of a table have the meta version of the table", async () => {
  const table = await must(200, "GET", await maps("1"), { accept: form("Table", "v1beta1") });
  assert.deepEqual(
    [table.at("apiVersion"), table.at("rows.0.object.apiVersion")],
    ["meta.orch.io/v1beta1", "meta.orch.io/v1beta1"],
  );
});

const binary = "application/vnd.orch.protobuf";
const accepts: [name: string, where: "list" | "object", accept: string, status: number, kind?: string][] = [
  [
    "a table in the binary form, or JSON",
    "list",
    `${form("Table", "v1", binary)},application/json`,
    200,
    "ConfigMapList",
  ],
  ["a table in the binary form", "list", form("Table", "v1", binary), 406],
  ["the metadata of one object, or JSON", "list", `${form("PartialObjectMetadata")},application/json`, 406],
  ["the metadata of a list, or JSON", "object", `${form("PartialObjectMetadataList")},application/json`, 406],
  [
    "a form of an unknown group, or JSON",
    "list",
    "application/json;as=Table;v=v1;g=example.com,application/json",
    200,
    "ConfigMapList",
  ],
  ["an unknown form, or JSON", "object", `${form("Poem")},application/json`, 200, "ConfigMap"],
  [
    "tables of two versions, or JSON",
    "list",
    `${form("Table", "v9")},${form("Table", "v1beta1")},application/json`,
    200,
    "Table",
  ],
];
const unfit: [name: string, method: string, object: string, accept: string, status: number][] = [
  ["read of a missing object", "GET", "none", form("PartialObjectMetadataList"), 404],
  ["read of an object", "GET", "a", form("PartialObjectMetadataList"), 406],
  ["read of a missing object in an unsupported media type", "GET", "none", "text/poem", 406],
  ["deletion of a missing object", "DELETE", "none", form("PartialObjectMetadataList"), 404],
  ["replacement of an object", "PUT", "a", form("PartialObjectMetadataList"), 406],
];
for (const [name, method, object, accept, status] of unfit)
  test(`the ${name} with an unsuitable Accept header answers ${status}`, async () => {
    const path = await maps("1");
    const body = { metadata: { name: "a" }, data: { changed: "yes" } };
    await must(status, method, `${path}/${object}`, { accept, ...(method === "PUT" && { body }) });
    assert.equal((await must(200, "GET", `${path}/a`)).at("data.changed"), undefined);
  });

test("a deletion is answered with a Status, whatever representation of an object is accepted", async () => {
  const path = await maps("1");
  await must(200, "DELETE", `${path}/a`, { accept: form("PartialObjectMetadataList") });
  await must(404, "GET", `${path}/a`);
});

for (const [name, where, accept, status, kind] of accepts) {
  test(`${where === "list" ? "a list" : "an object"} for a client that accepts ${name}: ${kind ?? status}`, async () => {
    const path = await maps("1");
    const answer = await must(status, "GET", where === "list" ? path : `${path}/a`, { accept });
    if (kind) assert.equal(answer.at("kind"), kind);
    else assert.equal(answer.at("details"), undefined);
  });
}

test("a watch in YAML is refused without details", async () => {
  const answer = await must(406, "GET", `${await maps()}?watch=1`, { accept: "application/yaml" });
  assert.doesNotMatch(answer.text, /details/);
});

test("an empty list of metadata has null items", async () => {
  assert.equal(
    (await must(200, "GET", await maps(), { accept: form("PartialObjectMetadataList") })).at("items"),
    null,
  );
});

const versions: [accept: string, status: number][] = [
  ["application/json", 200],
  ["text/html,*/*;q=0.1", 200],
  ["application/yaml", 406],
  ["application/xml", 406],
];
for (const [accept, status] of versions)
  test(`the version as ${accept} answers ${status}`, async () =>
    void (await must(status, "GET", "/version", { accept })));

test("every health check has a separate path, which the root path lists", async () => {
  const paths = (await must(200, "GET", "/")).at("paths") as string[];
  for (const check of [
    "ping",
    "log",
    "poststarthook/rbac/bootstrap-roles",
    "poststarthook/start-system-namespaces-controller",
  ]) {
    for (const endpoint of ["healthz", "livez", "readyz"]) {
      assert.ok(paths.includes(`/${endpoint}/${check}`), check);
      await must(200, "GET", `/${endpoint}/${check}`);
    }
  }
});

test("a watch with a negative timeout ends at once", async () => {
  await must(200, "GET", `${await maps("1")}?watch=1&timeoutSeconds=-1`);
});

const selectors: [path: string, selector: string, status: number][] = [
  ["/api/v1/namespaces", "status.phase=Active", 200],
  ["/api/v1/namespaces", "name=default", 400],
  ["/api/v1/namespaces", "metadata.namespace=x", 400],
  ["/api/v1/nodes", "metadata.namespace=x", 400],
  ["/api/v1/persistentvolumes", "metadata.namespace=x", 200],
  ["/api/v1/persistentvolumes", "name=x", 400],
  ["/api/v1/persistentvolumeclaims", "name=x", 400],
  ["/api/v1/services", "spec.type=ClusterIP", 400],
  ["/api/v1/replicationcontrollers", "status.replicas=1", 200],
  ["/apis/apps/v1/replicasets", "status.replicas=1", 400],
  ["/apis/rbac.authorization.orch.io/v1/clusterroles", "metadata.namespace=x", 200],
];
for (const [path, wanted, status] of selectors) {
  test(`${path} by ${wanted} answers ${status}`, async () => {
    const answer = await must(status, "GET", `${path}?fieldSelector=${encodeURIComponent(wanted)}`);
    if (wanted === "metadata.namespace=x" && status === 200) assert.deepEqual(answer.at("items"), []);
  });
}

test("a scale can be read as a table and as metadata", async () => {
  const path = `/apis/apps/v1/namespaces/${await place()}/deployments`;
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
  await must(201, "POST", path, {
    body: { metadata: { name: "d" }, spec: { replicas: 3, selector: { matchLabels: { a: "b" } }, template } },
  });
  const table = await must(200, "GET", `${path}/d/scale`, { accept: form("Table") });
  assert.deepEqual(each(table.at("columnDefinitions"), "name"), ["Name", "Desired", "Available", "Age"]);
  assert.deepEqual((table.at("rows.0.cells") as unknown[]).slice(0, 3), ["d", 3, 0]);
  assert.equal(
    (await must(200, "GET", `${path}/d/scale`, { accept: form("PartialObjectMetadata") })).at(
      "metadata.name",
    ),
    "d",
  );
  await must(406, "GET", `${path}/d/scale`, { accept: form("PartialObjectMetadataList") });
});

test("a continue token denotes the same position in another namespace and across all namespaces", async () => {
  const [here, there] = [await maps("1", "2", "3"), await maps("1", "2", "3")];
  const token = String((await must(200, "GET", `${here}?limit=1`)).at("metadata.continue"));
  assert.deepEqual(names((await must(200, "GET", `${here}?continue=${token}`)).json), ["b", "c"]);
  assert.deepEqual(names((await must(200, "GET", `${there}?continue=${token}`)).json), ["b", "c"]);
  // Across all namespaces the token's key is compared with namespaces: those after "a" follow.
  assert.ok(names((await must(200, "GET", `/api/v1/configmaps?continue=${token}`)).json).length >= 6);
});

test("every kind can be watched as tables, bookmarks included", async () => {
  const listing = await serve({ flags: ["--feature-gates=WatchList=true"] });
  const groups = (await listing.must(200, "GET", "/apis")).at("groups") as {
    versions: { groupVersion: string }[];
  }[];
  const roots = [
    "/api/v1",
    ...groups.flatMap(({ versions: served }) => served.map(({ groupVersion }) => `/apis/${groupVersion}`)),
  ];
  for (const root of roots) {
    const resources = (await listing.must(200, "GET", root)).at("resources") as {
      name: string;
      verbs: string[];
    }[];
    for (const { name } of resources.filter(({ verbs }) => verbs.includes("watch"))) {
      const query =
        "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=none";
      const watching = listing.watch(`${root}/${name}?${query}`, { accept: form("Table") });
      const [mark] = await watching.next();
      watching.stop();
      assert.equal(at(mark, "type"), "BOOKMARK", name);
      assert.equal(
        (at(mark, "object.rows.0.cells") as unknown[]).length,
        (at(mark, "object.columnDefinitions") as unknown[]).length,
        name,
      );
    }
  }
});
