// Pods that the API server bound to this node. Mirror pods are handled separately.
import { Pod as PodKind, type Pod } from "#api";
import type { Clock, Log } from "#base";
import { type ApiClient, type Informer, informer } from "#client";
import { isMirror, uidOf } from "../pod.ts";
import type { WantedPods } from "./wanted-pods.ts";

export interface ApiSourceOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly nodeName: string;
  readonly wanted: WantedPods;
  readonly onMirror: (pod: Pod, gone: boolean) => void;
}

export function apiSource(
  { client, clock, log, nodeName, wanted, onMirror }: ApiSourceOptions,
  signal: AbortSignal,
): Informer<Pod> {
  let isFailing = false;
  // Until the first list is complete, pods are held back, so that the oldest are admitted first.
  let waiting: Map<string, Pod> | undefined = new Map();
  const pods = informer<Pod>({
    client: client.of({ schema: PodKind, plural: "pods", namespaced: true }),
    scope: { fieldSelector: `spec.nodeName=${nodeName}` },
    clock,
    signal,
    onEvent: ({ type, object }) => {
      isFailing = false;
      if (isMirror(object, client.dialect)) onMirror(object, type === "deleted");
      else if (waiting && type === "deleted") waiting.delete(uidOf(object));
      else if (waiting) waiting.set(uidOf(object), object);
      else if (type === "deleted") wanted.drop("api", uidOf(object));
      else wanted.put("api", object);
    },
    onError: (error) => {
      if (!isFailing) log.warn("failed to list pods from the API server", { error: error.message });
      isFailing = true;
    },
  });
  void pods.synced.then(() => {
    const first = [...(waiting ?? new Map<string, Pod>()).values()];
    waiting = undefined;
    for (const pod of first.toSorted(byCreation)) wanted.put("api", pod);
    wanted.markSynced("api");
  });
  return pods;
}

/** Timestamps have whole seconds and one format, so they sort lexically. */
const byCreation = (one: Pod, other: Pod): number => {
  const [left, right] = [one, other].map(({ metadata }) => String(metadata.creationTimestamp ?? ""));
  return left! < right! ? -1 : left! > right! ? 1 : 0;
};
