// The merged set of desired pods of all sources. Each source affects only its own pods.
import type { Pod } from "#api";
import type { Clock } from "#base";
import type { Dialect } from "#dialect";
import { sorted } from "../containers/hash.ts";
import { keyOf, uidOf } from "../pod.ts";

export type SourceName = "api" | "file" | "http";

export interface WantedPods {
  /** Sets the complete list of a source's pods. */
  replace(source: SourceName, pods: readonly Pod[]): void;
  /** Adds or updates one pod of a source. */
  put(source: SourceName, pod: Pod): void;
  drop(source: SourceName, uid: string): void;
  /** Marks a source as having delivered its complete list for the first time. */
  markSynced(source: SourceName): void;
  /** Reports whether every source has synced: only then can an absent pod be considered removed. */
  ready(): boolean;
}

export interface WantedPodsOptions {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly sources: readonly SourceName[];
  readonly onWanted: (pod: Pod) => void;
  readonly onUnwanted: (uid: string) => void;
  readonly onReady?: () => void;
  /** Called with pods that are ignored, since another pod of their source has the same name. */
  readonly onDuplicate?: (pod: Pod, source: SourceName) => void;
}

export function wantedPods({
  dialect,
  clock,
  sources,
  onWanted,
  onUnwanted,
  onReady,
  onDuplicate,
}: WantedPodsOptions): WantedPods {
  const { configSeen, configSource } = dialect.names.annotations;
  const held = new Map<SourceName, Map<string, { readonly given: string; readonly seen: string }>>(
    sources.map((source) => [source, new Map()]),
  );
  const unsynced = new Set(sources);
  const mapOf = (source: SourceName) => held.get(source) ?? held.set(source, new Map()).get(source)!;

  const put = (source: SourceName, pod: Pod): void => {
    const own = mapOf(source);
    const before = own.get(uidOf(pod));
    const given = source === "api" ? (pod.metadata.resourceVersion ?? "") : JSON.stringify(sorted(pod));
    if (before?.given === given && given !== "") return;
    const seen = before?.seen ?? new Date(clock.now()).toISOString();
    own.set(uidOf(pod), { given, seen });
    onWanted({
      ...pod,
      metadata: {
        ...pod.metadata,
        annotations: { ...pod.metadata.annotations, [configSeen]: seen, [configSource]: source },
      },
    });
  };
  const drop = (source: SourceName, uid: string): void => {
    if (mapOf(source).delete(uid)) onUnwanted(uid);
  };
  const markSynced = (source: SourceName): void => {
    if (unsynced.delete(source) && unsynced.size === 0) onReady?.();
  };
  return {
    put,
    drop,
    markSynced,
    replace: (source, pods) => {
      const byName = new Map<string, Pod>();
      for (const pod of pods)
        if (byName.has(keyOf(pod))) onDuplicate?.(pod, source);
        else byName.set(keyOf(pod), pod);
      const named = new Set([...byName.values()].map(uidOf));
      for (const uid of mapOf(source).keys()) if (!named.has(uid)) drop(source, uid);
      for (const pod of byName.values()) put(source, pod);
      markSynced(source);
    },
    ready: () => unsynced.size === 0,
  };
}
