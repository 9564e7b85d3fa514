import assert from "node:assert/strict";
import { test } from "node:test";
import { requestTarget } from "./request-target.ts";

const cases: [path: string, sent: string, shown?: string][] = [
  ["/ok?a=1&b", "/ok?a=1&b"],
  ["ok", "/ok"],
  ["/a b", "/a%20b"],
  ["/ä€", "/%C3%A4%E2%82%AC"],
  ["/a?x=ä", "/a?x=\u00C3\u00A4", "/a?x=ä"],
  ["/a?x=1 2", "/a?x=1%202", "/a?x=1 2"],
  ["/a?x#y", "/a?x", "/a?x#y"],
  ["/%zz?x", "/%25zz%3Fx"],
  ["/a%2fb c", "/a/b%20c"],
  ["/a%2fb", "/a%2fb"],
  ["/a!b'(c)*[d]", "/a!b'(c)*[d]"],
  ['/a"b\\', "/a%22b%5C"],
  ["/a\nb", "/a%0Ab"],
  ["//other/x", "/x"],
  ["///x", "///x"],
  ["http://other/x?y", "/x?y"],
  ["http://bad host/x", "/http://bad%20host/x"],
  [":x", "/:x"],
  ["1a:b/c", "/1a:b/c"],
  ["/a??b", "/a??b"],
];
for (const [path, sent, shown = sent] of cases) {
  test(`the path ${JSON.stringify(path)} is sent as Go's client sends it`, () =>
    assert.deepEqual(requestTarget(path), { sent, shown }));
}
