// Files written by other tools contain zeros and empty strings for unset fields.
import assert from "node:assert/strict";
import { test } from "node:test";
import { apiVersionOf, dialects } from "#dialect";
import { parseConfigFile, settle } from "#options";
import { nodeagentOptions } from "./options.ts";

async function run(fields: object, argv: readonly string[] = []) {
  const dialect = dialects.orch;
  const head = {
    apiVersion: apiVersionOf(dialect, { group: "nodeagent.config", branded: true, version: "v1beta1" }),
    kind: dialect.spelling.word("NodeAgentConfiguration"),
  };
  const file = await parseConfigFile("config.yaml", JSON.stringify({ ...head, ...fields }));
  const flags = ["--container-runtime-endpoint=unix:///run/x.sock", "--orchconfig=x", ...argv];
  return settle(nodeagentOptions(dialect), flags, { files: [file], readable: () => true });
}
const all = <T>(fields: string, value: T): Record<string, T> =>
  Object.fromEntries(fields.split(" ").map((field) => [field, value]));

const files: Record<string, object> = {
  "as kubeadm writes it": {
    ...all("fileCheckFrequency httpCheckFrequency syncFrequency", "0s"),
    ...all("nodeStatusReportFrequency nodeStatusUpdateFrequency runtimeRequestTimeout", "0s"),
    ...all("cpuManagerReconcilePeriod evictionPressureTransitionPeriod imageMinimumGCAge", "0s"),
    ...all("shutdownGracePeriod shutdownGracePeriodCriticalPods", "0s"),
    ...all("streamingConnectionIdleTimeout volumeStatsAggPeriod", "0s"),
    authentication: { webhook: { cacheTTL: "0s" } },
    authorization: { mode: "", webhook: { cacheAuthorizedTTL: "0s", cacheUnauthorizedTTL: "0s" } },
    logging: { format: "", flushFrequency: 0, options: { json: { infoBufferSize: "0" } }, verbosity: 0 },
    memorySwap: {},
  },
  "with empty texts": {
    ...all("address cgroupDriver contentType hairpinMode healthzBindAddress volumePluginDir", ""),
    ...all("configMapAndSecretChangeDetectionStrategy containerLogMaxSize", ""),
    ...all("cpuManagerPolicy memoryManagerPolicy topologyManagerPolicy topologyManagerScope", ""),
  },
  "with zeros": all("eventBurst maxOpenFiles maxPods nodeLeaseDurationSeconds orchAPIBurst registryBurst", 0),
};
for (const [name, file] of Object.entries(files))
  test(`zero and empty values in a file count as unset: ${name}`, async () => {
    const given = await run(file);
    assert.deepEqual(given.errors, []);
    assert.deepEqual(given.values, (await run({})).values);
  });

test("a flag of 0 means 0", async () => {
  const { values, errors } = await run({}, ["--eviction-pressure-transition-period=0s", "--max-pods=0"]);
  assert.deepEqual([values.evictionPressureTransitionPeriod, values.maxPods, errors], [0, 0, []]);
  assert.equal((await run({}, ["--sync-frequency=0s"])).errors.length, 1);
});
