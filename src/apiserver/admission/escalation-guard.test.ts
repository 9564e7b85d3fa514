import assert from "node:assert/strict";
import { test } from "node:test";
import type { AdmissionAttributes } from "#admission";
import { dialects } from "#dialect";
import { escalationGuard } from "./escalation-guard.ts";

/** Returns the name for which the verb `escalate` is checked. */
async function checkedName(pathName: string | undefined): Promise<string | undefined> {
  let checked: string | undefined;
  const authorizer = {
    decide: ({ resource }: { readonly resource?: { readonly name: string } }) => {
      checked = resource?.name;
      return { verdict: "allow", reason: "" };
    },
  };
  const guard = escalationGuard({ authorizer, rbac: {} } as never, dialects.orch);
  await guard.mutate!({
    resource: { group: "rbac.authorization.orch.io", version: "v1", resource: "clusterroles" },
    subresource: "",
    namespace: "",
    name: "r",
    pathName,
    user: { name: "bob", groups: [] },
    object: { metadata: { name: "r" }, rules: [] },
  } as Partial<AdmissionAttributes> as AdmissionAttributes);
  return checked;
}

test("permission to escalate one role does not extend to a role sent to the collection", async () => {
  assert.equal(await checkedName(""), "");
  assert.equal(await checkedName("r"), "r");
  assert.equal(await checkedName(undefined), "r");
});
