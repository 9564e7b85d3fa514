import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import type { Filesystem } from "./machine.ts";
import { filesystemOf, remoteFilesystemOf } from "./machine.ts";
import { volumeMeter } from "./volume-meter.ts";

/** Directories whose file systems respond when the test says so, and the recorded calls. */
function setUp() {
  const clock = virtualClock(0);
  const calls: string[] = [];
  const unavailable = new Map<string, PromiseWithResolvers<void>>();
  let bytes = 0;
  const took: string[] = [];
  const meter = volumeMeter({
    clock,
    took: (how, milliseconds) => took.push(`${how} ${milliseconds}`),
    goodForMilliseconds: 60_000,
    filesystemOf: async (path) => {
      calls.push(path);
      await unavailable.get(path)?.promise;
      if (path === "/gone") throw new Error("no such folder");
      return {} as Filesystem;
    },
    diskUsage: async () => ({ bytes: ++bytes, inodes: 1 }),
    isRemote: async () => false,
  });
  return { clock, calls, away: unavailable, took, meter };
}

test("a volume is measured again only when the cached usage has expired", async () => {
  const { clock, calls, took, meter } = setUp();
  assert.equal((await meter.measure("/v"))?.used.bytes, 1);
  await clock.advance(59_000);
  assert.equal((await meter.measure("/v"))?.used.bytes, 1);
  await clock.advance(1000);
  assert.equal((await meter.measure("/v"))?.used.bytes, 2);
  assert.equal(calls.length, 3, "file system stats are requested each time");
  assert.deepEqual(took, ["statfs 0", "du 0", "statfs 0", "statfs 0", "du 0"]);
});

test("a volume whose server does not respond blocks no caller, and is not measured again until it responds", async () => {
  const { clock, calls, away: unavailable, meter } = setUp();
  await meter.measure("/nfs");
  unavailable.set("/nfs", Promise.withResolvers());
  const waiting = meter.measure("/nfs");
  await clock.advance(5000);
  assert.equal((await waiting)?.used.bytes, 1, "the last known usage is returned");
  assert.equal((await meter.measure("/nfs"))?.used.bytes, 1);
  assert.equal(calls.length, 2);
  unavailable.get("/nfs")!.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  await meter.measure("/nfs");
  assert.equal(calls.length, 3);
});

test("missing volumes, and dropped ones that do not respond, have no usage", async () => {
  const { clock, away: unavailable, meter } = setUp();
  assert.equal(await meter.measure("/gone"), undefined);
  await meter.measure("/v");
  meter.keepOnly(new Set(["/other"]));
  unavailable.set("/v", Promise.withResolvers());
  const waiting = meter.measure("/v");
  await clock.advance(5000);
  assert.equal(await waiting, undefined);
});

test("a network volume is measured by a separate process, and never walked", async () => {
  const meter = volumeMeter({
    clock: virtualClock(),
    goodForMilliseconds: 60_000,
    isRemote: async () => true,
    remoteFilesystemOf: async () => ({
      capacityBytes: 100,
      availableBytes: 50,
      freeBytes: 60,
      inodes: 9,
      inodesFree: 4,
    }),
    filesystemOf: () => Promise.reject(new Error("must not be called")),
    diskUsage: () => Promise.reject(new Error("must not be walked")),
  });
  assert.deepEqual((await meter.measure("/far"))?.used, { bytes: 40, inodes: 5 });
});

test("local and remote file system stats of a path are the same", async () => {
  const [near, far] = await Promise.all([filesystemOf("/proc"), remoteFilesystemOf("/proc")]);
  assert.deepEqual(far, near);
});
