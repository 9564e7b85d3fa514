import assert from "node:assert/strict";
import { test } from "node:test";
import { webhookAnswer } from "./webhook-answer.ts";

const wanted = { kind: "TokenReview", apiVersion: "authentication/v1" };

test("an answer of the kind that was asked for is taken, as JSON or YAML", () => {
  const answer = { ...wanted, status: { authenticated: true } };
  assert.deepEqual(webhookAnswer(JSON.stringify(answer), wanted), answer);
  assert.deepEqual(webhookAnswer("kind: TokenReview\napiVersion: authentication/v1\n", wanted), wanted);
});

const refused: [name: string, text: string, why: string][] = [
  [
    "a text",
    "junk",
    `couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
  ],
  ["an answer without a kind", '{"a":1}', `Object 'Kind' is missing in '{"a":1}'`],
  [
    "an answer without a version",
    '{"kind":"TokenReview"}',
    `Object 'apiVersion' is missing in '{"kind":"TokenReview"}'`,
  ],
  ["another kind", '{"kind":"Foo","apiVersion":"v1"}', 'no kind "Foo" is registered for version "v1"'],
];
for (const [name, text, why] of refused)
  test(`${name} is refused in kube-apiserver's words`, () =>
    assert.throws(() => webhookAnswer(text, wanted), new Error(why)));

test("an answer that may repeat a token is not shown, and others not at any length", () => {
  const wanted = { kind: "TokenReview", apiVersion: "v1" };
  const answer = JSON.stringify({ spec: { token: "t0ken" } });
  assert.throws(() => webhookAnswer(answer, wanted, true), {
    message: "Object 'Kind' is missing in 'REDACTED'",
  });
  const long = JSON.stringify({ a: "x".repeat(5000) });
  assert.throws(
    () => webhookAnswer(long, wanted),
    (error: Error) => error.message.length < 1200,
  );
});
