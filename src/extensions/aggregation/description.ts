// What a server that is aggregated says of its API, in OpenAPI 2 and 3: fetched now and then, for the documents of
// this server.
import type { APIService } from "#api";
import type { RemoteDescription } from "#endpoints";
import { type BackendAccess, fetchDocument } from "./fetch-document.ts";

type Json = Record<string, unknown>;

const mostBytes = 8 * 1024 * 1024;

/** Undefined where the server has none. */
export async function fetchDescription(
  service: APIService,
  user: string,
  access: BackendAccess,
  signal: AbortSignal,
): Promise<RemoteDescription | undefined> {
  const fetched = async (path: string): Promise<Json | undefined> => {
    const headers = { "x-remote-user": user };
    const { status, text } = await fetchDocument(service, { path, mostBytes, headers }, access, signal);
    return status === 200 ? parsed(text) : undefined;
  };
  const v2 = await fetched("/openapi/v2");
  const v3 = urlsIn(await fetched("/openapi/v3"));
  return v2 || v3 ? { ...(v2 && { v2 }), ...(v3 && { v3 }) } : undefined;
}

function parsed(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

/** Where the documents are, by name: `apis/example.com/v1`. */
function urlsIn(index: Json | undefined): ReadonlyMap<string, string> | undefined {
  const paths = index?.["paths"];
  if (typeof paths !== "object" || paths === null) return undefined;
  const found = new Map<string, string>();
  for (const [name, item] of Object.entries(paths)) {
    const { serverRelativeURL: url } = (item ?? {}) as { serverRelativeURL?: unknown };
    if (typeof url === "string") found.set(name, url);
  }
  return found;
}
