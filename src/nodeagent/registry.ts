// The read-only registry of pods, used by the agent's servers, metrics and eviction.
import type { Pod } from "#api";
import { shownPod } from "./containers/restored-pod.ts";
import type { PodCache } from "./containers/pod-cache.ts";
import { isRunningPod } from "./containers/observed.ts";
import { nameOf, namespaceOf, uidOf } from "./pod.ts";
import { type PodEntry, isOrphaned, podOf } from "./worker/entry.ts";
import type { PodRegistry } from "./interfaces.ts";

export function registryOf({
  entries,
  cache,
  mirrorOf,
}: {
  readonly entries: ReadonlyMap<string, PodEntry>;
  readonly cache: PodCache;
  readonly mirrorOf: (pod: Pod) => Pod | undefined;
}): PodRegistry {
  const shown = (entry: PodEntry): Pod => ({ ...podOf(entry), status: entry.status ?? podOf(entry).status });
  const wanted = (): PodEntry[] => [...entries.values()].filter((entry) => !isOrphaned(entry));
  return {
    pods: () => wanted().map(shown),
    byName: (namespace, name) => {
      const found = wanted().filter(
        (entry) => namespaceOf(podOf(entry)) === namespace && nameOf(podOf(entry)) === name,
      );
      const live = found.find((entry) => entry.worker.state().at !== "terminated") ?? found.at(-1);
      return live && shown(live);
    },
    byUid: (uid) => {
      const entry = entries.get(uid);
      return entry && shown(entry);
    },
    isUidOf: (pod, uid) => uidOf(pod) === uid || mirrorOf(pod)?.metadata.uid === uid,
    sandboxId: (uid) => cache.cached(uid)?.sandboxes.find(({ ready }) => ready)?.id,
    containers: (uid) =>
      (cache.cached(uid)?.containers ?? []).map(({ name, id, state, runtimeLabels, logPath }) => ({
        name,
        id,
        state,
        attempt: runtimeLabels.restartCount,
        logPath,
      })),
    runningPods: async () =>
      [...cache.pods()].filter(isRunningPod).map((observed) => {
        const running = observed.containers.filter(({ state }) => state === "running");
        return shownPod({ ...observed, containers: running });
      }),
    sinceRelist: () => cache.sinceRelist(),
  };
}
