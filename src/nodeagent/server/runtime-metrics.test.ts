import assert from "node:assert/strict";
import { test } from "node:test";
import { runtimeMetrics } from "./runtime-metrics.ts";

const descriptor = { name: "container_cpu", help: "Processor time.", labelKeys: ["id", "name"] };
const metric = (labelValues: string[], value: number, more: object = {}) => ({
  name: "container_cpu",
  timestamp: 0,
  metricType: 0,
  labelValues,
  value: { value },
  ...more,
});

test("the runtime's metrics are exposed with their labels; those without a descriptor are not", async () => {
  let descriptorCalls = 0;
  const expose = runtimeMetrics({
    listMetricDescriptors: () => {
      descriptorCalls++;
      return Promise.resolve([descriptor] as never);
    },
    listPodSandboxMetrics: () =>
      Promise.resolve([
        {
          podSandboxId: "s",
          metrics: [metric(["s", ""], 1)],
          containerMetrics: [
            {
              containerId: "c",
              metrics: [
                metric(["c", "app"], 2, { timestamp: 1_700_000_000_123_000_000n }),
                metric(["too few"], 3),
                metric(["c", "app"], 4, { name: "unknown" }),
              ],
            },
          ],
        },
      ] as never),
  });
  const text = await expose();
  assert.equal(
    text,
    [
      "# HELP container_cpu Processor time.",
      "# TYPE container_cpu counter",
      'container_cpu{id="s",name=""} 1',
      'container_cpu{id="c",name="app"} 2 1700000000123',
      "",
    ].join("\n"),
  );
  await expose();
  assert.equal(descriptorCalls, 1);
});

test("a runtime without metrics yields none, and is queried again", async () => {
  let descriptorCalls = 0;
  const expose = runtimeMetrics({
    listMetricDescriptors: () => {
      descriptorCalls++;
      return Promise.reject(Object.assign(new Error("no"), { code: "UNIMPLEMENTED" }));
    },
    listPodSandboxMetrics: () => Promise.resolve([]),
  });
  assert.deepEqual([await expose(), await expose(), descriptorCalls], ["", "", 2]);
});
