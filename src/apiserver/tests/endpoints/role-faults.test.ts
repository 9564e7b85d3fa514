// Validation errors of roles and bindings, in the order that clients expect.
import assert from "node:assert/strict";
import { test } from "node:test";
import { at, serve } from "../../server.fixture.ts";

const served = await serve();
const group = "rbac.authorization.orch.io";
const bindings = `/apis/${group}/v1/clusterrolebindings`;
const ann = { trusted: { name: "ann", groups: ["system:authenticated"] } };
const grant = (name: string, role: string): object => ({
  metadata: { name },
  roleRef: { apiGroup: group, kind: "ClusterRole", name: role },
  subjects: [{ apiGroup: group, kind: "User", name: "ann" }],
});

await served.must(201, "POST", `/apis/${group}/v1/clusterroles`, {
  body: {
    metadata: { name: "granting" },
    rules: [{ apiGroups: [group], resources: ["clusterrolebindings"], verbs: ["create"] }],
  },
});
await served.must(201, "POST", bindings, { body: grant("granting", "granting") });

test("a changed binding is validated twice as a new one, then as an update", async () => {
  const patch = {
    metadata: { uid: "u" },
    roleRef: { name: "other" },
    subjects: [{ apiGroup: group, kind: "User", name: "" }],
  };
  const type = "application/merge-patch+json";
  const { status, json } = await served.ask("PATCH", `${bindings}/granting`, { body: patch, type });
  assert.equal(status, 422);
  const causes = at(json, "details.causes") as { field: string; message: string }[];
  assert.deepEqual(
    causes.map(({ field }) => field),
    ["metadata.uid", "subjects[0].name", "subjects[0].name", "metadata.uid", "roleRef"],
  );
  assert.equal(
    causes.at(-1)!.message,
    `Invalid value: rbac.RoleRef{APIGroup:"${group}", Kind:"ClusterRole", Name:"other"}: cannot change roleRef`,
  );
});

test("a privilege escalation by a binding without a name is reported without a name", async () => {
  const { status, json } = await served.ask("POST", bindings, {
    body: { ...grant("", "cluster-admin"), metadata: { generateName: "g" } },
    ...ann,
  });
  assert.equal(status, 403);
  assert.match(String(at(json, "message")), /^clusterrolebindings\.\S+ is forbidden: user "ann"/);
  assert.equal(at(json, "details.name"), undefined);
});
