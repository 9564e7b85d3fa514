import assert from "node:assert/strict";
import { test } from "node:test";
import { GrpcError } from "#http";
import { type Harness, on } from "../harness.fixture.ts";

const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "a" },
  spec: { containers: [{ name: "main", image: "busybox:1", command: ["sleep", "100000"] }] },
};
const broken = (): GrpcError => new GrpcError("UNKNOWN", "it broke");
const texts = ({ events }: Harness, ...reasons: string[]): string[] =>
  events
    .filter(({ reason }) => reasons.includes(reason))
    .map(({ type, reason, message }) => `${type} ${reason}: ${message}`);

test("a new sandbox whose status cannot be read is an event of its own", () =>
  on({}, async (h) => {
    h.runtime.faults.fail("PodSandboxStatus", broken(), 1);
    h.run(pod);
    await h.runThroughErrors(10);
    assert.deepEqual(texts(h, "FailedPodSandBoxStatus", "FailedCreatePodSandBox"), [
      "Warning FailedPodSandBoxStatus: Unable to get pod sandbox status: rpc error: code = Unknown desc = it broke",
    ]);
    assert.equal(h.status("uid-of-a").phase, "Running");
  }));

test("pod directories that cannot be made are an event", () => {
  const folderError = Object.assign(new Error("ENOSPC: no space left on device, mkdir '/agent/pods/x'"), {
    code: "ENOSPC",
  });
  return on({ folderError }, async (h) => {
    h.run(pod);
    await h.pass(1);
    assert.deepEqual(texts(h, "Failed"), [
      "Warning Failed: error making pod data directories: mkdir /agent/pods/x: no space left on device",
    ]);
  });
});

for (const [code, expected] of [
  ["UNKNOWN", ["Warning FailedSync: error determining status: rpc error: code = Unknown desc = it broke"]],
  ["UNAVAILABLE", []],
] as const)
  test(`a pod whose state cannot be determined with ${code}: ${expected.length} event`, () =>
    on({}, async (h) => {
      h.run({
        ...pod,
        spec: { containers: [{ ...pod.spec.containers[0], command: ["sh", "-c", "exit 1"] }] },
      });
      await h.runThroughErrors(3);
      h.runtime.faults.fail("ContainerStatus", new GrpcError(code, "it broke"), 1000);
      await h.runThroughErrors(70);
      assert.deepEqual([...new Set(texts(h, "FailedSync"))], expected);
    }));
