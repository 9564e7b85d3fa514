import assert from "node:assert/strict";
import { test } from "node:test";
import { type ResourceQuery, authorizerValues, compile, environment } from "../index.ts";

const source =
  "authorizer.group('').resource('pods').fieldSelector('spec.nodeName=n1').labelSelector('app').check('list').allowed()";

test("checks name the selectors of a request since 1.32, at the cost of parsing them", async () => {
  const env = environment({ release: 32 });
  const variables = { authorizer: env.authorizer.authorizer };
  const compiled = compile(env, source, { variables, libraryCosts: true });
  assert.ok("program" in compiled);
  const asked: (ResourceQuery | undefined)[] = [];
  const none = { group: "", resource: "", subresource: "", namespace: "", name: "" };
  const { authorizer } = authorizerValues(
    env.authorizer,
    async ({ resource }) => (asked.push(resource), { allowed: true, reason: "" }),
    none,
  );
  const outcome = await compiled.program.evaluateWaiting(
    { authorizer },
    1_000_000,
    new AbortController().signal,
  );
  assert.ok("value" in outcome && outcome.value === true);
  assert.deepEqual(asked, [
    { ...none, resource: "pods", fieldSelector: "spec.nodeName=n1", labelSelector: "app" },
  ]);
  // A selector of n characters costs 10 + ceil(n / 10) + 50 * ceil(n / 2).
  const parsing = 10 + 2 + 50 * 8 + (10 + 1 + 50 * 2);
  assert.equal(outcome.cost, 350_000 + parsing + 1 + 1 + 1 + 1);
});

test("they are unknown before", () => {
  const env = environment({ release: 31 });
  const compiled = compile(env, source, { variables: { authorizer: env.authorizer.authorizer } });
  assert.ok("error" in compiled && compiled.error.includes("undeclared reference to 'fieldSelector'"));
});
