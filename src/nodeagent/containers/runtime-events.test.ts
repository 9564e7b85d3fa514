import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { fakeRuntime } from "#cri";
import { dialects } from "#dialect";
import { followRuntimeEvents } from "./runtime-events.ts";
import { runtimeLabelNames } from "./runtime-labels.ts";

const names = runtimeLabelNames(dialects.orch);

test("each event has its pod inspected; failures are counted, and later events are still handled", async () => {
  const clock = virtualClock(1_000_000);
  const runtime = fakeRuntime({ clock, images: ["busybox:1"], events: true });
  const inspected: string[] = [];
  const latencies: number[] = [];
  let [discarded, opened, broken] = [0, 0, 0];
  const stop = new AbortController();
  const following = followRuntimeEvents(
    {
      runtime: {
        async *containerEvents(signal) {
          for await (const event of runtime.containerEvents(signal)) {
            await clock.advance(250);
            yield event;
          }
        },
      },
      clock,
      dialect: dialects.orch,
      owns: () => true,
      retryMilliseconds: () => 5000,
      inspect: async ({ uid }) => {
        inspected.push(uid);
        if (uid === "bad") throw new Error("the shim is gone");
      },
      onFollow: (isOpen) => void (isOpen ? opened++ : broken++),
      onEvent: (milliseconds) => void latencies.push(milliseconds),
      onDiscard: () => void discarded++,
    },
    stop.signal,
  );
  const turn = async (): Promise<void> => {
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
  };
  await turn();
  for (const uid of ["bad", "good"]) {
    const labels = { [names.podUid]: uid, [names.podName]: uid, [names.podNamespace]: "n" };
    await runtime.runPodSandbox({ metadata: { name: uid, uid, namespace: "n" }, labels, linux: {} });
    await turn();
  }
  stop.abort();
  await following;
  const bad = inspected.filter((uid) => uid === "bad").length;
  assert.ok(bad > 0 && inspected.at(-1) === "good", inspected.join());
  assert.deepEqual({ discarded, opened, broken }, { discarded: bad, opened: 1, broken: 0 });
  assert.ok(latencies.length === inspected.length && latencies[0] === 250, latencies.join());
});
