import assert from "node:assert/strict";
import { link, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Pod } from "#api";
import { silentLog, systemClock } from "#base";
import type { PodRegistry } from "../seams.ts";
import { diskUsage } from "./disk-usage.ts";
import { enforceStorageLimits, storageExcess } from "./storage-limits.ts";

const limited = (limit?: string) => ({
  name: "c",
  resources: { limits: limit ? { "ephemeral-storage": limit } : {} },
});
const pod = (...containers: object[]): Pod =>
  ({
    metadata: { name: "p", namespace: "ns", uid: "u" },
    spec: { containers },
    status: { phase: "Running" },
  }) as unknown as Pod;
const figures = (rootfs: number, volume = 0) => ({
  containers: [
    {
      name: "c",
      id: "",
      image: "",
      startedAt: 0,
      cpu: { nanoseconds: 0, nanoCores: 0 },
      workingSetBytes: 0,
      rootfs: { bytes: rootfs, inodes: 1 },
      logs: { bytes: 100, inodes: 1 },
    },
  ],
  volumes: [{ name: "v", used: { bytes: volume, inodes: 1 }, filesystem: {} as never, isLocal: true }],
});

const cases: [name: string, pod: Pod, figures: ReturnType<typeof figures>, message: string | undefined][] = [
  ["within the limit", pod(limited("1k")), figures(900), undefined],
  [
    "written layer and log over the limit",
    pod(limited("1k")),
    figures(901),
    "Pod ephemeral local storage usage exceeds the total limit of containers 1k. ",
  ],
  [
    "volumes count for the pod",
    pod(limited("1k")),
    figures(0, 901),
    "Pod ephemeral local storage usage exceeds the total limit of containers 1k. ",
  ],
  [
    "one container of several has a limit",
    pod(limited("1k"), { name: "d" }),
    figures(901),
    'Container c exceeded its local ephemeral storage limit "1k". ',
  ],
  ["no limit, no excess", pod(limited()), figures(1e9), undefined],
];
for (const [name, asked, used, message] of cases)
  test(`local storage: ${name}`, () => assert.equal(storageExcess(asked, used)?.message, message));

test("a folder's use counts files once, and nothing behind links", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "usage-"));
  t.after(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, "a"));
  await writeFile(join(folder, "outside"), Buffer.alloc(1 << 20, 1));
  await writeFile(join(folder, "a/f"), Buffer.alloc(65_536, 1));
  await link(join(folder, "a/f"), join(folder, "a/same"));
  await symlink("../outside", join(folder, "a/l"));
  const { bytes, inodes } = await diskUsage(join(folder, "a"));
  assert.ok(bytes >= 65_536 && bytes < 131_072, String(bytes));
  assert.equal(inodes, 3);
  assert.deepEqual(await diskUsage(join(folder, "nope")), { bytes: 0, inodes: 0 });
});

test("a pod whose emptyDir is over its limit is ended at once, and told why", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "usage-"));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "f"), Buffer.alloc(2 << 20, 1));
  const ended: unknown[] = [];
  const told: string[] = [];
  const message = 'Usage of EmptyDir volume "d" exceeds the limit "1Mi". ';
  await enforceStorageLimits({
    clock: systemClock,
    log: silentLog,
    registry: { pods: () => [pod({ name: "c" })] } as unknown as PodRegistry,
    evictor: { evict: (...given) => Promise.resolve(void ended.push(given)) },
    events: { event: (_, type, reason, words) => void told.push(`${type} ${reason} ${words}`) },
    stats: { look: () => Promise.reject(new Error("nobody asked for local storage")) },
    limited: () => [{ volume: "d", path: folder, limit: "1Mi" }],
    onEvicted: (signal) => void told.push(signal),
  });
  assert.deepEqual(ended, [["u", { reason: "Evicted", message }]]);
  assert.deepEqual(told, ["emptydirfs.limit", `Warning Evicted ${message}`]);
});
