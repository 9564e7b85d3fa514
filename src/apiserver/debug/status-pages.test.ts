import assert from "node:assert/strict";
import { test } from "node:test";
import { apiCall } from "#kit";
import { statusPages } from "./status-pages.ts";

const pages = statusPages({
  program: "test-apiserver",
  version: { gitVersion: "v1.27.16", goVersion: "v26", gitCommit: "abc" },
  startedAt: Date.UTC(2026, 0, 2),
  now: () => Date.UTC(2026, 0, 2, 1, 2, 3),
  flags: [["max-requests-inflight", "400"]],
});
const bodyOf = async (path: string): Promise<string> => {
  const reply = await pages(apiCall({ path }));
  return Buffer.from(reply!.body as Uint8Array).toString();
};

test("/statusz shows the start time and the version", async () => {
  const text = await bodyOf("/statusz");
  assert.match(text, /^\ntest-apiserver statusz\nWarning: /);
  assert.match(text, /Started: Fri, 02 Jan 2026 00:00:00 GMT\nUp: 1h2m3s\n/);
  assert.match(text, /Binary version: v1\.27\.16\n/);
});

test("/flagz shows every flag with its value", async () => {
  assert.match(await bodyOf("/flagz"), /test-apiserver flags\n[^]*\nmax-requests-inflight=400\n+$/);
});

test("other paths and methods are not answered here", async () => {
  assert.equal(await pages(apiCall({ path: "/statusz/x" })), undefined);
  assert.equal(await pages(apiCall({ path: "/flagz", method: "POST" })), undefined);
});
