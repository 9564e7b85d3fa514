// The feature gates of programs that are clients of the API server.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { controllerGates } from "#controllers";
import { dialects } from "#dialect";
import { type AnyOption, type OptionSet, knownGates, settle } from "#options";
import { proxyGates } from "#proxy";
import { schedulerGates } from "#scheduler";
import { managerOptions, schedulerOptions } from "./control-options.ts";
import { networkOptions, proxyOptions } from "./network-options.ts";

const source = join(import.meta.dirname, "..", "..");
const rooms: [room: string, gates: readonly string[]][] = [
  ["controllers", controllerGates],
  ["scheduler", schedulerGates],
  ["proxy", proxyGates],
];
for (const [room, gates] of rooms)
  test(`the gates of ${room} are exactly those that its code reads`, () => {
    const names = new Set(knownGates.map(({ name }) => name));
    const read = new Set<string>();
    for (const file of readdirSync(join(source, room), { recursive: true }) as string[])
      if (file.endsWith(".ts") && !file.endsWith(".test.ts"))
        for (const [, name] of readFileSync(join(source, room, file), "utf8").matchAll(
          /\benabled\("(\w+)"\)/g,
        ))
          read.add(name!);
    assert.deepEqual([...read].toSorted(), gates.toSorted());
    assert.deepEqual(
      gates.filter((name) => !names.has(name)),
      [],
    );
  });

const programs: [set: OptionSet<AnyOption>, acts: string][] = [
  [managerOptions(dialects.kubernetes), "JobReadyPods"],
  [schedulerOptions(dialects.kubernetes), "PodSchedulingReadiness"],
  [proxyOptions(dialects.kubernetes), "ProxyTerminatingEndpoints"],
  [networkOptions(dialects.kubernetes), "TopologyAwareHints"],
];
for (const [set, acts] of programs)
  test(`${set.program} accepts feature gates and reports those without effect`, () => {
    const { gates, warnings, errors } = settle(set, [
      `--feature-gates=${acts}=false,ComponentSLIs=false,WinOverlay=false`,
    ]);
    assert.deepEqual([gates.enabled(acts), errors], [false, []]);
    assert.deepEqual(warnings, [
      `--feature-gates=${acts}=false,ComponentSLIs=false,WinOverlay=false: known, but of no effect: WinOverlay`,
    ]);
    assert.equal(settle(set, []).gates.enabled(acts), true);
    const wrong = settle(set, ["--feature-gates=NoSuchGate=true"]).errors;
    assert.match(wrong.join(), /invalid argument "NoSuchGate=true" for "--feature-gates" flag: unrecognized/);
    assert.match(
      settle(set, ["--feature-gates=CronJobTimeZone=false"]).errors.join(),
      /cannot set feature gate CronJobTimeZone to false, feature is locked to true/,
    );
  });
