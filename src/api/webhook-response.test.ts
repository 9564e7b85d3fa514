import assert from "node:assert/strict";
import { test } from "node:test";
import { TokenReview } from "./authentication/token.ts";
import { webhookResponse, webhookReview } from "./webhook-response.ts";

const wanted = { kind: "TokenReview", apiVersion: "authentication/v1" };

test("a response of the requested kind is accepted, as JSON or YAML", () => {
  const answer = { ...wanted, status: { authenticated: true } };
  assert.deepEqual(webhookResponse(JSON.stringify(answer), wanted), answer);
  assert.deepEqual(webhookResponse("kind: TokenReview\napiVersion: authentication/v1\n", wanted), wanted);
});

const refused: [name: string, text: string, why: string][] = [
  [
    "a text",
    "junk",
    `couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
  ],
  ["a response without a kind", '{"a":1}', `Object 'Kind' is missing in '{"a":1}'`],
  [
    "a response without a version",
    '{"kind":"TokenReview"}',
    `Object 'apiVersion' is missing in '{"kind":"TokenReview"}'`,
  ],
  ["an empty response", "", "0-length response"],
  [
    "an object with trailing text",
    '{"kind":"TokenReview"}x',
    "couldn't get version/kind; json parse error: invalid character 'x' after top-level value",
  ],
  [
    "another version",
    '{"kind":"TokenReview","apiVersion":"authentication/v1beta1"}',
    "converting (v1beta1.TokenReview) to (v1.TokenReview): unknown conversion",
  ],
  [
    "an unknown version",
    '{"kind":"TokenReview","apiVersion":"authentication/v3"}',
    'no kind "TokenReview" is registered for version "authentication/v3"',
  ],
  ["another kind", '{"kind":"Foo","apiVersion":"v1"}', 'no kind "Foo" is registered for version "v1"'],
];
for (const [name, text, why] of refused)
  test(`${name} is rejected with kube-apiserver's message`, () =>
    assert.throws(() => webhookResponse(text, wanted), new Error(why)));

const field = "into Go struct field";
const typed: [status: string, why: string][] = [
  ['"x"', `json: cannot unmarshal string ${field} TokenReview.status of type v1.TokenReviewStatus`],
  [
    '{"authenticated":"yes"}',
    `json: cannot unmarshal string ${field} TokenReviewStatus.status.authenticated of type bool`,
  ],
  [
    '{"user":"x"}',
    `json: cannot unmarshal string ${field} TokenReviewStatus.status.user of type v1.UserInfo`,
  ],
  [
    '{"user":{"groups":[5]}}',
    `json: cannot unmarshal number ${field} UserInfo.status.user.groups of type string`,
  ],
];
for (const [status, message] of typed)
  test(`a review with the status ${status} is rejected`, () =>
    assert.throws(
      () =>
        webhookReview(
          `{"kind":"TokenReview","apiVersion":"authentication/v1","status":${status}}`,
          TokenReview,
          wanted,
        ),
      { message },
    ));

test("a response of another version is not shown as it may contain a token, others are truncated", () => {
  const answer = JSON.stringify({ apiVersion: "authentication/v1", kind: 5, spec: { token: "t0ken" } });
  assert.throws(() => webhookResponse(answer, wanted, true), {
    message: "Object 'Kind' is missing in 'REDACTED'",
  });
  const long = JSON.stringify({ kind: 5, a: "x".repeat(5000) });
  assert.throws(
    () => webhookResponse(long, wanted),
    (error: Error) => error.message.length < 1200,
  );
});
