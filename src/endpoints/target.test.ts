import assert from "node:assert/strict";
import { test } from "node:test";
import { parseQuery } from "#http";
import { type Target, isTrue, parseTarget } from "./target.ts";

const target = (method: string, url: string): Target => {
  const [path, search = ""] = url.split("?") as [string, string | undefined];
  return parseTarget(method, path, parseQuery(search));
};

type Expected = Partial<Target>;
const core = { group: "", version: "v1" };
const apps = { group: "apps", version: "v1" };
const resources: [method: string, url: string, expected: Expected][] = [
  ["GET", "/api/v1/namespaces", { ...core, verb: "list", resource: "namespaces" }],
  ["POST", "/api/v1/namespaces", { ...core, verb: "create", resource: "namespaces" }],
  [
    "GET",
    "/api/v1/namespaces/n",
    { ...core, verb: "get", resource: "namespaces", name: "n", namespace: "n", named: true },
  ],
  [
    "DELETE",
    "/api/v1/namespaces/n",
    { ...core, verb: "delete", resource: "namespaces", name: "n", namespace: "n", named: true },
  ],
  [
    "PUT",
    "/api/v1/namespaces/n/status",
    {
      ...core,
      verb: "update",
      resource: "namespaces",
      name: "n",
      namespace: "n",
      named: true,
      subresource: "status",
    },
  ],
  [
    "PUT",
    "/api/v1/namespaces/n/finalize",
    {
      ...core,
      verb: "update",
      resource: "namespaces",
      name: "n",
      namespace: "n",
      named: true,
      subresource: "finalize",
    },
  ],
  ["GET", "/api/v1/namespaces/n/pods", { ...core, verb: "list", resource: "pods", namespace: "n" }],
  [
    "GET",
    "/api/v1/namespaces/n/pods/p",
    { ...core, verb: "get", resource: "pods", namespace: "n", name: "p", named: true },
  ],
  [
    "HEAD",
    "/api/v1/namespaces/n/pods/p",
    { ...core, verb: "get", resource: "pods", namespace: "n", name: "p", named: true },
  ],
  [
    "PATCH",
    "/api/v1/namespaces/n/pods/p/status",
    {
      ...core,
      verb: "patch",
      resource: "pods",
      namespace: "n",
      name: "p",
      named: true,
      subresource: "status",
    },
  ],
  [
    "DELETE",
    "/api/v1/namespaces/n/pods",
    { ...core, verb: "deletecollection", resource: "pods", namespace: "n" },
  ],
  [
    "GET",
    "/api/v1/namespaces/n/pods/p/proxy/a/b/",
    {
      ...core,
      verb: "get",
      resource: "pods",
      namespace: "n",
      name: "p",
      named: true,
      subresource: "proxy",
      rest: "a/b",
    },
  ],
  ["GET", "/api/v1/pods", { ...core, verb: "list", resource: "pods" }],
  ["GET", "/api/v1/pods/", { ...core, verb: "list", resource: "pods" }],
  ["GET", "/api/v1/pods?watch=true", { ...core, verb: "watch", resource: "pods" }],
  ["GET", "/api/v1/pods?watch=1", { ...core, verb: "watch", resource: "pods" }],
  ["GET", "/api/v1/pods?watch", { ...core, verb: "watch", resource: "pods" }],
  ["GET", "/api/v1/pods?watch=maybe", { ...core, verb: "watch", resource: "pods" }],
  ["GET", "/api/v1/pods?watch=false", { ...core, verb: "list", resource: "pods" }],
  ["GET", "/api/v1/pods?watch=0", { ...core, verb: "list", resource: "pods" }],
  [
    "GET",
    "/api/v1/namespaces/n/pods/p?watch=true",
    { ...core, verb: "get", resource: "pods", namespace: "n", name: "p", named: true },
  ],
  ["GET", "/api/v1/watch/pods", { ...core, verb: "watch", resource: "pods" }],
  [
    "GET",
    "/api/v1/watch/namespaces/n/pods/p",
    { ...core, verb: "watch", resource: "pods", namespace: "n", name: "p", named: true },
  ],
  [
    "GET",
    "/api/v1/watch/namespaces/n",
    { ...core, verb: "watch", resource: "namespaces", namespace: "n", name: "n", named: true },
  ],
  ["GET", "/apis/apps/v1/deployments", { ...apps, verb: "list", resource: "deployments" }],
  [
    "GET",
    "/apis/apps/v1/namespaces/n/deployments/d/scale",
    {
      ...apps,
      verb: "get",
      resource: "deployments",
      namespace: "n",
      name: "d",
      named: true,
      subresource: "scale",
    },
  ],
  ["GET", "/apis/apps/v1/watch/deployments", { ...apps, verb: "watch", resource: "deployments" }],
  [
    "GET",
    "/api/v1/pods?fieldSelector=metadata.name=p",
    { ...core, verb: "list", resource: "pods", name: "p" },
  ],
  [
    "GET",
    "/api/v1/pods?watch=1&fieldSelector=metadata.name%3D%3Dp,spec.nodeName%3Dx",
    { ...core, verb: "watch", resource: "pods", name: "p" },
  ],
  [
    "GET",
    "/api/v1/pods?fieldSelector=metadata.name%3Da%5C,b",
    { ...core, verb: "list", resource: "pods", name: "a,b" },
  ],
  ["GET", "/api/v1/pods?fieldSelector=metadata.name!=p", { ...core, verb: "list", resource: "pods" }],
  ["GET", "/api/v1/pods?fieldSelector=xmetadata.name=p", { ...core, verb: "list", resource: "pods" }],
  [
    "GET",
    "/api/v1/namespaces/n/pods/q?fieldSelector=metadata.name=p",
    { ...core, verb: "get", resource: "pods", namespace: "n", name: "q", named: true },
  ],
  [
    "DELETE",
    "/api/v1/namespaces/n/pods?fieldSelector=metadata.name=p",
    { ...core, verb: "deletecollection", resource: "pods", namespace: "n" },
  ],
  ["GET", "/api/v1/watch/pods?fieldSelector=metadata.name=p", { ...core, verb: "watch", resource: "pods" }],
  [
    "POST",
    "/api/v1/namespaces/n/pods?fieldSelector=metadata.name=p",
    { ...core, verb: "create", resource: "pods", namespace: "n" },
  ],
  [
    "GET",
    "/api/v1/namespaces/n/pods/a%20b",
    { ...core, verb: "get", resource: "pods", namespace: "n", name: "a b", named: true },
  ],
  [
    "GET",
    "/api/v1/namespaces/n/pods/%C3%A4",
    { ...core, verb: "get", resource: "pods", namespace: "n", name: "ä", named: true },
  ],
  [
    "GET",
    "/api/v1/namespaces/n/pods/a%2Fb",
    { ...core, verb: "get", resource: "pods", namespace: "n", name: "a", named: true, subresource: "b" },
  ],
  ["OPTIONS", "/api/v1/pods", { ...core, verb: "", resource: "pods" }],
  ["BREW", "/api/v1/pods", { ...core, verb: "", resource: "pods" }],
];
for (const [method, url, expected] of resources) {
  test(`${method} ${url} is about a resource`, () => {
    const { path, ...found } = target(method, url);
    assert.deepEqual(found, {
      isResource: true,
      namespace: "",
      name: "",
      named: false,
      subresource: "",
      rest: "",
      ...expected,
    });
    assert.equal(path, decodeURIComponent(url.split("?")[0]!));
  });
}

const others: [method: string, url: string, verb: string, path?: string][] = [
  ["GET", "/", "get"],
  ["GET", "", "get"],
  ["GET", "/api", "get"],
  ["GET", "/api/v1", "get"],
  ["GET", "/api/v1/", "get"],
  ["GET", "/apis", "get"],
  ["GET", "/apis/apps", "get"],
  ["GET", "/apis/apps/v1", "get"],
  ["GET", "/api/v1/watch", "get"],
  ["GET", "/apis/apps/v1/watch/", "get"],
  ["POST", "/healthz", "post"],
  ["HEAD", "/version", "head"],
  ["GET", "/apiv1/pods/x/y", "get"],
  ["GET", "//api/v1/pods", "get"],
  ["GET", "/metrics?watch=1", "get", "/metrics"],
  ["GET", "/a%20b", "get", "/a b"],
];
for (const [method, url, verb, path] of others) {
  test(`${method} ${url || "nothing"} is about a path`, () => {
    const found = target(method, url);
    assert.deepEqual([found.isResource, found.verb, found.path], [false, verb, path ?? url]);
  });
}

const empties = [
  "/api//pods",
  "/api/v1//pods",
  "/api/v1/namespaces///pods",
  "/api/v1/namespaces/n//p",
  "/apis//v1/pods",
  "/apis/apps//pods",
];
for (const url of empties) {
  test(`a path with an empty segment, ${url}, is about a resource that is not served`, () => {
    const { isResource, resource } = target("GET", url);
    assert.deepEqual([isResource, resource], [true, ""]);
  });
}
test("an empty namespace is reported as missing", () => {
  const { namespaceMissing, namespace, resource, verb } = target("GET", "/api/v1/namespaces//pods");
  assert.deepEqual([namespaceMissing, namespace, resource, verb], [true, "", "pods", "list"]);
});
test("slashes at the end of a path do not matter, except to proxies", () => {
  assert.equal(target("GET", "/api/v1/namespaces///").verb, "list");
  assert.equal(target("GET", "/api/v1/namespaces/n/pods//").resource, "pods");
  assert.equal(target("GET", "/api/v1/nodes/n/proxy//").rest, "");
});
test("the segment after an empty name is a subresource of the collection", () => {
  const { verb, resource, name, named, subresource } = target("GET", "/api/v1/namespaces/n/configmaps//a");
  assert.deepEqual([verb, resource, name, named, subresource], ["list", "configmaps", "", false, "a"]);
  assert.equal(target("GET", "/api/v1/namespaces//status").subresource, "status");
});
test("the segment after an empty one is a name", () => {
  assert.deepEqual(
    [target("GET", "/api/v1//pods").name, target("GET", "/api/v1/namespaces/n//p").name],
    ["pods", "p"],
  );
  assert.equal(target("GET", "/api/v1/namespaces/n//p").namespace, "n");
});

const broken = [
  "/api/v1/namespaces/n/pods/%",
  "/api/v1/namespaces/n/pods/%zz",
  "/api/v1/namespaces/n/pods/%ff",
];
for (const url of broken)
  test(`a path with an invalid escape, ${url}, is not a resource path and is kept unchanged`, () =>
    assert.deepEqual([target("GET", url).isResource, target("GET", url).path], [false, url]));

test("a path is parsed equally on repeated requests", () => {
  const urls = [...resources, ...others].map(([method, url]) => [method, url] as const);
  for (const [method, url] of [...urls, ...empties.map((empty) => ["GET", empty] as const)]) {
    // A path with an escape is not cached.
    const fresh = target(method, url.replace("/api", "/%61pi"));
    for (let time = 0; time < 3; time++) assert.deepEqual(target(method, url), fresh);
    for (const below of ["/x", "/x?watch=1", "/status", "/x/status", "//", "/"])
      assert.deepEqual(
        target("DELETE", url.split("?")[0]! + below),
        target("DELETE", url.split("?")[0]!.replace("/api", "/%61pi") + below),
      );
  }
});

test("a boolean parameter is true unless it is false or 0", () => {
  for (const [value, expected] of [
    ["", true],
    ["true", true],
    ["yes", true],
    ["False", false],
    ["0", false],
    [undefined, false],
  ] as const)
    assert.equal(isTrue(value), expected);
});
