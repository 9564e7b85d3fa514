import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { silentLog, virtualClock } from "#base";
import { fakeRuntime } from "#cri";
import { type ObserveOptions, nodeObserver, plainVersion } from "./observe.ts";

const machine = {
  cpus: 4,
  memoryBytes: 8 * 1024 ** 3,
  swapBytes: 0,
  hugepages: [],
  machineId: "m",
  systemUuid: "s",
  bootId: "b",
  kernelVersion: "6.1",
  osImage: "An OS",
  architecture: "arm64",
  maxPids: 4_000_000,
  cores: 1,
  sockets: 1,
  appArmor: false,
  selinux: false,
};
const observer = (more: Partial<ObserveOptions>) => {
  const clock = virtualClock();
  return nodeObserver({
    clock,
    log: silentLog,
    runtime: fakeRuntime({ clock }),
    runtimeHealth: {
      version: () => undefined,
      problems: () => ["the runtime rests"],
      networkError: () => undefined,
      check: async () => undefined,
      stop: () => undefined,
    },
    hostname: "n1",
    addresses: { given: ["10.0.0.1"] },
    rootDirectory: tmpdir(),
    agentVersion: "v1",
    maxPods: 110,
    podsPerCore: 0,
    reserved: [{ memory: "1Gi" }],
    hardThresholds: { "memory.available": "1Gi" },
    reserveThresholds: true,
    pressures: () => [],
    localStorageIsolation: true,
    maxImages: 50,
    machine: async () => machine,
    ...more,
  });
};
const observeOnce = (more: Partial<ObserveOptions>) => observer(more)();

test("hard thresholds are subtracted from the allocatable resources unless configured otherwise", async () => {
  assert.equal((await observeOnce({})).facts.allocatable["memory"], "6Gi");
  assert.equal((await observeOnce({ reserveThresholds: false })).facts.allocatable["memory"], "7Gi");
});

test("local storage is part of the capacity only if it is accounted for", async () => {
  assert.ok("ephemeral-storage" in (await observeOnce({})).facts.capacity);
  assert.ok(!("ephemeral-storage" in (await observeOnce({ localStorageIsolation: false })).facts.capacity));
});

test("the node's health contains pressure and the runtime's problems", async () => {
  const { health } = await observeOnce({ pressures: () => ["MemoryPressure"] });
  assert.deepEqual(
    [health.memoryPressure, health.diskPressure, health.pidPressure, health.problems],
    [true, false, false, ["the runtime rests"]],
  );
});

const versions: [name: string, given: string, expected: string][] = [
  ["a semantic version is unchanged", "1.6.20", "1.6.20"],
  ["a leading v is removed", "v1.7.0", "1.7.0"],
  ["pre-release and build are kept", "1.7.0-rc.1+build.5", "1.7.0-rc.1+build.5"],
  ["a packager's suffix is removed", "1.6.20~ds1", "1.6.20"],
  ["two numbers are enough", "24.0-ce", "24.0"],
  ["a text that is not a version is unchanged", "unknown", "unknown"],
];
for (const [name, given, expected] of versions)
  test(`the runtime's version: ${name}`, () => assert.equal(plainVersion(given), expected));

test("an unresponsive runtime delays the node status only briefly, and the images reported before are kept", async () => {
  const clock = virtualClock();
  const runtime = fakeRuntime({ clock, images: ["busybox:1"] });
  const observe = observer({ clock, runtime });
  const names = async () => ((await observe()).facts.images ?? []).flatMap((image) => image.names ?? []);
  const before = await names();
  assert.ok(before.length > 0);
  runtime.faults.hold("ListImages");
  runtime.calls.length = 0;
  const later = names();
  while (!runtime.calls.some(({ method }) => method === "ListImages"))
    await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(5000);
  assert.deepEqual(await later, before);
});

test("volumes in use are left out while they are unknown", async () => {
  assert.equal((await observeOnce({ volumesInUse: () => undefined })).facts.volumesInUse, undefined);
  assert.deepEqual((await observeOnce({ volumesInUse: () => [] })).facts.volumesInUse, []);
});
