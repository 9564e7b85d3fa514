import assert from "node:assert/strict";
import { test } from "node:test";
import type { OwnerInfo, TimelineLane } from "../api/wire.ts";
import { matching, rowsOf } from "./rows.ts";

const owner = (kind: string, name: string): OwnerInfo => ({
  kind,
  name,
  uid: `${kind}-${name}`,
  controller: true,
});
const lane = (
  kind: string,
  name: string,
  owners: OwnerInfo[] = [],
  counts: Record<string, number> = { Normal: 1 },
): TimelineLane => ({
  object: { kind, name, namespace: "shop", uid: `${kind}-${name}` },
  owners,
  counts,
  first: "",
  last: "",
});
const web = owner("Deployment", "web");
const set = owner("ReplicaSet", "web-1");
const shown = (lanes: TimelineLane[], closed: string[] = []) =>
  rowsOf(lanes, new Set(closed)).map(
    ({ depth, object: { kind, name }, total, warnings }) =>
      `${"  ".repeat(depth)}${kind}/${name} ${total}/${warnings}`,
  );

test("objects are listed below their owners, with counts summed up", () => {
  assert.deepEqual(
    shown([
      lane("Deployment", "web"),
      lane("ReplicaSet", "web-1", [web]),
      lane("Pod", "web-1-a", [set, web], { Normal: 2, Warning: 3 }),
      lane("Pod", "alone"),
    ]),
    ["Deployment/web 7/3", "  ReplicaSet/web-1 6/3", "    Pod/web-1-a 5/3", "Pod/alone 1/0"],
  );
});

test("an owner without entries gets a row", () => {
  assert.deepEqual(shown([lane("Pod", "a", [set, web])]), [
    "Deployment/web 1/0",
    "  ReplicaSet/web-1 1/0",
    "    Pod/a 1/0",
  ]);
});

test("an owner whose lane follows has a single row", () => {
  assert.deepEqual(shown([lane("Pod", "a", [set, web]), lane("ReplicaSet", "web-1", [web])]), [
    "Deployment/web 2/0",
    "  ReplicaSet/web-1 2/0",
    "    Pod/a 1/0",
  ]);
});

test("rows below a collapsed one are hidden but counted", () => {
  assert.deepEqual(shown([lane("Pod", "a", [set, web])], [web.uid]), ["Deployment/web 1/0"]);
});

test("cyclic owner references are handled", () => {
  const a = owner("Pod", "a");
  const b = owner("Pod", "b");
  assert.equal(
    shown([lane("Pod", "a", [b, a]), lane("Pod", "b", [a, b]), lane("Pod", "c", [owner("Pod", "c")])]).length,
    3,
  );
});

test("many lanes are processed in linear time", () => {
  const many = Array.from({ length: 5000 }, (_, at) => lane("Pod", `p-${at}`, [set, web]));
  assert.equal(rowsOf(many, new Set()).length, 5002);
});

test("words match names, kinds, namespaces and owners", () => {
  const lanes = [lane("Pod", "a", [set]), lane("Node", "b")];
  const names = (...words: string[]) => matching(lanes, words).map(({ object }) => object.name);
  assert.deepEqual(names(), ["a", "b"]);
  assert.deepEqual(names("WEB"), ["a"]);
  assert.deepEqual(names("node", "shop"), ["b"]);
  assert.deepEqual(names("node", "web"), []);
});
