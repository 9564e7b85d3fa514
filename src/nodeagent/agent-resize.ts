// Sets up in-place resize of running pods if its feature gate is enabled.
import type { AgentDeps } from "./agent-parts.ts";
import type { Gates } from "./managers/policy-options.ts";
import { openAllocations } from "./resize/allocations.ts";
import { type PodResize, type PodResizeOptions, podResize } from "./resize/pod-resize.ts";
import { checkpointStore } from "./resources/checkpoint-store.ts";

const stateFile = "pod_status_manager_state";

export async function resizeFrom(
  { settings, dialect, log }: Pick<AgentDeps, "settings" | "dialect" | "log">,
  enabled: Gates,
  parts: Pick<PodResizeOptions, "admission" | "allocatable" | "cpu">,
): Promise<PodResize | undefined> {
  if (!enabled("InPlacePodVerticalScaling")) return undefined;
  const allocations = await openAllocations({
    store: checkpointStore(settings.rootDir),
    fileName: stateFile,
    log,
  });
  return podResize({ dialect, allocations, ...parts });
}
