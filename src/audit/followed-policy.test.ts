import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createMetrics, silentLog, virtualClock } from "#base";
import { apiVersionOf, dialects } from "#dialect";
import { openAudit } from "./audit.ts";

const folder = mkdtempSync(join(tmpdir(), "orch-audit-policy-"));
after(() => rmSync(folder, { recursive: true }));
const dialect = dialects.orch;
const apiVersion = apiVersionOf(dialect, { group: "audit", branded: true, version: "v1" });
const policyWith = (level: string): string =>
  JSON.stringify({ apiVersion, kind: "Policy", rules: [{ level }] });

test("the audit policy is watched under the name of its flag, and an invalid one throws an error", () => {
  const policyFile = join(folder, "policy.json");
  writeFileSync(policyFile, policyWith("Metadata"));
  let setting = "";
  let readAgain: (text: string) => unknown = () => undefined;
  const audit = openAudit({
    settings: {
      policyFile,
      log: {
        path: "-",
        apiVersion,
        format: "json",
        maxMegabytes: 1,
        maxBackups: 0,
        maxAgeDays: 0,
        compress: false,
        mode: "blocking",
        bufferSize: 1,
        maxBatchSize: 1,
        maxWaitMilliseconds: 1,
        throttle: undefined,
        truncate: undefined,
      },
      webhook: undefined,
    },
    dialect,
    clock: virtualClock(),
    log: silentLog,
    metrics: createMetrics(),
    watchFile: (name, _file, read, first) => {
      setting = name;
      readAgain = read;
      const policy = read(first);
      return () => policy;
    },
  });
  assert.equal(setting, "--audit-policy-file");
  assert.ok(audit?.policy());
  assert.throws(() => readAgain(policyWith("Loud")), /level/);
});
