// Finds the API path of an object from discovery: its group's preferred version and its resource.
import type { Client } from "../api/client.ts";
import type { Selected } from "../view/route.ts";

export interface ObjectPath {
  readonly path: string;
  readonly resource: string;
}

interface Group {
  readonly preferredVersion: { readonly groupVersion: string };
}
interface ResourceList {
  readonly resources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
  }[];
}

/** Returns the path, or undefined if the server does not serve the kind (any more). */
export async function objectPath(
  client: Client,
  { group, kind, namespace, name }: Selected,
  signal: AbortSignal,
): Promise<ObjectPath | undefined> {
  const root =
    group === ""
      ? "/api/v1"
      : `/apis/${(await client.json<Group>(`/apis/${encodeURIComponent(group)}`, {}, signal)).preferredVersion.groupVersion}`;
  const { resources } = await client.json<ResourceList>(root, {}, signal);
  const found = resources.find((each) => each.kind === kind && !each.name.includes("/"));
  if (!found) return undefined;
  const place = found.namespaced ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return { path: `${root}${place}/${found.name}/${encodeURIComponent(name)}`, resource: found.name };
}
