import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { settleFlags } from "../options/settings.ts";
import { auditSettings } from "./audit-settings.ts";

const of = (...flags: string[]) => auditSettings(settleFlags(dialects.orch, flags).values);
const both = ["--audit-log-path=-", "--audit-webhook-config-file=/hook"];

test("events go to a file and to a webhook, to both at once, or nowhere", () => {
  const backends = (...flags: string[]): boolean[] => {
    const { log, webhook } = of(...flags);
    return [log !== undefined, webhook !== undefined];
  };
  assert.deepEqual(backends(), [false, false]);
  assert.deepEqual(backends(both[0]!), [true, false]);
  assert.deepEqual(backends(both[1]!), [false, true]);
  assert.deepEqual(backends(...both), [true, true]);
});

test("events are truncated only where that is enabled", () => {
  const limits = { maxEventBytes: 102_400, maxBatchBytes: 10_485_760 };
  const { log, webhook } = of(...both, "--audit-log-truncate-enabled=true");
  assert.deepEqual([log?.truncate, webhook?.truncate], [limits, undefined]);
  assert.deepEqual(of(...both, "--audit-webhook-truncate-enabled=true").webhook?.truncate, limits);
});
