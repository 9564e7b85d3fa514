import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { settleFlags } from "../options/settings.ts";
import { auditSettings } from "./audit-settings.ts";

const of = (...flags: string[]) => auditSettings(settleFlags(dialects.orch, flags).values);
const both = ["--audit-log-path=-", "--audit-webhook-config-file=/hook"];

test("events are sent to a file, to a webhook, to both, or to neither", () => {
  const backends = (...flags: string[]): boolean[] => {
    const { log, webhook } = of(...flags);
    return [log !== undefined, webhook !== undefined];
  };
  assert.deepEqual(backends(), [false, false]);
  assert.deepEqual(backends(both[0]!), [true, false]);
  assert.deepEqual(backends(both[1]!), [false, true]);
  assert.deepEqual(backends(...both), [true, true]);
});

test("events are truncated only if that is enabled", () => {
  const limits = { maxEventBytes: 102_400, maxBatchBytes: 10_485_760 };
  const { log, webhook } = of(...both, "--audit-log-truncate-enabled=true");
  assert.deepEqual([log?.truncate, webhook?.truncate], [limits, undefined]);
  assert.deepEqual(of(...both, "--audit-webhook-truncate-enabled=true").webhook?.truncate, limits);
});

const defaults = of(...both);
interface Nested {
  [field: string]: unknown;
}
type Path = readonly [backend: "log" | "webhook", ...fields: string[]];
/** A flag, the field it changes, and the field's value. */
const cases: [flag: string, path: Path, value: unknown, besides?: string[]][] = [
  ["--audit-log-path=/var/log/audit", ["log", "path"], "/var/log/audit"],
  ["--audit-log-version=audit.orch.io/v1", ["log", "apiVersion"], "audit.orch.io/v1"],
  ["--audit-log-format=legacy", ["log", "format"], "legacy"],
  ["--audit-log-maxsize=7", ["log", "maxMegabytes"], 7],
  ["--audit-log-maxbackup=8", ["log", "maxBackups"], 8],
  ["--audit-log-maxage=9", ["log", "maxAgeDays"], 9],
  ["--audit-log-compress", ["log", "compress"], true],
  ["--audit-log-mode=batch", ["log", "mode"], "batch"],
  ["--audit-log-batch-buffer-size=5", ["log", "bufferSize"], 5],
  ["--audit-log-batch-max-size=6", ["log", "maxBatchSize"], 6],
  ["--audit-log-batch-max-wait=3s", ["log", "maxWaitMilliseconds"], 3000],
  ["--audit-webhook-config-file=/other", ["webhook", "configFile"], "/other"],
  ["--audit-webhook-version=audit.orch.io/v1", ["webhook", "apiVersion"], "audit.orch.io/v1"],
  ["--audit-webhook-initial-backoff=2s", ["webhook", "initialBackoffMilliseconds"], 2000],
  ["--audit-webhook-mode=blocking", ["webhook", "mode"], "blocking"],
  ["--audit-webhook-batch-buffer-size=5", ["webhook", "bufferSize"], 5],
  ["--audit-webhook-batch-max-size=6", ["webhook", "maxBatchSize"], 6],
  ["--audit-webhook-batch-max-wait=3s", ["webhook", "maxWaitMilliseconds"], 3000],
  ["--audit-webhook-batch-throttle-enable=false", ["webhook", "throttle"], undefined],
  ["--audit-webhook-batch-throttle-qps=2.5", ["webhook", "throttle", "perSecond"], 2.5],
  ["--audit-webhook-batch-throttle-burst=4", ["webhook", "throttle", "burst"], 4],
];
/** Flags that take effect only together with another flag. */
const further: typeof cases = [
  [
    "--audit-log-batch-throttle-qps=2.5",
    ["log", "throttle", "perSecond"],
    2.5,
    ["--audit-log-batch-throttle-enable"],
  ],
  [
    "--audit-log-batch-throttle-burst=4",
    ["log", "throttle", "burst"],
    4,
    ["--audit-log-batch-throttle-enable"],
  ],
  [
    "--audit-log-truncate-max-event-size=99",
    ["log", "truncate", "maxEventBytes"],
    99,
    ["--audit-log-truncate-enabled"],
  ],
  [
    "--audit-log-truncate-max-batch-size=98",
    ["log", "truncate", "maxBatchBytes"],
    98,
    ["--audit-log-truncate-enabled"],
  ],
  [
    "--audit-webhook-truncate-max-event-size=99",
    ["webhook", "truncate", "maxEventBytes"],
    99,
    ["--audit-webhook-truncate-enabled"],
  ],
  [
    "--audit-webhook-truncate-max-batch-size=98",
    ["webhook", "truncate", "maxBatchBytes"],
    98,
    ["--audit-webhook-truncate-enabled"],
  ],
];
for (const [flag, path, value, besides = []] of [...cases, ...further])
  test(`${flag} changes ${path.join(".")} and nothing else`, () => {
    const expected = structuredClone(besides.length ? of(...both, ...besides) : defaults);
    let at = expected as unknown as Nested;
    for (const field of path.slice(0, -1)) at = at[field] as Nested;
    at[path.at(-1)!] = value;
    assert.deepEqual(of(...both, ...besides, flag), expected);
  });
