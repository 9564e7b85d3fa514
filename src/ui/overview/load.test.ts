import assert from "node:assert/strict";
import { test } from "node:test";
import { CallError, type Client, type Query } from "../api/client.ts";
import { loadNamespaces, loadNodes, loadPages, loadProblems } from "./load.ts";

const signal = new AbortController().signal;

function scopeOf(answers: Record<string, (query: Query) => unknown>, namespace = "") {
  const requests: string[] = [];
  const client = {
    json: async (path: string, query: Query = {}) => {
      requests.push(path);
      const answer = answers[path];
      if (!answer) throw new CallError(403, "Forbidden", path);
      return answer(query);
    },
  } as unknown as Client;
  return { scope: { client, timeline: "/t", namespace }, requests };
}
const empty = () => ({ metadata: {}, items: [] });

test("pods are loaded page by page, up to a limit", async () => {
  const page = Array.from({ length: 500 }, () => ({}));
  const { scope, requests } = scopeOf({
    "/api/v1/pods": () => ({ metadata: { continue: "x" }, items: page }),
  });
  const { items, isPart } = await loadPages(scope.client, "/api/v1/pods", signal);
  assert.deepEqual([items.length, isPart, requests.length], [5000, true, 10]);
});

test("problems of pods are shown without access to nodes", async () => {
  const { scope } = scopeOf({ "/api/v1/pods": empty, "/t/timelines": empty });
  assert.deepEqual(await loadProblems(scope, signal, 0), { list: [], unchecked: [] });
});

test("a node that is not ready is found on any page, and unchecked objects are reported", async () => {
  const node = (name: string, status: string) => ({
    metadata: { name, uid: name },
    status: { conditions: [{ type: "Ready", status }] },
  });
  const { scope } = scopeOf({
    "/api/v1/pods": ({ continue: next }) => ({
      metadata: { continue: "x" },
      items: next ? Array.from({ length: 5000 }, () => ({ metadata: {}, status: {} })) : [],
    }),
    "/t/timelines": empty,
    "/api/v1/nodes": ({ continue: next }) =>
      next
        ? { metadata: {}, items: [node("b", "Unknown")] }
        : { metadata: { continue: "x" }, items: [node("a", "True")] },
  });
  const { list, unchecked } = await loadProblems(scope, signal, 0);
  assert.deepEqual(
    list.map(({ object }) => object.name),
    ["b"],
  );
  assert.deepEqual(unchecked, ["pods"]);
});

test("in a namespace, only that namespace is requested", async () => {
  const { scope, requests } = scopeOf(
    { "/api/v1/namespaces/shop/pods": empty, "/t/namespaces/shop/timelines": empty },
    "shop",
  );
  await loadProblems(scope, signal, 0);
  assert.deepEqual(requests, ["/api/v1/namespaces/shop/pods", "/t/namespaces/shop/timelines"]);
});

test("the usage of nodes comes from the metrics API, if available", async () => {
  const node = { metadata: { name: "n" } };
  const nodes = () => ({ metadata: {}, items: [node] });
  const measured = scopeOf({
    "/api/v1/nodes": nodes,
    "/apis": () => ({
      groups: [{ name: "metrics.test", preferredVersion: { groupVersion: "metrics.test/v1beta1" } }],
    }),
    "/apis/metrics.test/v1beta1/nodes": () => ({ items: [{ ...node, usage: { cpu: "1" } }] }),
  });
  assert.equal((await loadNodes(measured.scope, signal)).use.get("n")?.usage["cpu"], "1");
  const bare = scopeOf({ "/api/v1/nodes": nodes, "/apis": () => ({ groups: [] }) });
  assert.equal((await loadNodes(bare.scope, signal)).use.size, 0);
});

test("namespaces with warnings are listed first", async () => {
  const namespace = (name: string) => ({ metadata: { name }, status: { phase: "Active" } });
  const { scope } = scopeOf({
    "/api/v1/namespaces": () => ({ metadata: {}, items: [namespace("b"), namespace("a"), namespace("c")] }),
    "/t/buckets": () => ({ groups: [{ by: { namespace: "c" }, total: 7 }] }),
  });
  assert.deepEqual(
    (await loadNamespaces(scope, signal)).items.map(({ name, warnings }) => `${name} ${warnings}`),
    ["c 7", "a 0", "b 0"],
  );
});

test("of many namespaces, those with warnings are listed", async () => {
  const page = (from: number) =>
    Array.from({ length: 500 }, (_, at) => ({ metadata: { name: `n${from + at}` }, status: {} }));
  const { scope } = scopeOf({
    "/api/v1/namespaces": ({ continue: next }) =>
      next ? { metadata: {}, items: page(500) } : { metadata: { continue: "x" }, items: page(0) },
    "/t/buckets": () => ({ groups: [{ by: { namespace: "n999" }, total: 1 }] }),
  });
  const { items, isPart } = await loadNamespaces(scope, signal);
  assert.deepEqual([items.length, items[0]?.name, isPart], [500, "n999", true]);
});
