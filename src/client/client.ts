// A typed client: one small object per kind, the same verbs for all of them.
import { type ObjectMeta, inDialect } from "#api";
import { ApiError, type StatusDetails } from "#base";
import { type Dialect, apiVersionOf } from "#dialect";
import type { KindName, Message, TypeOf } from "#schema";
import { encodeJson } from "#schema";
import type { ClientResponse, Transport } from "./transport.ts";

export type KindSchema = Message & { readonly kind: KindName };
export interface AnyObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** How a kind is reached: its declaration, its plural, and whether it lives in namespaces. */
export interface ResourceKind<S extends KindSchema = KindSchema> {
  readonly schema: S;
  readonly plural: string;
  readonly namespaced: boolean;
}

export interface ListResult<T> {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly items: readonly T[];
}

export interface ListParameters {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: string;
}

export type WatchEvent<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly object: { readonly metadata: { readonly resourceVersion: string } } }
  | { readonly type: "ERROR"; readonly object: { readonly code?: number; readonly reason?: string; readonly message?: string } };

export interface WatchParameters extends Omit<ListParameters, "limit" | "continue" | "resourceVersionMatch"> {
  readonly timeoutSeconds?: number;
  readonly bookmarks?: boolean;
  readonly signal?: AbortSignal;
}

export type PatchType = "json" | "merge" | "strategic" | "apply";

export interface PatchParameters {
  readonly namespace?: string;
  readonly subresource?: string;
  readonly fieldManager?: string;
  readonly force?: boolean;
}

export interface Address {
  readonly namespace?: string;
  readonly subresource?: string;
}

export interface DeleteParameters extends Address {
  readonly graceSeconds?: number;
  readonly uid?: string;
  readonly propagation?: "Foreground" | "Background" | "Orphan";
}

export interface ResourceClient<T> {
  get(name: string, at?: Address): Promise<T>;
  list(parameters?: ListParameters): Promise<ListResult<T>>;
  watch(parameters: WatchParameters): AsyncIterable<WatchEvent<T>>;
  create(object: T, at?: Address & { readonly name?: string }): Promise<T>;
  update(object: T, at?: Address): Promise<T>;
  patch(name: string, type: PatchType, patch: unknown, parameters?: PatchParameters): Promise<T>;
  delete(name: string, parameters?: DeleteParameters): Promise<void>;
}

export interface ApiClient {
  readonly dialect: Dialect;
  readonly transport: Transport;
  of<S extends KindSchema>(kind: ResourceKind<S>): ResourceClient<TypeOf<S> & AnyObject>;
  /** Any path: the parsed answer, or an ApiError for a refusal. */
  request(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<unknown>;
}

const patchTypes: Readonly<Record<PatchType, string>> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};

export function apiClient(transport: Transport, dialect: Dialect, options: { readonly timeoutMilliseconds?: number } = {}): ApiClient {
  const timeoutMilliseconds = options.timeoutMilliseconds ?? 60_000;
  const request: ApiClient["request"] = async (method, path, body, headers) => {
    const response = await transport.send({
      method,
      path,
      headers: { accept: "application/json", ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      timeoutMilliseconds,
    });
    const text = Buffer.concat(await Array.fromAsync(response.chunks)).toString();
    if (response.status >= 400) throw refusal(response, text);
    return text === "" ? undefined : (JSON.parse(text) as unknown);
  };
  return { dialect, transport, request, of: (kind) => resourceClient(kind, dialect, transport, request) as never };
}

/** The server's Status as an ApiError. */
function refusal(response: ClientResponse, text: string): ApiError {
  try {
    const status = JSON.parse(text) as { reason?: string; message?: string; details?: StatusDetails };
    return new ApiError(response.status, status.reason ?? "", status.message ?? text, status.details);
  } catch {
    return new ApiError(response.status, "", text.slice(0, 500) || `status ${response.status}`);
  }
}

function resourceClient(kind: ResourceKind, dialect: Dialect, transport: Transport, request: ApiClient["request"]): ResourceClient<AnyObject> {
  const schema = inDialect(dialect, kind.schema);
  const apiVersion = apiVersionOf(dialect, schema.kind);
  const root = schema.kind.group === "" ? `/api/${apiVersion}` : `/apis/${apiVersion}`;
  const path = (namespace: string | undefined, name?: string, subresource?: string): string => {
    const place = kind.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : "";
    return `${root}${place}/${kind.plural}${name === undefined ? "" : `/${encodeURIComponent(name)}`}${subresource ? `/${subresource}` : ""}`;
  };
  const encoded = (object: AnyObject): string => encodeJson(schema, { ...object, apiVersion, kind: schema.kind.kind } as never);
  const placeOf = (object: AnyObject, at?: Address): string | undefined => at?.namespace ?? object.metadata.namespace;
  const complete = (object: AnyObject): AnyObject => Object.assign(object, { apiVersion, kind: schema.kind.kind });
  return {
    get: async (name, at) => (await request("GET", path(at?.namespace, name, at?.subresource))) as AnyObject,
    list: async (parameters = {}) => {
      const { namespace, ...query } = parameters;
      const list = (await request("GET", path(namespace) + queryOf(query))) as { metadata: { resourceVersion: string; continue?: string }; items: AnyObject[] | null };
      return { resourceVersion: list.metadata.resourceVersion, ...(list.metadata.continue && { continue: list.metadata.continue }), items: (list.items ?? []).map(complete) };
    },
    watch: ({ namespace, signal, bookmarks, ...query }) => watch(transport, path(namespace) + queryOf({ watch: true, ...(bookmarks && { allowWatchBookmarks: true }), ...query }), signal),
    create: async (object, at) => (await request("POST", path(placeOf(object, at), at?.name, at?.subresource), encoded(object))) as AnyObject,
    update: async (object, at) => (await request("PUT", path(placeOf(object, at), object.metadata.name, at?.subresource), encoded(object))) as AnyObject,
    patch: async (name, type, patch, { namespace, subresource, ...query } = {}) =>
      (await request("PATCH", path(namespace, name, subresource) + queryOf(query), JSON.stringify(patch), { "content-type": patchTypes[type] })) as AnyObject,
    delete: async (name, { namespace, graceSeconds, uid, propagation } = {}) => {
      const options = { kind: "DeleteOptions", apiVersion: "v1", ...(graceSeconds !== undefined && { gracePeriodSeconds: graceSeconds }), ...(uid && { preconditions: { uid } }), ...(propagation && { propagationPolicy: propagation }) };
      await request("DELETE", path(namespace, name), options);
    },
  };
}

function queryOf(parameters: object): string {
  const parts = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== "");
  return parts.length === 0 ? "" : `?${parts.map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`).join("&")}`;
}

async function* watch(transport: Transport, path: string, signal: AbortSignal | undefined): AsyncGenerator<WatchEvent<AnyObject>> {
  const response = await transport.send({ method: "GET", path, headers: { accept: "application/json" }, ...(signal && { signal }), timeoutMilliseconds: 60_000 });
  if (response.status >= 400) throw refusal(response, Buffer.concat(await Array.fromAsync(response.chunks)).toString());
  for await (const line of lines(response.chunks)) yield JSON.parse(line) as WatchEvent<AnyObject>;
}

const longestLine = 64 * 1024 * 1024;

async function* lines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      rest.push(chunk.subarray(from, at));
      const line = Buffer.concat(rest).toString();
      rest = [];
      size = 0;
      from = at + 1;
      if (line !== "") yield line;
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > longestLine) throw new Error("a watch event is larger than the client takes");
  }
}
