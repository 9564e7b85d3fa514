// Takes real profiles. They cover the whole process, so this file runs in a separate one: among all other
// tests the profiler would first record each of their functions.
import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { ApiError, virtualClock } from "#base";
import type { Reply } from "#http";
import { apiCall, turn } from "#kit";
import { profilingPaths } from "./profiling.ts";

const textOf = (reply: Reply | undefined): string => Buffer.from(reply!.body as Uint8Array).toString();

test("format=devtools returns a profile for browser tools, and only one is taken at a time", async () => {
  const clock = virtualClock();
  const handle = profilingPaths({ clock });
  const ask = () =>
    Promise.resolve(handle(apiCall({ path: "/debug/pprof/profile?seconds=2&format=devtools" })));
  const first = ask();
  await assert.rejects(ask(), (error) => error instanceof ApiError && error.code === 409);
  let reply: Reply | undefined;
  void first.then((done) => (reply = done));
  while (!reply) {
    await clock.advance(1000);
    await turn();
  }
  const profile = JSON.parse(textOf(reply)) as { nodes: unknown[] };
  assert.ok(profile.nodes.length > 0);
});

for (const page of ["profile", "heap", "allocs"])
  test(`${page} is in the format of pprof`, async () => {
    const clock = virtualClock();
    const handle = profilingPaths({ clock });
    let reply: Reply | undefined;
    void Promise.resolve(handle(apiCall({ path: `/debug/pprof/${page}?seconds=1` }))).then(
      (done) => (reply = done),
    );
    while (!reply) {
      await clock.advance(1000);
      await turn();
    }
    const body = gunzipSync(reply.body as Uint8Array);
    assert.match(body.toString("latin1"), page === "profile" ? /nanoseconds/ : /_space/);
  });
