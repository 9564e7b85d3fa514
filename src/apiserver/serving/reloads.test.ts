import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createMetrics, silentLog, virtualClock } from "#base";
import { configReloads } from "./reloads.ts";

const folder = mkdtempSync(join(tmpdir(), "orch-reloads-"));
after(() => rmSync(folder, { recursive: true }));

function numberIn(text: string): number {
  const value = Number(text);
  if (Number.isNaN(value)) throw new Error(`${JSON.stringify(text)} is no number`);
  return value;
}

test("a changed file is reloaded; an invalid one is rejected and reported until it is fixed", async () => {
  const file = join(folder, "number");
  const clock = virtualClock();
  const metrics = createMetrics();
  const stop = new AbortController();
  const reloads = configReloads({ clock, log: silentLog, metrics, signal: stop.signal });
  const current = reloads.watchFile("--number-file", file, numberIn, "1");
  const becomes = async (text: string, until: () => boolean): Promise<void> => {
    writeFileSync(file, text);
    while (!until()) {
      await clock.advance(5000);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  assert.equal(current(), 1);
  await becomes("2", () => current() === 2);
  await becomes("nonsense", () => reloads.refused().length > 0);
  assert.equal(current(), 2);
  assert.deepEqual(reloads.refused(), ["--number-file"]);
  await becomes("3", () => current() === 3);
  assert.deepEqual(reloads.refused(), []);
  stop.abort();
  const text = metrics.expose();
  assert.match(text, /apiserver_config_reload_total\{setting="--number-file",status="success"\} 2/);
  assert.match(text, /apiserver_config_reload_total\{setting="--number-file",status="failure"\} 1/);
});

test("an invalid first version throws an error", () => {
  const stop = new AbortController();
  const reloads = configReloads({
    clock: virtualClock(),
    log: silentLog,
    metrics: createMetrics(),
    signal: stop.signal,
  });
  assert.throws(() => reloads.watchFile("--number-file", "x", numberIn, "nonsense"), /no number/);
});
