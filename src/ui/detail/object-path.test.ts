import assert from "node:assert/strict";
import { test } from "node:test";
import type { Client } from "../api/client.ts";
import { objectPath } from "./object-path.ts";

const answers: Record<string, unknown> = {
  "/api/v1": {
    resources: [
      { name: "pods/status", kind: "Pod", namespaced: true },
      { name: "pods", kind: "Pod", namespaced: true },
      { name: "nodes", kind: "Node", namespaced: false },
    ],
  },
  "/apis/apps": { preferredVersion: { groupVersion: "apps/v1" } },
  "/apis/apps/v1": { resources: [{ name: "deployments", kind: "Deployment", namespaced: true }] },
};
const client = { json: (path: string) => Promise.resolve(answers[path]) } as unknown as Client;
const find = (group: string, kind: string, name = "a") =>
  objectPath(client, { group, kind, namespace: "shop", name, uid: "" }, new AbortController().signal);

test("the path of an object is found from discovery", async () => {
  assert.equal((await find("", "Pod"))?.path, "/api/v1/namespaces/shop/pods/a");
  assert.equal((await find("", "Node"))?.path, "/api/v1/nodes/a");
  assert.equal((await find("apps", "Deployment"))?.path, "/apis/apps/v1/namespaces/shop/deployments/a");
});

test("a name cannot contain a path", async () => {
  assert.equal((await find("", "Pod", "../secrets"))?.path, "/api/v1/namespaces/shop/pods/..%2Fsecrets");
});

test("a kind that is not served has no path", async () => {
  assert.equal(await find("", "Unicorn"), undefined);
});
