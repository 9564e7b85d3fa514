import assert from "node:assert/strict";
import { test } from "node:test";
import { awaitBody } from "./await-body.ts";
import { apiCall, pending, turn } from "#kit";

test("a write proceeds when its body has arrived", async () => {
  const body = Promise.withResolvers<void>();
  const answer = pending();
  void awaitBody.run(apiCall({ method: "POST", bodyBuffered: body.promise }), answer.next);
  await turn();
  assert.equal(answer.calls(), 0);
  body.resolve();
  await turn();
  assert.equal(answer.calls(), 1);
});

const unaffected: [name: string, method: string, path: string][] = [
  ["a read", "GET", "/api/v1/pods"],
  ["a long-running request", "POST", "/api/v1/namespaces/a/pods/b/exec"],
  ["a non-resource request", "POST", "/metrics"],
];
for (const [name, method, path] of unaffected)
  test(`${name} does not wait for a body`, () => {
    const answer = pending();
    void awaitBody.run(apiCall({ method, path, bodyBuffered: new Promise(() => undefined) }), answer.next);
    assert.equal(answer.calls(), 1);
  });
