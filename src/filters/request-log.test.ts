import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog } from "#base";
import { apiCall } from "#kit";
import { requestLog } from "./request-log.ts";

async function logged(options: { verbosity?: number; modules?: { pattern: string; level: number }[] }) {
  const lines: string[] = [];
  const log = createLog({
    ...options,
    sink: { write: (line) => void lines.push(String(line)), flush: () => undefined },
  });
  await requestLog(log).run(apiCall({ path: "/api/v1/pods?limit=1", headers: { "user-agent": "me/1" } }), async () => ({
    status: 200,
    headers: {},
  }));
  return lines;
} // prettier-ignore

test("requests are logged from level 3 on", async () => {
  assert.deepEqual(await logged({ verbosity: 2 }), []);
  const [line, ...more] = await logged({ verbosity: 3 });
  assert.equal(more.length, 0);
  assert.match(
    line!,
    /"HTTP" verb="GET" URI="\/api\/v1\/pods\?limit=1" latency="[^"]+" userAgent="me\/1" audit-ID="[^"]+" srcIP="192\.0\.2\.1" resp=200/,
  );
});

test("--vmodule raises the level for the file that logs requests alone", async () => {
  assert.equal((await logged({ modules: [{ pattern: "request-*", level: 3 }] })).length, 1);
  assert.equal((await logged({ modules: [{ pattern: "other", level: 9 }] })).length, 0);
});
