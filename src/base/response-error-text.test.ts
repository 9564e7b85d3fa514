import assert from "node:assert/strict";
import { test } from "node:test";
import { responseErrorText } from "./response-error-text.ts";

const cases: [name: string, status: number, body: string, text: string][] = [
  ["a known status code", 422, "no", "the server rejected our request due to an error in our request"],
  [
    "a server error with a text body",
    500,
    'it "broke"\n',
    'an error on the server ("it \\"broke\\"") has prevented the request from succeeding',
  ],
  [
    "a server error with a document",
    502,
    "{}",
    'an error on the server ("unknown") has prevented the request from succeeding',
  ],
  ["an error whose body is the message", 403, "not you", "not you"],
  ["a Status", 404, '{"kind":"Status","status":"Failure","message":"there is no such thing"}', "there is no such thing"], // prettier-ignore
  ["a Status that is not a failure", 503, '{"kind":"Status","message":"down"}', "the server is currently unable to handle the request"], // prettier-ignore
  [
    "any other status",
    302,
    "",
    "the server responded with the status code 302 but did not return more information",
  ],
];
for (const [name, status, body, text] of cases)
  test(`${name} is described`, () => assert.equal(responseErrorText(status, body), text));
