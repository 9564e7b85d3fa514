import assert from "node:assert/strict";
import { test } from "node:test";
import type { Filter } from "./filter.ts";
import type { ObjectName } from "./lane.ts";
import { OwnerGraph } from "./owner-graph.ts";

const object = (kind: string, namespace: string, name: string): ObjectName => ({
  group: "",
  kind,
  namespace,
  name,
  uid: `uid-${name}`,
});
const by = (kind: string, name: string) => ({ kind, name, uid: `uid-${name}` });
const nothing = { object: () => false } as unknown as Filter;

const pod = object("Pod", "b", "pod");
const set = object("Set", "b", "set");
/** In b a pod below a set, a deployment and a cluster-scoped root, and in a pods that refer to them. */
function graphs(): OwnerGraph {
  const graph = new OwnerGraph();
  graph.set({ ...pod, owners: [by("Set", "set")] });
  graph.set({ ...set, owners: [by("Deployment", "deployment")] });
  graph.set({ ...object("Deployment", "b", "deployment"), owners: [by("Root", "root")] });
  graph.set({ ...object("Pod", "a", "stranger"), owners: [by("Set", "set")] });
  graph.set({ ...object("Pod", "a", "own"), owners: [by("Root", "root")] });
  return graph;
}
const names = (found: readonly { readonly name: string }[]): string[] => found.map(({ name }) => name);

test("a chain does not lead to another namespace", () => {
  const graph = graphs();
  assert.deepEqual(names(graph.chain(pod)), ["set", "deployment", "root"]);
  assert.deepEqual(names(graph.chain(object("Pod", "a", "stranger"))), ["set"]);
});

test("only the object itself has its owners, not another one with its uid", () => {
  const graph = graphs();
  for (const other of [{ namespace: "a" }, { namespace: "" }, { kind: "Secret" }, { group: "g" }]) {
    assert.deepEqual(graph.chain({ ...pod, ...other }), []);
    assert.deepEqual(graph.ancestors({ ...pod, ...other }), []);
  }
});

test("descendants are in the namespace of the root, unless it is cluster-scoped", () => {
  const graph = graphs();
  const below = (root: ObjectName): string[] => [...graph.below(graph.roots([root], nothing))].sort();
  assert.deepEqual(below(set), ["b/uid-pod"]);
  assert.deepEqual(below({ ...set, namespace: "a" }), ["a/uid-stranger"]);
  assert.deepEqual(below(object("Root", "", "root")), [
    "a/uid-own",
    "b/uid-deployment",
    "b/uid-pod",
    "b/uid-set",
  ]);
  graph.delete("uid-pod");
  assert.deepEqual(below(set), []);
  assert.deepEqual(below({ ...set, namespace: "a" }), ["a/uid-stranger"]);
});

test("ancestors are those of the namespace, and cluster-scoped ones", () => {
  const graph = graphs();
  const isBelow = (child: ObjectName, root: ObjectName): boolean => {
    const roots = graph.roots([root], nothing);
    return graph.ancestors(child).some((each) => roots.has(each));
  };
  assert.ok(isBelow(pod, set));
  assert.ok(isBelow(pod, object("Root", "", "root")));
  assert.ok(!isBelow(object("Pod", "a", "stranger"), set));
  assert.ok(!isBelow(object("Pod", "a", "stranger"), object("Deployment", "b", "deployment")));
});

test("owners without a lane are roots in the namespaces of their dependents", () => {
  const graph = graphs();
  const isSet = { object: ({ kind }: ObjectName) => kind === "Set" } as unknown as Filter;
  assert.deepEqual([...graph.roots([], isSet)].sort(), ["a/uid-set", "b/uid-set"]);
  graph.delete("uid-stranger");
  assert.deepEqual([...graph.roots([], isSet)], ["b/uid-set"]);
});
