// Builds timeline requests from a view.
import type { Query as Parameters } from "../api/client.ts";
import { type Query, parseQuery } from "../search/parse.ts";
import type { Range } from "../view/range.ts";

export interface TimelineRequest {
  /** The collection's path without its last segment: `/apis/…/namespaces/shop`. */
  readonly base: string;
  readonly filter: Parameters;
  /** Parts of names, matched by the page against the response. */
  readonly words: readonly string[];
  /** Parts of the search that are not supported. */
  readonly unused: readonly string[];
  readonly range: Range;
}

export const pathOf = (root: string, namespace: string): string =>
  namespace === "" ? root : `${root}/namespaces/${encodeURIComponent(namespace)}`;

/** A live range is requested by its width, so that the clocks of browser and server need not agree. */
export const rangeParameters = (range: Range): Parameters =>
  range.live
    ? { since: `${Math.ceil(range.span / 1000)}s` }
    : { since: new Date(range.from).toISOString(), until: new Date(range.to).toISOString() };

export function requestFor(root: string, search: string, range: Range): TimelineRequest {
  const query: Query = parseQuery(search);
  return {
    base: pathOf(root, query.namespace),
    filter: {
      kind: [...new Set(query.kinds)],
      name: query.names,
      labelSelector: query.labels,
      tree: query.names.length > 0 ? true : undefined,
      type: query.types,
      reason: query.reasons,
      node: query.nodes,
      controller: query.controllers,
    },
    words: query.words,
    unused: query.unused,
    range,
  };
}
