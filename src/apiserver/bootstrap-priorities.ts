// The two priority classes that every cluster has.
import { systemClasses } from "#registry";
import { ensure } from "./bootstrap.ts";
import { type PostStartHook, postStartHook } from "./lifecycle/upkeep.ts";
import type { Core } from "./server.ts";

const descriptions: Readonly<Record<string, string>> = {
  "system-node-critical": "For pods without which their node does not work.",
  "system-cluster-critical": "For pods without which the cluster does not work, on whichever node.",
};

export const systemPriorities = (core: Core): PostStartHook =>
  postStartHook({
    name: "poststarthook/scheduling/bootstrap-system-priority-classes",
    look: () => bootstrapPriorities(core),
    failed: ({ message: error }) =>
      core.options.onError("priorities that every cluster has could not be created; it is tried again", {
        error,
      }),
  });

async function bootstrapPriorities(core: Core): Promise<void> {
  const resource = core.resources.get("scheduling/priorityclasses")!;
  for (const [name, value] of Object.entries(systemClasses)) {
    if (await resource.source.get(name, { at: "any" })) continue;
    await ensure(core, resource.endpoints[0]!, {
      metadata: { name, creationTimestamp: null },
      value,
      description: descriptions[name],
    });
  }
}
