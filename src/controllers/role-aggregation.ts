// Aggregates cluster roles: a role with an aggregation rule gets the rules of the roles it selects.
import { isDeepStrictEqual } from "node:util";
import type { PolicyRule } from "#api";
import { aggregatedRules } from "#authz";
import { kinds } from "#client";
import { apiVersionOf } from "#dialect";
import { type Controller, type ControllerContext, ignoreReasons, queueFor } from "#controllerkit";

const fieldManager = "clusterrole-aggregation-controller";

export function roleAggregationController(context: ControllerContext): Controller {
  const { client, view, dialect } = context;
  const queue = queueFor(context, "role aggregation", work);
  const aggregated = new Set<string>();
  const roles = view.follow(kinds.clusterRoles, ({ type, object }) => {
    const name = object.metadata.name!;
    if (type === "deleted" || !object.aggregationRule) aggregated.delete(name);
    else aggregated.add(name);
    // Any role may be selected by an aggregated role.
    for (const each of aggregated) queue.add(each);
  });
  return { stopped: queue.stopped };

  async function work(name: string): Promise<void> {
    const role = roles.get(undefined, name);
    const rules = role && aggregatedRules(role, roles.items());
    if (!rules || isDeepStrictEqual(rules, role.rules ?? [])) return;
    await applyRules(name, rules);
  }

  /** Applies the rules, taking over ownership of the field from other managers. */
  async function applyRules(name: string, rules: readonly PolicyRule[]): Promise<void> {
    const applied = {
      apiVersion: apiVersionOf(dialect, kinds.clusterRoles.schema.kind),
      kind: "ClusterRole",
      metadata: { name },
      ...(rules.length > 0 && { rules }),
    };
    const written = client
      .of(kinds.clusterRoles)
      .patch(name, "apply", applied, { fieldManager, force: true });
    await ignoreReasons(["NotFound"], written);
  }
}
