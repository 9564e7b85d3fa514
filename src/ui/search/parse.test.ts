import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Query,
  everything,
  inNamespace,
  parseQuery,
  queryFor,
  takeSince,
  toggleWarnings,
} from "./parse.ts";

const cases: [text: string, want: Partial<Query>][] = [
  ["", {}],
  ["pods -n shop", { kinds: ["pods"], namespace: "shop" }],
  ["get po -A", { kinds: ["pods"] }],
  ["deploy/web", { kinds: ["deployments"], names: ["web"] }],
  ["deploy web -n shop", { kinds: ["deployments"], names: ["web"], namespace: "shop" }],
  ["-nshop rs", { kinds: ["replicasets"], namespace: "shop" }],
  ["--namespace=shop pod/a pod/b", { kinds: ["pods", "pods"], names: ["a", "b"], namespace: "shop" }],
  ["pods,svc", { kinds: ["pods", "services"] }],
  ["get widgets", { kinds: ["widgets"] }],
  ["widgets.example.com/big", { kinds: ["widgets.example.com"], names: ["big"] }],
  ["web", { words: ["web"] }],
  ["get events type=warning reason=BackOff,Failed", { types: ["Warning"], reasons: ["BackOff", "Failed"] }],
  ["node=worker-1 controller:scheduler", { nodes: ["worker-1"], controllers: ["scheduler"] }],
  ['pods "two words"', { kinds: ["pods"], names: ["two words"] }],
  ["kubectl get pods web-1", { kinds: ["pods"], names: ["web-1"] }],
  [
    "k logs web-1 -c app -n shop",
    { kinds: ["pods"], names: ["web-1"], namespace: "shop", unused: ["-c app"] },
  ],
  ["logs deploy/web -f", { kinds: ["deployments"], names: ["web"] }],
  [
    "events --for pod/web --types=Warning,Normal",
    { kinds: ["pods"], names: ["web"], types: ["Warning", "Normal"] },
  ],
  [
    "events --for=deploy/web --types Warning -w",
    { kinds: ["deployments"], names: ["web"], types: ["Warning"] },
  ],
  [
    "get events --field-selector involvedObject.kind=Pod,involvedObject.name=web,type=Warning --sort-by=.lastTimestamp",
    { kinds: ["pods"], names: ["web"], types: ["Warning"] },
  ],
  [
    "get ev --field-selector=reason==Failed,type!=Normal,metadata.namespace=shop",
    { reasons: ["Failed"], namespace: "shop", unused: ["--field-selector type!=Normal"] },
  ],
  ["get pods -l app=web -o wide", { kinds: ["pods"], labels: "app=web" }],
  [
    "pods --selector='app in (web)' --chunk-size=3",
    { kinds: ["pods"], labels: "app in (web)", unused: ["--chunk-size 3"] },
  ],
  ["pods app=web constructor=x", { kinds: ["pods"], unused: ["app=web", "constructor=x"] }],
  ["orch", { words: ["orch"] }],
  ["describe deploy web --show-events", { kinds: ["deployments"], names: ["web"] }],
  ["-n", {}],
  ["<b>", { words: ["<b>"] }],
];
for (const [text, want] of cases)
  test(`${JSON.stringify(text)} is parsed`, () =>
    assert.deepEqual(parseQuery(text), { ...everything, ...want }));

test("the query for an object selects it", () => {
  const object = { kind: "Deployment", namespace: "shop", name: "web" };
  assert.equal(queryFor(object), "deployment/web -n shop");
  assert.deepEqual(parseQuery(queryFor(object)), {
    ...everything,
    kinds: ["deployments"],
    names: ["web"],
    namespace: "shop",
  });
});

test("the span is extracted from a search", () => {
  assert.deepEqual(takeSince("deploy/web --since 2h -n a"), { search: "deploy/web -n a", span: 7_200_000 });
  assert.deepEqual(takeSince("--since=90s"), { search: "", span: 90_000 });
  assert.deepEqual(takeSince("pods --since=never"), { search: "pods --since=never", span: undefined });
  assert.deepEqual(takeSince("pods"), { search: "pods", span: undefined });
});

test("a search is changed to another namespace", () => {
  assert.equal(inNamespace("pods -n a web", "b"), "pods web -n b");
  assert.equal(inNamespace("pods -A", ""), "pods");
  assert.equal(inNamespace("", "b"), "-n b");
});

test("the warnings filter of a search is toggled", () => {
  assert.equal(toggleWarnings("pods -n a"), "pods -n a type=Warning");
  assert.equal(toggleWarnings("pods type=Warning -n a"), "pods -n a");
  assert.equal(toggleWarnings("pods --types Warning -n a"), "pods -n a");
  assert.equal(toggleWarnings(""), "type=Warning");
  assert.equal(toggleWarnings("type=Warning"), "");
});
