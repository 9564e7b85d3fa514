// Values just inside and just outside the documented limits.
import assert from "node:assert/strict";
import { test } from "node:test";
import { apiVersionOf, dialects } from "#dialect";
import { parseConfigFile, settle } from "#options";
import { nodeagentOptions } from "./options.ts";

const base = ["--container-runtime-endpoint=unix:///run/x.sock"];
const errorsOf = (flag: string): readonly string[] =>
  settle(nodeagentOptions(dialects.orch), [...base, ...flag.split(" ")], { readable: () => true }).errors;

const cases: [flags: string, accepted: boolean][] = [
  ["--memory-manager-policy=None", true],
  ["--memory-manager-policy=none", false],
  ["--memory-manager-policy=static", false],
  ["--image-gc-high-threshold=0 --image-gc-low-threshold=0", false],
  ["--image-gc-high-threshold=100", true],
  ["--image-gc-high-threshold=101", false],
  ["--image-gc-high-threshold=-1", false],
  ["--image-gc-low-threshold=0", true],
  ["--image-gc-low-threshold=-1", false],
  ["--image-gc-high-threshold=60 --image-gc-low-threshold=61", false],
  ["--event-qps=0", true],
  ["--event-qps=-1", false],
  ["--event-burst=0", true],
  ["--event-burst=-1", false],
];
for (const [flags, accepted] of cases)
  test(`${flags} is ${accepted ? "accepted" : "refused"}`, () =>
    assert.equal(errorsOf(flags).length === 0, accepted, errorsOf(flags).join("\n")));

async function withFile(fields: Record<string, unknown>) {
  const dialect = dialects.orch;
  const head = {
    apiVersion: apiVersionOf(dialect, { group: "nodeagent.config", branded: true, version: "v1beta1" }),
    kind: dialect.spelling.word("NodeAgentConfiguration"),
  };
  const file = await parseConfigFile("config.yaml", JSON.stringify({ ...head, ...fields }));
  return settle(nodeagentOptions(dialect), base, { files: [file], readable: () => true });
}

test("0 as a flag means the default rate, 0 in the file means unlimited", async () => {
  const { values } = settle(nodeagentOptions(dialects.orch), [...base, "--event-qps=0", "--event-burst=0"]);
  assert.deepEqual([values.eventQps, values.eventBurst], [50, 100]);
  assert.equal((await withFile({ eventRecordQPS: 0 })).values.eventQps, 0);
  for (const field of ["eventRecordQPS", "eventBurst"])
    assert.ok((await withFile({ [field]: -1 })).errors.some((line) => line.includes(field)));
});

test("log queries need the log handler", async () => {
  const gate = { featureGates: { NodeLogQuery: true } };
  const problem = /the query needs the handler/;
  const without = await withFile({ ...gate, enableSystemLogQuery: true, enableSystemLogHandler: false });
  assert.ok(
    without.errors.some((line) => problem.test(line)),
    without.errors.join("\n"),
  );
  const both = await withFile({ ...gate, enableSystemLogQuery: true, enableSystemLogHandler: true });
  assert.ok(!both.errors.some((line) => problem.test(line)));
});

test("the reserved-memory flag is repeatable, and must add up to the other reservations and the eviction threshold", () => {
  const about = (...flags: readonly string[]) => {
    const { values, errors } = settle(nodeagentOptions(dialects.orch), [...base, ...flags], {
      readable: () => true,
    });
    return { given: values.reservedMemory, wrong: errors.filter((line) => line.includes("add up")) };
  };
  const huge = "--reserved-memory=0:memory=1Gi,hugepages-1M=2Gi";
  const second = "--reserved-memory=1:memory=124Mi";
  assert.deepEqual(about(huge, second).given, [
    { numaNode: 0, limits: { memory: "1Gi", "hugepages-1M": "2Gi" } },
    { numaNode: 1, limits: { memory: "124Mi" } },
  ]);
  assert.deepEqual(about(huge, second).wrong, [], "only where it is used");
  const used = ["--memory-manager-policy=Static", second, "--orch-reserved=memory=1Gi"];
  const sums = [...used, "--reserved-memory=0:memory=1Gi", "--system-reserved=memory=24Mi"];
  assert.deepEqual(about(...sums).wrong, []);
  assert.equal(about(...sums, "--eviction-hard=memory.available<200Mi").wrong.length, 1);
  const withoutEviction = ["--eviction-hard=memory.available<0%", "--system-reserved=memory=124Mi"];
  assert.deepEqual(about(...sums, ...withoutEviction).wrong, []);
  // Nothing else reserves huge pages, so none can be reserved per NUMA node either.
  assert.match(
    about(...used, huge, "--system-reserved=memory=24Mi").wrong.join(),
    /hugepages-1M.*2Gi is not 0/,
  );
});
