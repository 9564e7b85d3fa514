import assert from "node:assert/strict";
import { test } from "node:test";
import { VolumeError } from "../interfaces.ts";
import { podWith, setUp } from "./volumes.fixture.ts";

test("volumes that are not mounted in time are reported in an event, repeatedly", async (t) => {
  const { mount, events, clock } = await setUp(t);
  const late = (): string[] => events.splice(0).filter((each) => each.includes("timed out"));
  const pod = podWith(
    { configMap: { name: "none" } },
    {
      volumes: [
        { name: "v", configMap: { name: "none" } },
        { name: "a", secret: { secretName: "none" } },
        { name: "e", emptyDir: {} },
      ],
      containers: [
        { name: "c", volumeMounts: ["v", "a", "e"].map((name) => ({ name, mountPath: `/${name}` })) },
      ],
    },
  );
  await assert.rejects(mount(pod), VolumeError);
  await clock.advance(122_999);
  await assert.rejects(mount(pod), VolumeError);
  assert.deepEqual(late(), []);
  await clock.advance(1);
  await assert.rejects(mount(pod), VolumeError);
  const expected =
    "FailedMount: Unable to attach or mount volumes: unmounted volumes=[a v], unattached volumes=[], failed to process volumes=[]: timed out waiting for the condition";
  assert.deepEqual(late(), [expected]);
  await assert.rejects(mount(pod), VolumeError);
  assert.deepEqual(late(), []);
  await clock.advance(123_000);
  await assert.rejects(mount(pod), VolumeError);
  assert.deepEqual(late(), [expected]);
});

test("a pod with a missing claim gets no timeout event", async (t) => {
  const { mount, events, clock } = await setUp(t);
  const pod = podWith({ persistentVolumeClaim: { claimName: "none" } });
  for (let round = 0; round < 3; round++) {
    await assert.rejects(mount(pod), VolumeError);
    await clock.advance(123_000);
  }
  assert.deepEqual(
    events.filter((each) => each.includes("timed out")),
    [],
  );
});
