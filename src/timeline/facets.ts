// The combinations of values that are in use. Filters are decided once per combination, not once per event.
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

  /** The resources whose changes are among them. */
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

  /** One point less has it. */
  release(facet: Facet): void {
    if (--facet.points > 0) return;
    this.#byKey.delete(facetKey(facet));
    this.#free.push(facet.id);
  }

  /** One value per facet, by its id: read it at once, facets come and go. */
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
