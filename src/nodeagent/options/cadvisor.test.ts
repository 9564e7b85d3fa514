import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { dialects } from "#dialect";
import { settle } from "#options";
import { readMachine } from "../resources/machine.ts";
import { nodeagentOptions } from "./options.ts";

const deprecated =
  "This is a cadvisor flag that was mistakenly registered with the Kubelet. Due to legacy concerns, it will follow the standard CLI deprecation timeline before being removed.";

test("inherited flags are accepted with the original's deprecation text, and reported where they have no effect", () => {
  const { warnings, errors, values } = settle(
    nodeagentOptions(dialects.kubernetes),
    [
      "--housekeeping_interval=1s",
      "--storage-driver-db=x",
      "--event-storage-age-limit=default=1h",
      "--containerd=/run/x.sock",
      "--boot-id-file=/x",
    ],
    { purpose: "check" },
  );
  assert.deepEqual(errors, []);
  assert.equal(values.housekeepingInterval, 1000);
  for (const flag of ["storage-driver-db", "event-storage-age-limit", "containerd"]) {
    assert.ok(warnings.includes(`Flag --${flag} has been deprecated, ${deprecated}`), flag);
    assert.ok(
      warnings.some((line) => line.startsWith(`--${flag}=`) && line.includes("has no effect: ")),
      flag,
    );
  }
  assert.ok(!warnings.some((line) => line.includes("housekeeping") || line.startsWith("--boot-id-file=")));
});

test("the machine IDs are read from the first non-empty file", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "ids-"));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "b"), "boot\n");
  await writeFile(join(folder, "m"), "machine\n");
  const { machineId, bootId } = await readMachine(folder, {
    machineIdFiles: "/none,/m",
    bootIdFiles: "/b",
  });
  assert.deepEqual([machineId, bootId], ["machine", "boot"]);
});
