import assert from "node:assert/strict";
import { test } from "node:test";
import { explanationAnnotation } from "#authz";
import { dialectNamed } from "#dialect";
import { attributesOf, authCommand, explainAccess, explanationText } from "./auth-command.ts";

const orch = dialectNamed("orch")!;
const role = (name: string, ...rules: object[]) => ({ metadata: { name }, rules });
const pods = { apiGroups: [""], resources: ["pods"], verbs: ["get", "list"] };
const all = { apiGroups: ["*"], resources: ["*"], verbs: ["*"] };

/** A server whose review returns the given status, and which has the given roles. */
function serverWith(status: object, roles: Readonly<Record<string, object[]>> | undefined) {
  const requests: unknown[] = [];
  const ask: Parameters<typeof explainAccess>[2] = async ({ path, body }) => {
    requests.push(body ?? path);
    if (body) return JSON.stringify({ status });
    if (!roles) throw new Error("forbidden");
    return JSON.stringify({ items: roles[path.split("/").at(-1)!] ?? [] });
  };
  return { ask, requests };
}

test("the review is sent with the groups that every user has", async () => {
  const { ask, requests } = serverWith({ allowed: true, reason: "RBAC: allowed by x" }, {});
  const attributes = attributesOf("system:serviceaccount:ci:bot", ["a"], "create", "pods/exec", "web", "n");
  const found = await explainAccess(attributes, orch, ask);
  assert.deepEqual(requests, [
    {
      apiVersion: "authorization.orch.io/v1",
      kind: "SubjectAccessReview",
      spec: {
        user: "system:serviceaccount:ci:bot",
        groups: ["a", "system:serviceaccounts", "system:serviceaccounts:ci", "system:authenticated"],
        resourceAttributes: {
          group: "",
          version: "*",
          resource: "pods",
          subresource: "exec",
          name: "web",
          namespace: "n",
          verb: "create",
        },
      },
    },
  ]);
  assert.equal(
    explanationText(attributes, found),
    "system:serviceaccount:ci:bot may create pods/exec web in n.\n  decided by  RBAC: allowed by x\n",
  );
});

test("a denial lists the narrowest rules of existing roles that would allow the request", async () => {
  const roles = {
    clusterroles: [role("admin", all), role("view", pods)],
    roles: [
      role("one-pod", { ...pods, verbs: ["get"], resourceNames: ["web"] }),
      role("other", { ...pods, resources: ["nodes"] }),
    ],
  };
  const attributes = attributesOf("eve", [], "get", "pods", "web", "n");
  const found = await explainAccess(attributes, orch, serverWith({ reason: "no" }, roles).ask);
  assert.deepEqual(
    found.rules?.map((each) => each.role),
    ["Role one-pod", "ClusterRole view", "ClusterRole admin"],
  );
  assert.equal(
    explanationText(attributes, found).split("\n")[2],
    '  suggestion  Role one-pod: {APIGroups:[""], Resources:["pods"], ResourceNames:["web"], Verbs:["get"]}',
  );
});

const refusals: [name: string, roles: Record<string, object[]> | undefined, last: string][] = [
  ["no role would allow it", {}, "  No rule of an existing role would allow it."],
  ["roles may not be listed", undefined, "  Roles cannot be listed, so none is suggested."],
];
for (const [name, roles, last] of refusals)
  test(`a denial reports that ${name}`, async () => {
    const attributes = attributesOf("eve", [], "get", "/metrics", "", "");
    const found = await explainAccess(attributes, orch, serverWith({}, roles).ask);
    assert.deepEqual(explanationText(attributes, found).trimEnd().split("\n"), [
      "eve may not get /metrics.",
      last,
    ]);
  });

test("a server that explains its decision reports the rule", async () => {
  const reported = JSON.stringify({ decidedBy: "RBAC", rule: pods });
  const ask = async (): Promise<string> =>
    JSON.stringify({
      metadata: { annotations: { [explanationAnnotation]: reported } },
      status: { allowed: true, reason: "RBAC: allowed by x" },
    });
  const attributes = attributesOf("eve", [], "get", "pods", "web", "n");
  assert.equal(
    explanationText(attributes, await explainAccess(attributes, orch, ask)).split("\n")[2],
    '  by the rule {APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}',
  );
});

test("groups are part of a resource's name", () => {
  const { resource } = attributesOf("a", [], "get", "deployments.apps/scale", "", "");
  assert.deepEqual(
    [resource?.resource, resource?.group, resource?.subresource],
    ["deployments", "apps", "scale"],
  );
});

test("orch auth without arguments prints its usage", async () => {
  const reported: string[] = [];
  const output = { out: (text: string) => reported.push(text), err: (text: string) => reported.push(text) };
  assert.equal(await authCommand(["why", "alice"], output), 1);
  assert.equal(await authCommand(["--help"], output), 0);
  assert.match(reported.join(""), /error: specify a user, a verb and a resource\n\nUsage: orch auth why/);
});
