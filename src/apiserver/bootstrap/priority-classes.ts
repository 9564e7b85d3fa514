// The two priority classes of every cluster.
import { systemClasses, type ServerObjects } from "#registry";
import { type PostStartHook, postStartHook } from "./post-start-hook.ts";

const descriptions: Readonly<Record<string, string>> = {
  "system-node-critical": "For pods without which their node does not work.",
  "system-cluster-critical": "For pods without which the cluster does not work, on whichever node.",
};

export const systemPriorities = (server: ServerObjects): PostStartHook =>
  postStartHook({
    name: "poststarthook/scheduling/bootstrap-system-priority-classes",
    reconcile: () => bootstrapPriorities(server),
    failed: ({ message: error }) =>
      server.onError("system priority classes could not be created; retrying", {
        error,
      }),
  });

async function bootstrapPriorities(server: ServerObjects): Promise<void> {
  const resource = server.resources.priorityClasses.resource;
  for (const [name, value] of Object.entries(systemClasses)) {
    if (await resource.source.get(name, { at: "any" })) continue;
    await server.writer.ensure(resource.endpoints[0]!, {
      metadata: { name, creationTimestamp: null },
      value,
      description: descriptions[name],
    });
  }
}
