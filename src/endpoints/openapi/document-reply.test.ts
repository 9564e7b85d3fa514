import assert from "node:assert/strict";
import { test } from "node:test";
import { documentReply } from "./document-reply.ts";

const at = "Sun, 01 Jan 2023 00:00:00 GMT";
const headers = { "content-type": "application/json", etag: '"abc"', "last-modified": at, vary: "Accept" };
const body = Buffer.from("0123456789");

const cases: [
  requested: Record<string, string>,
  status: number,
  expected?: string | undefined,
  range?: string,
][] = [
  [{}, 200, "0123456789"],
  [{ "if-none-match": '"abc"' }, 304],
  [{ "if-none-match": 'W/"abc"' }, 304],
  [{ "if-none-match": '"x", "abc"' }, 304],
  [{ "if-none-match": "*" }, 304],
  [{ "if-none-match": '"x"' }, 200, "0123456789"],
  [{ "if-none-match": '"x"', "if-modified-since": at }, 200, "0123456789"],
  [{ "if-modified-since": at }, 304],
  [{ "if-modified-since": "Sat, 31 Dec 2022 23:59:59 GMT" }, 200, "0123456789"],
  [{ "if-modified-since": "yesterday" }, 200, "0123456789"],
  [{ "if-match": '"abc"' }, 200, "0123456789"],
  [{ "if-match": "*" }, 200, "0123456789"],
  [{ "if-match": 'W/"abc"' }, 412],
  [{ "if-match": '"x"' }, 412],
  [{ "if-unmodified-since": at }, 200, "0123456789"],
  [{ "if-unmodified-since": "Sat, 31 Dec 2022 23:59:59 GMT" }, 412],
  [{ range: "bytes=0-3" }, 206, "0123", "bytes 0-3/10"],
  [{ range: "bytes=7-" }, 206, "789", "bytes 7-9/10"],
  [{ range: "bytes=7-99" }, 206, "789", "bytes 7-9/10"],
  [{ range: "bytes=-3" }, 206, "789", "bytes 7-9/10"],
  [{ range: "bytes=-99" }, 206, "0123456789", "bytes 0-9/10"],
  [{ range: "bytes=0-1,3-4" }, 200, "0123456789"],
  [{ range: "bytes=10-" }, 416, undefined, "bytes */10"],
  [{ range: "bytes=-0" }, 416, undefined, "bytes */10"],
  [{ range: "bytes=3-1" }, 416, undefined, "bytes */10"],
  [{ range: "bytes=a-b" }, 416, undefined, "bytes */10"],
  [{ range: "lines=1-2" }, 416, undefined, "bytes */10"],
  [{ range: "bytes=0-3", "if-range": '"abc"' }, 206, "0123", "bytes 0-3/10"],
  [{ range: "bytes=0-3", "if-range": at }, 206, "0123", "bytes 0-3/10"],
  [{ range: "bytes=0-3", "if-range": '"x"' }, 200, "0123456789"],
];
for (const [requested, status, expected, range] of cases) {
  test(`${JSON.stringify(requested)} is answered with ${status}`, () => {
    const reply = documentReply(requested, { body, headers });
    assert.deepEqual(
      [
        reply.status,
        reply.body && Buffer.from(reply.body as Uint8Array).toString(),
        reply.headers["content-range"],
      ],
      [status, expected, range],
    );
    assert.equal(reply.headers["content-type"], expected === undefined ? undefined : "application/json");
  });
}

test("a document without an ETag is validated by its time", () => {
  const untagged = { body, headers: { "last-modified": at } };
  assert.equal(documentReply({ "if-none-match": '"abc"' }, untagged).status, 200);
  assert.equal(documentReply({ "if-modified-since": at }, untagged).status, 304);
});
