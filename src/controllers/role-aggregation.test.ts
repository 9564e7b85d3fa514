import assert from "node:assert/strict";
import { test } from "node:test";
import { kinds } from "#client";
import { until, withController } from "./cluster.fixture.ts";
import { roleAggregationController } from "./role-aggregation.ts";

test("aggregated rules are applied and owned by the controller", () =>
  withController(roleAggregationController, async ({ client }) => {
    const roles = client.of(kinds.clusterRoles);
    const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }];
    await roles.create({ metadata: { name: "part", labels: { gather: "yes" } }, rules });
    await roles.create({
      metadata: { name: "whole" },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { gather: "yes" } }] },
      rules: [],
    });
    const whole = await until(async () => {
      const found = await roles.get("whole");
      return found.rules?.length === 1 && found;
    });
    assert.deepEqual(whole.rules, rules);
    const owner = whole.metadata.managedFields?.find(({ operation }) => operation === "Apply");
    assert.equal(owner?.manager, "clusterrole-aggregation-controller");
    await roles.delete("part");
    await until(async () => !(await roles.get("whole")).rules?.length);
  }));
