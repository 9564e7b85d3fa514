import assert from "node:assert/strict";
import { test } from "node:test";
import { readReply } from "./read-reply.ts";

const review = (response: unknown, more: object = {}): string =>
  JSON.stringify({ apiVersion: "admission.example/v1", kind: "AdmissionReview", response, ...more });
const allowed = { uid: "u", allowed: true };
const noHeader =
  /^couldn't get version\/kind; json parse error: json: cannot unmarshal (\w+) into Go value of type struct/;
const field = (given: string, name: string, type: string): string =>
  `json: cannot unmarshal ${given} into Go struct field AdmissionResponse.response.${name} of type ${type}`;

const refused: [name: string, body: string, message: RegExp | string, requested?: string][] = [
  ["nothing", "", "0-length response with status code: 200 and content type: application/json"],
  ["a text", "not json", noHeader],
  ["a list", "[1]", noHeader],
  [
    "a truncated object",
    '{"a":',
    "couldn't get version/kind; json parse error: unexpected end of JSON input",
  ],
  [
    "another kind",
    review(allowed, { kind: "X" }),
    'no kind "X" is registered for version "admission.example/v1"',
  ],
  ["a malformed version", review(allowed, { apiVersion: "x/y/z" }), "unexpected GroupVersion string: x/y/z"],
  [
    "a version that was not requested",
    review(allowed),
    "converting (v1.AdmissionReview) to (v1beta1.AdmissionReview): unknown conversion",
    "admission.example/v1beta1",
  ],
  [
    "a Status",
    review(allowed, { apiVersion: "v1", kind: "Status" }),
    "converting (v1.Status) to (v1.AdmissionReview): unknown conversion",
  ],
  [
    "an allowed field that is not boolean",
    review({ uid: "u", allowed: "yes" }),
    field("string", "allowed", "bool"),
  ],
  [
    "a single warning instead of a list",
    review({ ...allowed, warnings: "x" }),
    field("string", "warnings", "[]string"),
  ],
  ["a status that is text", review({ ...allowed, status: "x" }), field("string", "status", "v1.Status")],
  ["a patch that is not base64", review({ ...allowed, patch: "!!" }), "illegal base64 data at input byte 0"],
  [
    "a response that is text",
    review("x"),
    /struct field AdmissionReview\.response of type v1\.AdmissionResponse$/,
  ],
];
for (const [name, body, message, requested = "admission.example/v1"] of refused)
  test(`a response is not a review: ${name}`, () => {
    const headers = new Map([["content-type", "application/json"]]);
    assert.throws(() => readReply({ status: 200, body, headers }, requested), { message });
  });

const taken: [name: string, body: string, requested?: string][] = [
  ["a review", review(allowed)],
  ["a review without kind and version", review(allowed, { kind: undefined, apiVersion: undefined })],
  ["a review with all fields", review({ ...allowed, warnings: ["w"], status: { code: 1 }, patch: "W10=" })],
  ["YAML", 'apiVersion: admission.example/v1\nkind: AdmissionReview\nresponse: {uid: "u", allowed: true}\n'],
];
for (const [name, body] of taken)
  test(`a response is a review: ${name}`, () => {
    const { response } = readReply({ status: 200, body }, "admission.example/v1");
    const { uid, allowed: passes } = response as typeof allowed;
    assert.deepEqual({ uid, allowed: passes }, allowed);
  });
