import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { ApiError, systemClock, virtualClock } from "#base";
import type { Reply } from "#http";
import { apiCall, turn } from "#kit";
import { watchContention } from "#tracing";
import { profilingPaths } from "./profiling.ts";

const textOf = (reply: Reply | undefined): string => Buffer.from(reply!.body as Uint8Array).toString();

test("the index names every profile", async () => {
  const reply = await profilingPaths({ clock: systemClock })(apiCall({ path: "/debug/pprof/" }));
  for (const page of ["profile", "heap", "allocs", "block", "heapsnapshot", "active"])
    assert.match(textOf(reply), new RegExp(`href="${page}"`));
});

test("other paths are not ours", async () => {
  for (const path of ["/debug/pprof/nothing", "/debug", "/metrics"])
    assert.equal(await profilingPaths({ clock: systemClock })(apiCall({ path })), undefined);
});

test("with format=devtools a profile is what browsers open, and only one is taken at a time", async () => {
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

for (const seconds of ["0", "-1", "301", "x"]) {
  test(`a profile over ${seconds} seconds is refused`, async () => {
    const asked = async () =>
      await profilingPaths({ clock: systemClock })(
        apiCall({ path: `/debug/pprof/profile?seconds=${seconds}` }),
      );
    await assert.rejects(asked(), (error) => error instanceof ApiError && error.code === 400);
  });
}

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
