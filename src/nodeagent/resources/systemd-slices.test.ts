import assert from "node:assert/strict";
import { test } from "node:test";
import { systemdSlices, unitsOf } from "./systemd-slices.ts";

test("the systemd driver is rejected if systemd is not running", () => {
  assert.throws(() => systemdSlices(() => false), /systemd does not run this machine: use cgroupfs/);
});

test("the slices of a group are started as units, from the top down", async () => {
  const calls: string[][] = [];
  const slices = systemdSlices(
    () => true,
    async (_, args) => {
      calls.push([...args]);
      if (args[4] === "StartTransientUnit" && args[6] === "pods.slice")
        throw Object.assign(new Error("failed"), { stderr: "Unit pods.slice already exists." });
    },
  );
  await slices.start("/pods.slice/pods-podu1.slice");
  await slices.stop("/pods.slice/pods-podu1.slice");
  assert.deepEqual(
    calls.map((args) => [args[4], args[6]]),
    [
      ["StartTransientUnit", "pods.slice"],
      ["StartTransientUnit", "pods-podu1.slice"],
      ["StopUnit", "pods-podu1.slice"],
    ],
  );
});

test("errors of systemd are reported", async () => {
  const slices = systemdSlices(
    () => true,
    () => Promise.reject(Object.assign(new Error("failed"), { stderr: "Access denied" })),
  );
  await assert.rejects(slices.start("/pods.slice"), /failed/);
  assert.deepEqual(unitsOf("/"), []);
});
