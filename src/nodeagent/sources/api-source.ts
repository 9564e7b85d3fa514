// Pods that the API server bound to this node. Objects that mirror static pods go their own way.
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
  let troubled = false;
  const pods = informer<Pod>({
    client: client.of({ schema: PodKind, plural: "pods", namespaced: true }),
    scope: { fieldSelector: `spec.nodeName=${nodeName}` },
    clock,
    signal,
    onEvent: ({ type, object }) => {
      troubled = false;
      if (isMirror(object, client.dialect)) onMirror(object, type === "deleted");
      else if (type === "deleted") wanted.drop("api", uidOf(object));
      else wanted.put("api", object);
    },
    onTrouble: (error) => {
      if (!troubled) log.warn("failed to list pods from the API server", { error: error.message });
      troubled = true;
    },
  });
  void pods.synced.then(() => wanted.markSynced("api"));
  return pods;
}
