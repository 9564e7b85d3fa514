// Image collection with the images and containers of a real containerd. Time and disk usage are simulated:
// real collections are five minutes apart and need a full disk.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { silentLog, virtualClock } from "#base";
import { grpcRuntime } from "#cri";
import { needsContainerd, startContainerd, until } from "#kit";
import { type ImageCollectionOptions, imageCollection } from "./image-collection.ts";

const minute = 60_000;
const gibibyte = 1024 ** 3;
const { signal } = new AbortController();
const containerdOnly = needsContainerd();
const spacious = { capacityBytes: 100 * gibibyte, availableBytes: 90 * gibibyte };

/** Starts a containerd with the images `idle`, `pinned` and `busy`, the last one used by a container. */
async function begin(t: TestContext, options: Partial<ImageCollectionOptions>) {
  const daemon = await startContainerd();
  const runtime = grpcRuntime({ endpoint: daemon.endpoint, timeoutMilliseconds: 60_000 });
  t.after(async () => {
    runtime.close();
    await daemon.stop();
  });
  const pull = async (name: string): Promise<string> => {
    const image = await daemon.registry.add(`${name}:1`, { command: ["true"], files: { "/name": name } });
    await runtime.pullImage({ image });
    return image;
  };
  await pull("idle");
  const [pinned, busy] = [await pull("pinned"), await pull("busy")];
  const config = {
    metadata: { name: "p", namespace: "n", uid: "u" },
    logDirectory: `${daemon.folder}/logs`,
    linux: { cgroupParent: `${daemon.cgroupRoot}/p` },
  };
  const sandbox = await runtime.runPodSandbox(config);
  await runtime.createContainer(
    sandbox,
    { metadata: { name: "c" }, image: { image: busy }, logPath: "c.log" },
    config,
  );
  const clock = virtualClock();
  const disk = { ...spacious };
  const events: string[] = [];
  const collection = imageCollection({
    clock,
    log: silentLog,
    runtime: {
      listContainers: runtime.listContainers,
      removeImage: runtime.removeImage,
      // containerd reports pinned images since 1.7.
      listImages: async () =>
        (await runtime.listImages()).map((image) => ({
          ...image,
          pinned: image.pinned || image.repoTags.includes(pinned),
        })),
    },
    events: { event: (_, __, reason) => events.push(reason) },
    node: { kind: "Node", name: "n1" },
    highPercent: 85,
    lowPercent: 80,
    minimumAgeMilliseconds: 2 * minute,
    maximumAgeMilliseconds: 0,
    sandboxImage: daemon.images.pause,
    disk: async () => disk,
    ...options,
  });
  const names = async (): Promise<string> =>
    (await runtime.listImages())
      .flatMap(({ repoTags }) => repoTags)
      .map((name) => /([^/]+):1$/.exec(name)?.[1] ?? name)
      .toSorted((a, b) => a.localeCompare(b))
      .join(" ");
  return { collection, clock, disk, events, pull, names };
}

test(
  "above the high threshold unused images are removed once they are old enough",
  containerdOnly,
  async (t) => {
    const { collection, clock, disk, events, pull, names } = await begin(t, {});
    await collection.collect(signal);
    assert.equal(await names(), "busy busybox idle pause pinned", "usage is below the high threshold");
    await pull("late");
    disk.availableBytes = 10 * gibibyte;
    await assert.rejects(collection.collect(signal), /Failed to garbage collect required amount of images/);
    assert.equal(await names(), "busy late pause pinned", "images from before the start count as old");
    assert.deepEqual(events, ["FreeDiskSpaceFailed"]);
    await clock.advance(2 * minute);
    await assert.rejects(collection.collect(signal));
    assert.equal(await names(), "busy pause pinned");
  },
);

test("no more images are removed than the low threshold requires", containerdOnly, async (t) => {
  const { collection, disk, events, names } = await begin(t, {});
  Object.assign(disk, { capacityBytes: 100, availableBytes: 16 });
  await collection.collect(signal);
  assert.equal(await names(), "busy busybox idle pause pinned", "between the thresholds nothing is removed");
  disk.availableBytes = 15;
  await collection.collect(signal);
  assert.match(await names(), /^busy (busybox|idle) pause pinned$/, "one image is larger than five bytes");
  assert.deepEqual(events, []);
});

test(
  "images unused for longer than the maximum age are removed even if collection by thresholds is off",
  containerdOnly,
  async (t) => {
    const { collection, clock, names } = await begin(t, {
      highPercent: 100,
      maximumAgeMilliseconds: 60 * minute,
    });
    const stopping = new AbortController();
    const running = collection.run(stopping.signal);
    await until("unused images are removed", async () => {
      await clock.advance(5 * minute);
      return (await names()) === "busy pause pinned";
    });
    stopping.abort();
    await running;
  },
);
