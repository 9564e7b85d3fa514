// The API description of an aggregated server (OpenAPI v2, v3 and aggregated discovery), fetched periodically
// for inclusion in this server's documents.
import type { APIService } from "#api";
import type { Dialect } from "#dialect";
import type { RemoteDescription } from "#endpoints";
import { parseMediaType } from "#http";
import { discoveredResources } from "./discovery-document.ts";
import { type BackendAccess, fetchDocument } from "./fetch-document.ts";

type Json = Record<string, unknown>;

const maxBytes = 8 * 1024 * 1024;
/** Deeper documents count as invalid: they could not be merged with those of this server. */
const maxDepth = 1000;

/** Fetches the description; returns undefined if the server has none. */
export async function fetchDescription(
  service: APIService,
  user: string,
  access: BackendAccess & { readonly dialect: Dialect },
  signal: AbortSignal,
): Promise<RemoteDescription | undefined> {
  const fetched = async (path: string): Promise<{ status: number; document: Json | undefined }> => {
    const headers = { accept: "application/json", "x-remote-user": user };
    const { status, text } = await fetchDocument(service, { path, maxBytes, headers }, access, signal);
    return { status, document: status === 200 ? parsed(text) : undefined };
  };
  const older = (await fetched("/openapi/v2")).document;
  const v2 = older && isWellFormed(older) ? older : undefined;
  const newer = await fetched("/openapi/v3");
  // Version 3 is derived from version 2 only for a server without version 3 documents.
  const v3 = newer.status === 404 ? undefined : urlsIn(newer.document);
  const discovered = await fetchDiscovery(service, access, signal);
  return v2 || v3 || discovered
    ? { ...(v2 && { v2 }), ...(v3 && { v3 }), ...(discovered && { discovered }) }
    : undefined;
}

/**
 * Fetches aggregated discovery; returns undefined if the server supports only the legacy form, which the
 * availability check reads.
 */
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
    { path: "/apis", maxBytes, headers },
    access,
    signal,
  );
  if (status === 503) return unreadable;
  // No ETag was sent, so there is nothing that a 304 could refer to.
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
    const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
    return isRecord && !isDeeperThan(maxDepth, value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

function isDeeperThan(depth: number, value: object): boolean {
  let level: readonly object[] = [value];
  for (let at = 0; at < depth && level.length > 0; at += 1)
    level = level.flatMap((each) =>
      Object.values(each).filter((inner) => typeof inner === "object" && inner !== null),
    );
  return level.length > 0;
}

const isObjectOrNull = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === "object" && !Array.isArray(value));

/** Reports whether paths and definitions have the required types; otherwise the document is ignored. */
const isWellFormed = (document: Json): boolean =>
  [document["paths"], document["definitions"]].every(
    (part) => isObjectOrNull(part) && Object.values(part ?? {}).every(isObjectOrNull),
  );

/** Returns the URLs of the documents by name, `apis/example.com/v1`; empty if the index is invalid. */
function urlsIn(index: Json | undefined): ReadonlyMap<string, string> {
  const entries = Object.entries((index?.["paths"] ?? {}) as Record<string, Json | null>);
  const urls = entries.map(([name, item]) => [name, item?.["serverRelativeURL"] ?? ""] as const);
  const readable = urls.every(([, url]) => typeof url === "string");
  return new Map(
    readable && entries.every(([, item]) => isObjectOrNull(item)) ? (urls as [string, string][]) : [],
  );
}
