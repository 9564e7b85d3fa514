import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog, virtualClock } from "#base";
import { bytesToFree, collectableImages, imageCollection } from "./image-collection.ts";

const minute = 60_000;
const record = (id: string, more: object = {}) => ({
  id,
  sizeBytes: 60,
  isPinned: false,
  isUsed: false,
  firstSeenAt: -100 * minute,
  lastUsedAt: -Infinity,
  ...more,
});

test("the least recently used image is removed first, of equals the first seen; used, pinned and young ones are kept", () => {
  const records = [
    record("recent", { lastUsedAt: -5 * minute }),
    record("late", { firstSeenAt: -50 * minute }),
    record("used", { isUsed: true, lastUsedAt: 0 }),
    record("pinned", { isPinned: true }),
    record("young", { firstSeenAt: -1 * minute }),
    record("early"),
  ];
  assert.deepEqual(
    collectableImages(records, 0, 2 * minute).map(({ id }) => id),
    ["early", "late", "recent"],
  );
});

const amounts: [name: string, available: number, high: number, low: number, bytes: number][] = [
  ["below the high threshold nothing must be freed", 160, 85, 80, 0],
  ["at the high threshold enough is freed to reach the low one", 150, 85, 80, 50],
  ["used percent is rounded up", 159, 84, 80, 41],
  ["more available than the capacity counts as empty", 2000, 85, 80, 0],
];
for (const [name, availableBytes, highPercent, lowPercent, bytes] of amounts)
  test(name, () => {
    const disk = { capacityBytes: 1000, availableBytes };
    assert.equal(bytesToFree(disk, { highPercent, lowPercent }), bytes);
  });

function collection(more: {
  readonly images: string[];
  readonly used?: string[];
  readonly available: number;
  readonly maximumAge?: number;
  readonly capacities?: number[];
  readonly stuck?: readonly string[];
}) {
  const clock = virtualClock(1e9);
  const events: string[] = [];
  const removed: string[] = [];
  const it = imageCollection({
    clock,
    log: silentLog,
    runtime: {
      listImages: async () =>
        more.images
          .filter((id) => !removed.includes(id))
          .map((id) => ({ id, repoTags: [`${id}:1`], repoDigests: [], size: 60, pinned: false }) as never),
      listContainers: async () =>
        (more.used ?? []).map((id) => ({ image: { image: "" }, imageRef: id }) as never),
      removeImage: async ({ image }) => {
        if (more.stuck?.includes(image ?? "")) throw new Error(`${image} is stuck`);
        removed.push(image ?? "");
      },
    },
    events: { event: (_, __, reason) => events.push(reason) },
    node: { kind: "Node", name: "n1" },
    highPercent: 85,
    lowPercent: 80,
    minimumAgeMilliseconds: 2 * minute,
    maximumAgeMilliseconds: more.maximumAge ?? 0,
    sandboxImage: "pause:1",
    disk: async () => ({
      capacityBytes: more.capacities?.shift() ?? 1000,
      availableBytes: more.available,
    }),
  });
  return { it, clock, events, removed, collect: () => it.collect(new AbortController().signal) };
}

test("images found by the first pass count as old, later ones must reach the minimum age", async () => {
  const images = ["a", "pause", "busy"];
  const { collect, removed, clock, events } = collection({ images, used: ["busy"], available: 100 });
  await assert.rejects(collect(), /Attempted to free 100 bytes, but only found 60 bytes/);
  assert.deepEqual(removed, ["a"]);
  images.push("late");
  await assert.rejects(collect(), /only found 0 bytes/);
  await clock.advance(2 * minute);
  await assert.rejects(collect());
  assert.deepEqual(removed, ["a", "late"]);
  assert.deepEqual(events, ["FreeDiskSpaceFailed", "FreeDiskSpaceFailed", "FreeDiskSpaceFailed"]);
});

test("a first pass without disk capacity still records the images", async () => {
  const images = ["a"];
  const { collect, removed, events } = collection({ images, available: 100, capacities: [0] });
  await assert.rejects(collect(), /invalid capacity 0/);
  images.push("late");
  await assert.rejects(collect(), /only found 60 bytes/);
  assert.deepEqual(removed, ["a"], "images that appeared after the first pass are too young");
  assert.deepEqual(events, ["InvalidDiskCapacity", "FreeDiskSpaceFailed"]);
});

test("under disk pressure every unused image is removed, regardless of the thresholds", async () => {
  const { it, removed } = collection({ images: ["a", "b", "busy"], used: ["busy"], available: 900 });
  await it.removeUnused(new AbortController().signal);
  assert.deepEqual(removed, ["a", "b"]);
});

test("images that cannot be removed are reported with the freed bytes, and the others are still removed", async () => {
  const images = ["a", "b", "c"];
  const { it, collect, removed, events } = collection({ images, stuck: ["a", "b"], available: 100 });
  const why = "bytes space with errors in image deletion: [a is stuck, b is stuck]";
  await assert.rejects(collect(), { message: `wanted to free 100 bytes, but freed 60 ${why}` });
  assert.deepEqual([removed, events], [["c"], []]);
  await assert.rejects(it.removeUnused(new AbortController().signal), {
    message: `wanted to free 9223372036854775807 bytes, but freed 0 ${why}`,
  });
});

test("a second failure in a row is recorded as a node event", async () => {
  const { it, clock, events } = collection({ images: [], available: 0 });
  const stopping = new AbortController();
  const running = it.run(stopping.signal);
  await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(5 * minute);
  stopping.abort();
  await running;
  assert.deepEqual(events, ["FreeDiskSpaceFailed", "FreeDiskSpaceFailed", "ImageGCFailed"]);
});

test("images unused for too long are removed even with free disk space; earlier images count as used at the start", async () => {
  const { clock, removed, collect } = collection({
    images: ["a", "b"],
    used: ["b"],
    available: 900,
    maximumAge: 60 * minute,
  });
  await collect();
  await clock.advance(50 * minute);
  await collect();
  assert.deepEqual(removed, []);
  await clock.advance(11 * minute);
  await collect();
  assert.deepEqual(removed, ["a"]);
});

test("setting the machine's clock changes no age of an image", async () => {
  const hour = 60 * minute;
  const images = ["a"];
  const { clock, removed, collect } = collection({ images, available: 900, maximumAge: hour });
  await collect();
  clock.set(clock.now() + 24 * hour);
  await collect();
  assert.deepEqual(removed, []);
  clock.set(clock.now() - 48 * hour);
  await clock.advance(hour + minute);
  await collect();
  assert.deepEqual(removed, ["a"]);
});
