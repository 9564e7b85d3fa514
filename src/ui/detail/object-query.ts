// How the timeline group is asked for one object: by its uid where it is known, as names are used again.
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
