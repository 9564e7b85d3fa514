import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { VolumePlugin } from "../interfaces.ts";
import { podWith, setUp } from "./volumes.fixture.ts";

const recorded: VolumePlugin = {
  name: "recorded",
  supports: () => false,
  mount: async () => assert.fail("must not be called"),
  isRecorded: async (directory) => directory.endsWith("whole"),
};

test("volumes of an earlier agent are found and counted; unknown ones are removed with their pod and counted", async (t) => {
  const { volumes, mount, anAgent, counted, place } = await setUp(t);
  await mount(podWith({ emptyDir: {} }));
  await mkdir(place("of-a-later-release"), { recursive: true });
  await mkdir(place("recorded", "whole"), { recursive: true });
  await mkdir(place("recorded", "torn"), { recursive: true });
  await volumes.reconstruct();
  counted.length = 0;
  const next = anAgent({ plugins: [recorded] });
  await next.reconstruct();
  assert.deepEqual(counted.toSorted(), [
    "found, known",
    "found, known",
    "found, not known",
    "found, not known",
  ]);
  counted.length = 0;
  await writeFile(join(place("of-a-later-release"), "foreign"), "");
  await assert.rejects(next.release("u1"));
  assert.deepEqual(counted, ["taken away unknown, bad", "taken away unknown, bad"]);
});

test("unknown volumes are no longer counted once the pod has its volumes again", async (t) => {
  const { anAgent, counted, place } = await setUp(t);
  await mkdir(place("of-a-later-release"), { recursive: true });
  const next = anAgent();
  await next.reconstruct();
  assert.deepEqual(counted, ["found, not known"]);
  await next.mount(podWith({ emptyDir: {} }), new AbortController().signal);
  await next.release("u1");
  assert.deepEqual(
    counted.filter((line) => line.startsWith("taken away")),
    [],
  );
});
