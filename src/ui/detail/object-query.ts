// Builds timeline queries for one object, by uid if known, since names can be reused.
import type { Query } from "../api/client.ts";
import { pathOf } from "../timeline/request.ts";
import type { Selected } from "../view/route.ts";

export function objectQuery(
  root: string,
  { group, kind, namespace, name, uid }: Selected,
): { readonly base: string; readonly query: Query } {
  return {
    base: pathOf(root, namespace),
    query: uid === "" ? { kind, group, name } : { uid },
  };
}
