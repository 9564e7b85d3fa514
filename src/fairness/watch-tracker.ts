// Counts watches by scope, so that the cost of a write can be estimated.
import type { RequestDigest } from "./request-digest.ts";

type Watched = Pick<RequestDigest, "group" | "resource" | "namespace" | "name">;

export class WatchTracker {
  /** Counts by group and resource, then by namespace and name, each of which is empty for all. */
  readonly #counts = new Map<string, Map<string, number>>();

  /** Counts a watch until the returned function is called. */
  add(watched: Watched): () => void {
    const key = resourceKey(watched);
    const scope = scopeKey(watched.namespace, watched.name);
    const counts = this.#counts.get(key) ?? new Map<string, number>();
    this.#counts.set(key, counts);
    counts.set(scope, (counts.get(scope) ?? 0) + 1);
    return () => {
      const left = (counts.get(scope) ?? 0) - 1;
      if (left > 0) counts.set(scope, left);
      else counts.delete(scope);
      if (counts.size === 0) this.#counts.delete(key);
    };
  }

  /** Returns the number of watches that receive a write's event. */
  interested({ group, resource, namespace, name }: Watched): number {
    const counts = this.#counts.get(resourceKey({ group, resource }));
    if (!counts) return 0;
    let sum = counts.get(scopeKey("", "")) ?? 0;
    if (namespace) sum += counts.get(scopeKey(namespace, "")) ?? 0;
    if (name) sum += counts.get(scopeKey("", name)) ?? 0;
    if (namespace && name) sum += counts.get(scopeKey(namespace, name)) ?? 0;
    return sum;
  }
}

const resourceKey = ({ group, resource }: Pick<Watched, "group" | "resource">): string =>
  `${group}/${resource}`;
const scopeKey = (namespace: string, name: string): string => `${namespace}/${name}`;
