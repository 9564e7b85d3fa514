// Whether a point belongs to the answer. What depends on a combination of values is decided once for each.
import type { Facets } from "./facets.ts";
import type { Kinds } from "./kinds.ts";
import type { ObjectName } from "./lane.ts";
import type { Choice, Question } from "./parameters.ts";
import type { Facet } from "./record.ts";

export type FacetLike = Omit<Facet, "id" | "points">;

export interface Filter {
  facet(values: FacetLike): boolean;
  /** Whether the question is about this object; the owners of others are not looked at here. */
  object(name: ObjectName): boolean;
  /** Whether the question names objects at all. */
  readonly namesObjects: boolean;
}

/** `mayGet` says whether changes of a resource may be shown. */
export function filterFor(question: Question, kinds: Kinds, mayGet: (resource: string) => boolean): Filter {
  const { path, namespace, group, kind, name, uid, type, reason, controller, node, tree } = question;
  const wanted = kind && new Set([...kind].flatMap((word) => kinds.named(word)));
  const isKind = (of: { kind: string; group: string }): boolean =>
    fits(group, of.group) && (!wanted || wanted.has(of.kind.toLowerCase()));
  return {
    // What is below an object may be of any kind: with a tree, kind and group are about its root.
    facet: (values) =>
      (path === "" || values.namespace === path) &&
      fits(namespace, values.namespace) &&
      (tree || isKind(values)) &&
      fits(type, values.type) &&
      fits(reason, values.reason) &&
      fits(controller, values.controller) &&
      fits(node, values.node) &&
      (values.resource === "" || mayGet(values.resource)),
    object: (object) => fits(name, object.name) && fits(uid, object.uid) && isKind(object),
    namesObjects: name !== undefined || uid !== undefined,
  };
}

const fits = (choice: Choice, value: string): boolean => choice === undefined || choice.has(value);

export const facetsWanted = (facets: Facets, filter: Filter): readonly boolean[] =>
  facets.map((facet) => filter.facet(facet));
