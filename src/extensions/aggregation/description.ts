// What a server that is aggregated says of its API, in OpenAPI 2 and 3 and in aggregated discovery: fetched now and
// then, for the documents of this server.
import type { APIService } from "#api";
import type { Dialect } from "#dialect";
import type { RemoteDescription } from "#endpoints";
import { parseMediaType } from "#http";
import { discoveredResources } from "./discovery-document.ts";
import { type BackendAccess, fetchDocument } from "./fetch-document.ts";

type Json = Record<string, unknown>;

const mostBytes = 8 * 1024 * 1024;

/** Undefined where the server has none. */
export async function fetchDescription(
  service: APIService,
  user: string,
  access: BackendAccess & { readonly dialect: Dialect },
  signal: AbortSignal,
): Promise<RemoteDescription | undefined> {
  const fetched = async (path: string): Promise<Json | undefined> => {
    const headers = { accept: "application/json", "x-remote-user": user };
    const { status, text } = await fetchDocument(service, { path, mostBytes, headers }, access, signal);
    return status === 200 ? parsed(text) : undefined;
  };
  const v2 = await fetched("/openapi/v2");
  const v3 = urlsIn(await fetched("/openapi/v3"));
  const discovered = await fetchDiscovery(service, access, signal);
  return v2 || v3 || discovered
    ? { ...(v2 && { v2 }), ...(v3 && { v3 }), ...(discovered && { discovered }) }
    : undefined;
}

/** Undefined where the server knows only the older discovery, which is asked for with its availability. */
async function fetchDiscovery(
  service: APIService,
  access: BackendAccess & { readonly dialect: Dialect },
  signal: AbortSignal,
): Promise<RemoteDescription["discovered"]> {
  const { names, wire } = access.dialect;
  const [g, v, as] = [wire.discoveryGroup, "v2beta1", "APIGroupDiscoveryList"];
  const headers = {
    accept: `application/json;g=${g};v=${v};as=${as}`,
    "x-remote-user": names.users.aggregator,
    "x-remote-group": "system:masters",
  };
  const { status, contentType, text } = await fetchDocument(
    service,
    { path: "/apis", mostBytes, headers },
    access,
    signal,
  );
  if (status === 503) return unreadable;
  // Nothing was said that it could have kept.
  if (status === 304) return { resources: [], fresh: true };
  const { parameters = {} } = parseMediaType(contentType) ?? {};
  if (status !== 200 || parameters["g"] !== g || parameters["v"] !== v || parameters["as"] !== as)
    return undefined;
  const { group = "", version = "" } = service.spec;
  const resources = discoveredResources(text, { group, version });
  return resources ? { resources, fresh: true } : unreadable;
}

const unreadable: RemoteDescription["discovered"] = { resources: [], fresh: false };

function parsed(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

/** Where the documents are, by name: `apis/example.com/v1`; an index without any lists none. */
function urlsIn(index: Json | undefined): ReadonlyMap<string, string> | undefined {
  if (!index) return undefined;
  const paths = index["paths"] ?? {};
  const found = new Map<string, string>();
  for (const [name, item] of Object.entries(paths)) {
    const { serverRelativeURL: url } = (item ?? {}) as { serverRelativeURL?: unknown };
    if (typeof url === "string") found.set(name, url);
  }
  return found;
}
