// Decides which points match a query. Conditions on facets are evaluated once per facet.
import type { Facets } from "./facets.ts";
import { type Kinds, livingObject } from "./kinds.ts";
import type { ObjectName } from "./lane.ts";
import type { ValueSet, TimelineParameters } from "./parameters.ts";
import type { Facet } from "./record.ts";

export type FacetLike = Omit<Facet, "id" | "points">;

export interface Filter {
  facet(values: FacetLike): boolean;
  /**
   * Reports whether the query selects this object by itself; objects selected through their owners are
   * handled elsewhere.
   */
  object(name: ObjectName): boolean;
  /** Whether the query selects individual objects. */
  readonly namesObjects: boolean;
}

/** Returns the filter of a query; `mayGet` reports whether changes of a resource may be shown. */
export function filterFor(
  parameters: TimelineParameters,
  kinds: Kinds,
  mayGet: (resource: string) => boolean,
): Filter {
  const { path, namespace, group, kind, name, uid, type, reason, controller, node, tree, labels } =
    parameters;
  const wanted = kind && new Set([...kind].flatMap((word) => kinds.named(word)));
  const isKind = (of: { kind: string; group: string }): boolean =>
    fits(group, of.group) && (!wanted || wanted.has(of.kind.toLowerCase()));
  // Labels are part of an object, so a user who may not get the object must not learn them either.
  const hasLabels = (object: ObjectName): boolean => {
    if (!labels) return true;
    const served = kinds.find(object.kind, object.group);
    const item = served && mayGet(served.groupResource) ? livingObject(served, object) : undefined;
    return item !== undefined && labels.matches(item);
  };
  return {
    // Descendants of an object may be of any kind: with `tree`, kind and group select the root.
    facet: (values) =>
      (path === "" || values.namespace === path) &&
      fits(namespace, values.namespace) &&
      (tree || isKind(values)) &&
      fits(type, values.type) &&
      fits(reason, values.reason) &&
      fits(controller, values.controller) &&
      fits(node, values.node) &&
      (values.resource === "" || mayGet(values.resource)),
    object: (object) =>
      fits(name, object.name) && fits(uid, object.uid) && isKind(object) && hasLabels(object),
    namesObjects: name !== undefined || uid !== undefined || labels !== undefined,
  };
}

const fits = (choice: ValueSet, value: string): boolean => choice === undefined || choice.has(value);

export const facetsWanted = (facets: Facets, filter: Filter): readonly boolean[] =>
  facets.map((facet) => filter.facet(facet));
