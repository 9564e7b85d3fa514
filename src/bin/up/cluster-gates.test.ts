import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { settle } from "#options";
import { gateFlags, releaseFlags } from "./cluster-gates.ts";
import { networkPlans } from "./network-plans.ts";
import { upOptions } from "./up-options.ts";

const programs = { pathOf: (name: string) => name, commandOf: (name: string) => [name] };

test("gates of a cluster are passed to its programs in the spelling of the dialect", () => {
  const dialect = dialects.kubernetes;
  const { values, errors, warnings } = settle(upOptions(dialect), [
    "--feature-gates=TopologyAwareHints=false,KubeletPodResources=false",
  ]);
  assert.deepEqual([errors, warnings], [[], []]);
  const gates = values.featureGates;
  const flag = "--feature-gates=TopologyAwareHints=false,KubeletPodResources=false";
  assert.deepEqual(gateFlags(dialect, gates), [flag]);
  const plan = { dialect, programs, config: "c", logs: "l", nodeName: "n", gates };
  const argsOf = (proxy: boolean, dns: boolean) => networkPlans(plan, { proxy, dns }, "192.0.2.1")[0]!.args;
  assert.ok(argsOf(true, true).includes(flag));
  assert.ok(argsOf(true, false).includes(flag));
  // The DNS server has no gates.
  assert.ok(!argsOf(false, true).includes(flag));
});

test("the release of a cluster is passed to its API server", () => {
  assert.deepEqual(releaseFlags("1.27"), []);
  assert.deepEqual(releaseFlags("1.31"), ["--release=1.31"]);
});

test("no flag is passed without gates, and an unknown gate is rejected", () => {
  assert.deepEqual(gateFlags(dialects.orch, {}), []);
  assert.match(settle(upOptions(dialects.orch), ["--feature-gates=No=true"]).errors.join(), /unrecognized/);
});
