// The combinations of filter values in use. Filters are evaluated once per combination rather than once per
// event.
import type { Facet } from "./record.ts";

export type FacetValues = Omit<Facet, "id" | "points">;

export class Facets {
  readonly #byKey = new Map<string, Facet>();
  readonly #free: number[] = [];

  get size(): number {
    return this.#byKey.size;
  }

  all(): Iterable<Facet> {
    return this.#byKey.values();
  }

  /** Returns the resources whose changes are among the facets. */
  resources(): Set<string> {
    const found = new Set<string>();
    for (const { resource } of this.all()) if (resource !== "") found.add(resource);
    return found;
  }

  of(values: FacetValues): Facet {
    return this.#byKey.getOrInsertComputed(facetKey(values), () => ({
      ...values,
      id: this.#free.pop() ?? this.#byKey.size,
      points: 0,
    }));
  }

  /** Removes a point from the facet, and drops the facet with its last point. */
  release(facet: Facet): void {
    if (--facet.points > 0) return;
    this.#byKey.delete(facetKey(facet));
    this.#free.push(facet.id);
  }

  /** Returns one value per facet, indexed by its id. To be used immediately, since ids are reused. */
  map<T>(value: (facet: Facet) => T): T[] {
    const values: T[] = [];
    for (const facet of this.all()) values[facet.id] = value(facet);
    return values;
  }
}

export const facetKey = ({
  type,
  reason,
  controller,
  group,
  kind,
  namespace,
  node,
  resource,
}: FacetValues): string => JSON.stringify([type, reason, controller, group, kind, namespace, node, resource]);
