import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { silentLog, virtualClock } from "#base";
import { housekeeping } from "./housekeeping.ts";
import { podFiles } from "./sync/pod-files.ts";

const cases: [name: string, sharesCgroups: boolean][] = [
  ["directories of unknown pods are removed once all sources are ready, and foreign logs are kept", false],
  ["cgroups without a pod directory are kept if agents share the parent cgroup", true],
];
for (const [name, sharesCgroups] of cases)
  test(name, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "orch-housekeeping-"));
    const clock = virtualClock();
    const stop = new AbortController();
    t.after(async () => {
      stop.abort();
      await rm(folder, { recursive: true });
    });
    const logs = join(folder, "logs");
    const files = podFiles(folder, logs);
    for (const uid of ["known", "gone"]) await files.prepare(uid);
    for (const name of ["n_a_known", "n_b_gone", "n_c_elsewhere"]) await files.prepareLogs(join(logs, name));
    const released: string[] = [];
    let ready = false;
    const rounds: [cleared: number, failed: number][] = [];
    const pass = async (milliseconds: number): Promise<void> => {
      const before = rounds.length;
      await clock.advance(milliseconds);
      while (ready && rounds.length === before) await new Promise((resolve) => setImmediate(resolve));
    };
    const over = housekeeping(
      {
        clock,
        log: silentLog,
        files,
        volumes: { release: async (uid: string) => void released.push(`volumes of ${uid}`) } as never,
        sharesCgroups,
        cgroups: {
          podUids: async () => new Set(["known", "lost"]),
          release: async (uid: string) => void released.push(`groups of ${uid}`),
        } as never,
        ready: () => ready,
        isKnown: (uid) => uid === "known",
        forget: (uid) => void released.push(`state of ${uid}`),
        onCleared: (cleared, failed) => void rounds.push([cleared, failed]),
      },
      stop.signal,
    );
    await pass(5000);
    assert.deepEqual([released, (await readdir(logs)).length], [[], 3]);
    ready = true;
    await pass(30_000);
    await pass(30_000);
    assert.deepEqual(released, [
      "groups of gone",
      "volumes of gone",
      "state of gone",
      ...(sharesCgroups ? [] : ["groups of lost", "groups of lost"]),
    ]);
    assert.deepEqual(await readdir(join(folder, "pods")), ["known"]);
    assert.deepEqual((await readdir(logs)).toSorted(), ["n_a_known", "n_c_elsewhere"]);
    assert.deepEqual(rounds, [
      [1, 0],
      [0, 0],
    ]);
    stop.abort();
    await over;
  });
