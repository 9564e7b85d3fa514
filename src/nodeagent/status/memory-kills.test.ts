import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodStatus } from "#api";
import { samplePod } from "../pod.fixture.ts";
import { memoryKills } from "./memory-kills.ts";

const pod = samplePod({
  containers: [{ name: "c", resources: { limits: { memory: "32Mi" } } }],
  initContainers: [{ name: "i" }],
});
const end = (name: string, id: string, reason: string) => ({
  terminated: { exitCode: 137, reason, startedAt: null, finishedAt: null, containerID: `rt://${id}` },
  name,
});
type End = ReturnType<typeof end>;
const status = (ends: readonly End[], key: "state" | "lastState" = "state"): PodStatus => {
  const of = (list: readonly End[]) =>
    list.map(({ name, terminated }) => ({
      name,
      state: {},
      lastState: {},
      [key]: { terminated },
      ready: false,
      restartCount: 0,
      image: "",
      imageID: "",
    }));
  return {
    containerStatuses: of(ends.filter(({ name }) => name === "c")),
    initContainerStatuses: of(ends.filter(({ name }) => name === "i")),
  };
};
const killed = end("c", "1", "OOMKilled");
const message = "Container c of pod n/a was killed by the kernel: out of memory (memory limit 32Mi)";

const cases: [name: string, now: PodStatus, before: PodStatus, messages: readonly string[]][] = [
  ["a killed container is reported", status([killed]), {}, [message]],
  ["a kill is reported only once", status([killed]), status([killed]), []],
  ["a kill is not reported again after the restart", status([killed], "lastState"), status([killed]), []],
  ["a kill before an already observed restart is reported", status([killed], "lastState"), {}, [message]],
  ["a second kill is reported", status([killed]), status([end("c", "0", "OOMKilled")]), [message]],
  ["a termination for another reason is not reported", status([end("c", "1", "Error")]), {}, []],
  [
    "a killed init container without a limit is reported",
    status([end("i", "1", "OOMKilled")]),
    {},
    ["Container i of pod n/a was killed by the kernel: out of memory; it has no memory limit of its own"],
  ],
];
for (const [name, now, before, messages] of cases)
  test(name, () => assert.deepEqual(memoryKills(pod, now, before), messages));
