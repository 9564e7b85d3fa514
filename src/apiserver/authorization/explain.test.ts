import assert from "node:assert/strict";
import { test } from "node:test";
import { explainHeader, explanationAnnotation } from "#authz";
import { dialectNamed } from "#dialect";
import { serve } from "../server.fixture.ts";

const suffix = dialectNamed("orch")!.wire.groupSuffix;
const reviews = `/apis/authorization.${suffix}/v1/subjectaccessreviews`;
const rbac = `/apis/rbac.authorization.${suffix}/v1`;
const explained = { [explainHeader]: "true" };
const pods = { apiGroups: [""], resources: ["pods"], verbs: ["list"] };
const user = (name: string) => ({ name, groups: ["system:authenticated"] });

async function prepared() {
  const served = await serve();
  const { must } = served;
  const allow = async (name: string, rules: object[], ...users: string[]): Promise<void> => {
    await must(201, "POST", `${rbac}/clusterroles`, { body: { metadata: { name }, rules } });
    if (users.length === 0) return;
    await must(201, "POST", `${rbac}/clusterrolebindings`, {
      body: {
        metadata: { name },
        roleRef: { apiGroup: `rbac.authorization.${suffix}`, kind: "ClusterRole", name },
        subjects: users.map((each) => ({
          kind: "User",
          name: each,
          apiGroup: `rbac.authorization.${suffix}`,
        })),
      },
    });
  };
  await allow("pod-lister", [pods], "ann");
  await allow("one-pod", [{ ...pods, resourceNames: ["web"] }]);
  await allow(
    "asker",
    [{ apiGroups: [`authorization.${suffix}`], resources: ["subjectaccessreviews"], verbs: ["create"] }],
    "asker",
    "reader",
  );
  await allow(
    "reader",
    [{ apiGroups: [`rbac.authorization.${suffix}`], resources: ["*"], verbs: ["list"] }],
    "reader",
  );
  return served;
}

test("a review explains the decision on request, and names roles only to users who may list them", async () => {
  const { must } = await prepared();
  const review = async (userName: string, asker: string, headers: Record<string, string> = explained) => {
    const resourceAttributes = { verb: "list", resource: "pods", namespace: "default" };
    const body = { spec: { user: userName, resourceAttributes } };
    const answer = await must(201, "POST", reviews, { body, headers, trusted: user(asker) });
    const annotation = (answer.at("metadata.annotations") as Record<string, string> | undefined)?.[
      explanationAnnotation
    ];
    return annotation === undefined ? undefined : (JSON.parse(annotation) as Record<string, unknown>);
  };
  const binding = 'ClusterRoleBinding "pod-lister" of ClusterRole "pod-lister" to User "ann"';
  assert.deepEqual(await review("ann", "reader"), { decidedBy: "RBAC", binding, rule: pods });
  assert.deepEqual(await review("ann", "asker"), { decidedBy: "RBAC", binding });
  assert.equal(await review("ann", "reader", {}), undefined);
  const { wouldAllow } = (await review("bob", "reader")) as { wouldAllow: { role: string; rule: object }[] };
  assert.deepEqual(wouldAllow[0], { role: "ClusterRole pod-lister", rule: pods });
  assert.deepEqual(await review("bob", "asker"), {});
});

test("a 403 names the narrowest allowing rule on request, to users who may list roles; others get the usual text", async () => {
  const { must } = await prepared();
  const refusal = async (who: string, headers: Record<string, string>): Promise<unknown> =>
    (await must(403, "GET", "/api/v1/namespaces/default/pods", { headers, trusted: user(who) })).at(
      "message",
    );
  const usual = (who: string): string =>
    `pods is forbidden: User "${who}" cannot list resource "pods" in API group "" in the namespace "default"`;
  assert.equal(await refusal("reader", {}), usual("reader"));
  assert.equal(await refusal("bob", explained), usual("bob"));
  assert.equal(await refusal("asker", explained), usual("asker"));
  assert.equal(
    await refusal("reader", explained),
    `${usual("reader")}: the rule {APIGroups:[""], Resources:["pods"], Verbs:["list"]} of ClusterRole pod-lister would allow it`,
  );
});
