// The deprecated paths under /watch, which clients may still use.
import { WatchEvent } from "#api";
import type { Dialect } from "#dialect";
import type { Endpoint } from "#registry";
import { type GroupVersion, verbsOf } from "../catalog.ts";
import {
  type Operation,
  type Parameter,
  type PathItem,
  idPart,
  listing,
  media,
  nameOf,
  namespace,
  pretty,
  rootOf,
  streams,
  tagOf,
} from "./operations.ts";

export function watchPaths(version: GroupVersion, endpoint: Endpoint, dialect: Dialect): PathItem[] {
  const { strategy, namespaced } = endpoint.resource;
  if (!verbsOf(endpoint).includes("watch") || strategy.custom) return [];
  const root = `${rootOf(version)}/watch`;
  const base = `${root}${namespaced ? "/namespaces/{namespace}" : ""}/${strategy.resource}`;
  const outer = namespaced ? [namespace] : [];
  const id = `watch${idPart(version, dialect)}${namespaced ? "Namespaced" : ""}${endpoint.kind}`;
  const item = (
    path: string,
    parameters: readonly Parameter[],
    operationId: string,
    action: string,
  ): PathItem => {
    const operation: Operation = {
      method: "get",
      id: operationId,
      tag: tagOf(version, dialect),
      doc: `Watch ${action === "watch" ? `a ${endpoint.kind}` : `objects of kind ${endpoint.kind}`}; the parameter watch of a list does the same.`,
      action,
      kind: { group: endpoint.group, version: endpoint.version, kind: endpoint.kind },
      consumes: ["*/*"],
      produces: [...media(dialect), ...streams(dialect)],
      parameters: listing,
      answers: { "200": WatchEvent },
    };
    return { path, parameters: [...parameters, pretty], operations: [operation] };
  };
  const items = [
    item(base, outer, `${id}List`, "watchlist"),
    item(`${base}/{name}`, [nameOf(endpoint.kind), ...outer], id, "watch"),
  ];
  if (namespaced)
    items.push(
      item(
        `${root}/${strategy.resource}`,
        [],
        `watch${idPart(version, dialect)}${endpoint.kind}ListForAllNamespaces`,
        "watchlist",
      ),
    );
  return items;
}
