import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { exposition } from "./replies.ts";

const cases: [accepted: string | undefined, isCompressed: boolean][] = [
  [undefined, false],
  ["identity", false],
  ["gzip", true],
  ["deflate, gzip;q=1.0", true],
  ["x-gzip", false],
];
for (const [accepted, isCompressed] of cases) {
  test(`metrics for accept-encoding ${accepted ?? "unset"}`, async () => {
    const headers = accepted === undefined ? {} : { "accept-encoding": accepted };
    const reply = await exposition("a 1\n", { headers });
    assert.equal(reply.headers["content-encoding"], isCompressed ? "gzip" : undefined);
    const body = reply.body as Buffer;
    assert.equal(String(isCompressed ? gunzipSync(body) : body), "a 1\n");
  });
}
