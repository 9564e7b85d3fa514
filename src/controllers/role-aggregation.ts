// Cluster roles that gather others have the rules of those they gather.
import { isDeepStrictEqual } from "node:util";
import { aggregatedRules } from "#authz";
import { kinds } from "#client";
import { type Controller, type ControllerContext, ignoreReasons, queueFor } from "#controllerkit";

export function roleAggregationController(context: ControllerContext): Controller {
  const { client, view } = context;
  const queue = queueFor(context, "role aggregation", work);
  const gathering = new Set<string>();
  const roles = view.follow(kinds.clusterRoles, ({ type, object }) => {
    const name = object.metadata.name!;
    if (type === "deleted" || !object.aggregationRule) gathering.delete(name);
    else gathering.add(name);
    // Any role may be one that is gathered.
    for (const each of gathering) queue.add(each);
  });
  return { stopped: queue.stopped };

  async function work(name: string): Promise<void> {
    const role = roles.get(undefined, name);
    const rules = role && aggregatedRules(role, roles.items());
    if (!rules || isDeepStrictEqual(rules, role.rules ?? [])) return;
    const { resourceVersion } = role.metadata;
    await ignoreReasons(
      ["NotFound"],
      client.of(kinds.clusterRoles).patch(name, "merge", { metadata: { resourceVersion }, rules }),
    );
  }
}
