import assert from "node:assert/strict";
import { test } from "node:test";
import { type LogOptions, createLog } from "#base";
import type { Reply } from "#http";
import { apiCall, memorySink } from "#kit";
import { requestLog } from "./request-log.ts";

async function logged(
  options: Pick<LogOptions, "verbosity" | "modules" | "aliases">,
  call = apiCall({ path: "/api/v1/pods?limit=1", headers: { "user-agent": "me/1" } }),
  reply: Reply = { status: 200, headers: {} },
): Promise<string[]> {
  const lines: string[] = [];
  const log = createLog({
    ...options,
    sink: { write: (line) => void lines.push(String(line)), flush: () => undefined },
  });
  const { body } = await requestLog(log).run(call, async () => reply);
  if (body && "stream" in body) await body.stream(memorySink());
  return lines;
}

test("requests are logged from level 3 on", async () => {
  assert.deepEqual(await logged({ verbosity: 2 }), []);
  const [line, ...more] = await logged({ verbosity: 3 });
  assert.equal(more.length, 0);
  assert.match(
    line!,
    /"HTTP" verb="LIST" URI="\/api\/v1\/pods\?limit=1" latency="[^"]+" userAgent="me\/1" audit-ID="[^"]+" srcIP="192\.0\.2\.1" resp=200/,
  );
});

test("--vmodule raises the level for the file that logs requests alone", async () => {
  assert.equal((await logged({ modules: [{ pattern: "request-*", level: 3 }] })).length, 1);
  assert.equal((await logged({ modules: [{ pattern: "other", level: 9 }] })).length, 0);
  const aliases = { "request-log": ["httplog"] };
  assert.equal((await logged({ modules: [{ pattern: "httplog", level: 3 }], aliases })).length, 1);
});

const verbs: [verb: string, method: string, path: string, headers?: Record<string, string>][] = [
  ["GET", "GET", "/api/v1/namespaces/a/pods/p"],
  ["GET", "GET", "/livez"],
  ["LIST", "GET", "/api/v1/namespaces/a/pods"],
  ["WATCH", "GET", "/api/v1/pods?watch=1"],
  ["POST", "POST", "/api/v1/namespaces/a/pods"],
  ["PATCH", "PATCH", "/api/v1/namespaces/a/pods/p"],
  ["APPLY", "PATCH", "/api/v1/namespaces/a/pods/p", { "content-type": "application/apply-patch+yaml" }],
  ["DELETE", "DELETE", "/api/v1/namespaces/a/pods"],
];
for (const [verb, method, path, headers = {}] of verbs)
  test(`${method} ${path} is logged as ${verb}`, async () => {
    const lines = await logged({ verbosity: 3 }, apiCall({ method, path, headers }));
    assert.match(lines.at(-1)!, new RegExp(`"HTTP" verb="${verb}" `));
  });

test("a watch is logged when it begins and again when it ends", async () => {
  const path = "/api/v1/pods?watch=1&resourceVersion=7&labelSelector=a%3Db&timeoutSeconds=90";
  const body = { stream: () => Promise.resolve() };
  const [began, ended] = await logged({ verbosity: 3 }, apiCall({ path }), {
    status: 200,
    headers: {},
    body,
  });
  assert.match(
    began!,
    /"Starting watch" path="\/api\/v1\/pods" resourceVersion="7" labels="a=b" fields="" timeout="1m30s"/,
  );
  assert.match(ended!, /"HTTP" verb="WATCH" .* resp=200/);
});

test("a server error is logged with the response body", async () => {
  const reply = { status: 500, headers: {}, body: Buffer.from("it broke") };
  assert.match((await logged({ verbosity: 3 }, apiCall(), reply))[0]!, /resp=500 addedInfo=.*it broke/);
});
