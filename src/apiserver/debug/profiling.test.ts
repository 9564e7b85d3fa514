import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { ApiError, systemClock } from "#base";
import type { Reply } from "#http";
import { apiCall } from "#kit";
import { watchContention } from "#tracing";
import { profilingPaths } from "./profiling.ts";

const textOf = (reply: Reply | undefined): string => Buffer.from(reply!.body as Uint8Array).toString();

test("the index names every profile", async () => {
  const reply = await profilingPaths({ clock: systemClock })(apiCall({ path: "/debug/pprof/" }));
  for (const page of ["profile", "heap", "allocs", "block", "heapsnapshot", "active"])
    assert.match(textOf(reply), new RegExp(`href="${page}"`));
});

test("other paths are not handled", async () => {
  for (const path of ["/debug/pprof/nothing", "/debug", "/metrics"])
    assert.equal(await profilingPaths({ clock: systemClock })(apiCall({ path })), undefined);
});

for (const seconds of ["0", "-1", "301", "x"]) {
  test(`a profile over ${seconds} seconds is refused`, async () => {
    const request = async () =>
      await profilingPaths({ clock: systemClock })(
        apiCall({ path: `/debug/pprof/profile?seconds=${seconds}` }),
      );
    await assert.rejects(request(), (error) => error instanceof ApiError && error.code === 400);
  });
}

const others: [page: string, status: number][] = [
  ["block", 404],
  ["mutex", 404],
  ["goroutine", 404],
  ["threadcreate", 404],
  ["trace", 404],
  ["symbol", 200],
];
for (const [page, status] of others)
  test(`${page} is answered with ${status}`, async () => {
    const reply = await profilingPaths({ clock: systemClock })(apiCall({ path: `/debug/pprof/${page}` }));
    assert.equal(reply?.status, status);
  });

test("with contention profiling, block shows delays of the event loop", async () => {
  let now = 0;
  const contention = watchContention(() => now);
  now = 5000;
  while (contention.samples().length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  contention.stop();
  assert.match(contention.samples()[0]!.stack[0]!.functionName, /delay up to Infinity ms/);
  const reply = await profilingPaths({ clock: systemClock, contention })(
    apiCall({ path: "/debug/pprof/block" }),
  );
  assert.match(gunzipSync(reply!.body as Uint8Array).toString("latin1"), /contentions/);
});
