import assert from "node:assert/strict";
import { test } from "node:test";
import { parseReading, usageBetween } from "./usage.ts";

const text = (at: number, cpu: number, started = 5, other = cpu): string => `# TYPE x counter
container_cpu_usage_seconds_total{container="main",namespace="t",pod="a"} ${cpu} ${at}
container_cpu_usage_seconds_total{container="side",namespace="t",pod="a"} ${other} ${at}
container_memory_working_set_bytes{container="main",namespace="t",pod="a"} 2048 ${at}
container_memory_working_set_bytes{container="side",namespace="t",pod="a"} 1.5e3 ${at}
container_start_time_seconds{container="main",namespace="t",pod="a"} ${started}
node_cpu_usage_seconds_total ${cpu * 10} ${at}
node_memory_working_set_bytes 4096 ${at}
pod_cpu_usage_seconds_total{namespace="t",pod="a"} 99 ${at}
scrape_error 0
`;

test("CPU is the rate between two readings, and memory that of the later one", () => {
  const usage = usageBetween(parseReading(text(1000, 1), 0), parseReading(text(3000, 1.5), 0));
  const base = { at: 3000, windowMilliseconds: 2000 };
  assert.deepEqual(usage.node, { ...base, nanoCores: 2_500_000_000, memoryBytes: 4096 });
  assert.deepEqual(
    [...usage.pods.get("t/a")!],
    [
      ["main", { ...base, nanoCores: 250_000_000, memoryBytes: 2048 }],
      ["side", { ...base, nanoCores: 250_000_000, memoryBytes: 1500 }],
    ],
  );
});

const unknown: [name: string, earlier: string, later: string][] = [
  ["a pod that was read once", "", text(2000, 1)],
  ["a container that was restarted", text(1000, 1), text(2000, 1, 6)],
  ["a reading identical to the previous one", text(1000, 1), text(1000, 1)],
  ["a counter that decreased", text(1000, 2), text(2000, 1)],
  ["a pod with a container without a rate", text(1000, 1, 5, 2), text(2000, 3, 5, 1)],
];
for (const [name, earlier, later] of unknown)
  test(`${name} has no usage`, () =>
    assert.equal(usageBetween(parseReading(earlier, 0), parseReading(later, 0)).pods.size, 0));

test("samples without a timestamp have the time of the reading", () => {
  const { node } = parseReading("node_cpu_usage_seconds_total 1\nnode_memory_working_set_bytes 2\n", 7);
  assert.deepEqual(node, { at: 7, cpuSeconds: 1, memoryBytes: 2, startSeconds: 0 });
});

test("a long label list is parsed in linear time", () => {
  const long = `container_cpu_usage_seconds_total{container="${'\\"'.repeat(200_000)}`;
  assert.equal(parseReading(long, 0).pods.size, 0);
});
