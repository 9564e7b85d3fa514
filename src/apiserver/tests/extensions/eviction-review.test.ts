import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "../../server.fixture.ts";

const group = "admissionregistration.orch.io";
const { must, ask } = await serve({
  flags: ["--feature-gates=ValidatingAdmissionPolicy=true", `--runtime-config=${group}/v1beta1=true`],
});
const core = "/api/v1/namespaces/default";

test("admission of an eviction sees from its options that it is a dry run", async () => {
  const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods/eviction"] };
  const shown = "object.?deleteOptions.?dryRun.orValue([]).join(' ')";
  const validations = [{ expression: "false", messageExpression: `'told ' + ${shown}` }];
  const spec = { matchConstraints: { resourceRules: [rule] }, validations };
  await must(201, "POST", `/apis/${group}/v1beta1/validatingadmissionpolicies`, {
    body: { metadata: { name: "all" }, spec },
  });
  const made = await must(201, "POST", `/apis/${group}/v1beta1/validatingadmissionpolicybindings`, {
    body: { metadata: { name: "all" }, spec: { policyName: "all", validationActions: ["Deny"] } },
  });
  const version = String(made.at("metadata.resourceVersion"));
  await must(
    200,
    "GET",
    `/apis/${group}/v1beta1/validatingadmissionpolicybindings?resourceVersion=${version}`,
  );
  await must(201, "POST", `${core}/serviceaccounts`, { body: { metadata: { name: "default" } } });
  const containers = [{ name: "c", image: "i" }];
  await must(201, "POST", `${core}/pods`, { body: { metadata: { name: "one" }, spec: { containers } } });
  const verdict = async (query: string, deleteOptions?: object) => {
    const body = { metadata: { name: "one" }, ...(deleteOptions && { deleteOptions }) };
    const { json } = await ask("POST", `${core}/pods/one/eviction${query}`, { body });
    return String(json["message"]).replace(/^.*: /, "");
  };
  assert.equal(await verdict("?dryRun=All", {}), "told All");
  assert.equal(await verdict("?dryRun=All", { dryRun: ["All"] }), "told All");
  assert.equal(await verdict("?dryRun=All"), "told");
  assert.equal(await verdict("", {}), "told");
});
