// Names that are invalid in a URL path: requests for them are rejected.
import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "../../server.fixture.ts";

const { ask } = await serve();
const merge = "application/merge-patch+json";
const core = "/api/v1/namespaces/default";
const paths: [method: string, path: string, body?: object, type?: string][] = [
  ["GET", `${core}/pods/NAME`],
  ["GET", `${core}/pods/NAME/log`],
  ["DELETE", `${core}/configmaps/NAME`],
  ["PUT", "/apis/rbac.authorization.orch.io/v1/clusterroles/NAME", { metadata: { name: "NAME" } }],
  ["PATCH", "/apis/apps/v1/namespaces/default/deployments/NAME/status", {}, merge],
  ["POST", `${core}/pods/NAME/eviction`, { metadata: { name: "NAME" } }],
];
const names: [sent: string, name: string, why: string][] = [
  ["%2E", ".", "may not be '.'"],
  ["..", "..", "may not be '..'"],
  ["a%25b", "a%b", "may not contain '%'"],
];
for (const [method, path, body, type] of paths)
  test(`${method} ${path} with an invalid name is a bad request`, async () => {
    for (const [sent, name, why] of names) {
      const text = body && JSON.stringify(body).replace("NAME", name);
      const answer = await ask(method, path.replace("NAME", sent), {
        ...(text && { body: JSON.parse(text) as object }),
        ...(type && { type }),
      });
      assert.deepEqual(
        [answer.status, answer.json["message"]],
        [400, `Name parameter invalid: ${JSON.stringify(name)}: ${why}`],
      );
    }
  });

test("a scale of an invalid name of a built-in kind is not found", async () => {
  const answer = await ask("GET", "/apis/apps/v1/namespaces/default/deployments/../scale");
  assert.equal(answer.status, 404);
});
