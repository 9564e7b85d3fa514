import assert from "node:assert/strict";
import { test } from "node:test";
import { cpuFrom, reservedMemoryOf } from "./agent-managers.ts";

const none = {
  cpuManagerPolicy: "none",
  cpuManagerPolicyOptions: {},
  reservedCpus: "",
  orchReserved: {},
  systemReserved: {},
} as const;
const all = (): boolean => true;

test("the static memory policy needs reserved memory, of one node in one entry or several", () => {
  const nodes = new Set([0, 1]);
  assert.throws(() => reservedMemoryOf({ reservedMemory: [] }, nodes), /needs reserved memory/);
  const reservedMemory = [
    { numaNode: 1, limits: { memory: "1Ki" } },
    { numaNode: 1, limits: { "hugepages-2Mi": "2Mi" } },
  ];
  const found = reservedMemoryOf({ reservedMemory }, nodes).get(1);
  assert.deepEqual([found?.get("memory"), found?.get("hugepages-2Mi")], [1024, 2 * 1024 ** 2]);
});

test("memory cannot be reserved on a NUMA node that the machine does not have", () => {
  const reservedMemory = [{ numaNode: 2, limits: { memory: "1Ki" } }];
  assert.throws(() => reservedMemoryOf({ reservedMemory }, new Set([0, 1])), /NUMA node 2, which/);
});

test("the static CPU policy reserves the named CPUs, or as many as the reservations need", () => {
  const fixed = { ...none, cpuManagerPolicy: "static" } as const;
  assert.deepEqual(cpuFrom({ ...fixed, reservedCpus: "0,2" }, all)?.reserved, new Set([0, 2]));
  const amounts = { orchReserved: { cpu: "600m" }, systemReserved: { cpu: "600m" } };
  assert.equal(cpuFrom({ ...fixed, ...amounts }, all)?.reserved, 2);
  assert.throws(() => cpuFrom(fixed, all), /requires CPUs reserved/);
});

test("the CPU policy none does not accept options, and options need their feature gate", () => {
  const given = { cpuManagerPolicyOptions: { "align-by-socket": "true" } };
  assert.throws(() => cpuFrom({ ...none, ...given }, all), /does not accept options/);
  const fixed = { ...none, ...given, cpuManagerPolicy: "static", reservedCpus: "0" } as const;
  assert.throws(() => cpuFrom(fixed, (gate) => gate !== "CPUManagerPolicyAlphaOptions"), /Alpha-level/);
  assert.equal(cpuFrom(fixed, all)?.options.alignBySocket, true);
  const unknown = { ...fixed, cpuManagerPolicyOptions: { fast: "true" } };
  assert.throws(() => cpuFrom(unknown, all), /unknown CPU Manager Policy option/);
  const wrong = { ...fixed, cpuManagerPolicyOptions: { "full-pcpus-only": "maybe" } };
  assert.throws(() => cpuFrom(wrong, all), /is not a boolean/);
});
