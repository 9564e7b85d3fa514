import assert from "node:assert/strict";
import { test } from "node:test";
import { CallError, type Client, type Query } from "../api/client.ts";
import { loadNamespaces, loadNodes, loadPods, loadProblems } from "./load.ts";

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
  const { pods, isPart } = await loadPods(scope, signal);
  assert.deepEqual([pods.length, isPart, requests.length], [5000, true, 10]);
});

test("problems of pods are shown without access to nodes", async () => {
  const { scope } = scopeOf({ "/api/v1/pods": empty, "/t/timelines": empty });
  assert.deepEqual(await loadProblems(scope, signal, 0), { list: [], isPart: false });
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
    (await loadNamespaces(scope, signal)).map(({ name, warnings }) => `${name} ${warnings}`),
    ["c 7", "a 0", "b 0"],
  );
});
