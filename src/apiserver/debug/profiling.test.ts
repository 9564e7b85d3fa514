import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, systemClock, virtualClock } from "#base";
import type { Reply } from "#http";
import { apiCall, turn } from "#kit";
import { profilingPaths } from "./profiling.ts";

const textOf = (reply: Reply | undefined): string => Buffer.from(reply!.body as Uint8Array).toString();

test("the index names every profile", async () => {
  const reply = await profilingPaths({ clock: systemClock })(apiCall({ path: "/debug/pprof/" }));
  for (const page of ["profile", "heap", "heapsnapshot", "cmdline", "active"])
    assert.match(textOf(reply), new RegExp(`href="${page}"`));
});

test("other paths are not ours", async () => {
  for (const path of ["/debug/pprof/nothing", "/debug", "/metrics"])
    assert.equal(await profilingPaths({ clock: systemClock })(apiCall({ path })), undefined);
});

test("a processor profile is what developer tools open, and only one is taken at a time", async () => {
  const clock = virtualClock();
  const handle = profilingPaths({ clock });
  const ask = () => Promise.resolve(handle(apiCall({ path: "/debug/pprof/profile?seconds=2" })));
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
