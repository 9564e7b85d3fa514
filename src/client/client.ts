// A typed client: one small object per kind, with the same verbs for all of them.
import { type ObjectMeta, inDialect } from "#api";
import { ApiError, type StatusDetails } from "#base";
import { type Dialect, type DialectName, apiVersionOf, dialects } from "#dialect";
import { type KindName, type Message, type TypeOf, encodeEnvelope, encodeJson, protobufCodec } from "#schema";
import { type ClientResponse, type Transport, textOf } from "./transport.ts";

export type KindSchema = Message & { readonly kind: KindName };
export interface AnyObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** A resource: its schema, its plural name, and whether it is namespaced. */
export interface ResourceKind<S extends KindSchema = KindSchema> {
  readonly schema: S;
  readonly plural: string;
  readonly namespaced: boolean;
  /** The kind whose objects have it as a subresource. */
  readonly below?: KindSchema;
}

/** An object to send: the client adds the kind, the server supplies defaults. */
export type Draft<T> = Partial<Omit<T, "apiVersion" | "kind" | "metadata">> & {
  readonly metadata: Partial<ObjectMeta>;
};

export interface ListResult<T> {
  readonly resourceVersion: string;
  readonly continue?: string;
  /** The number of remaining items, if the server reports it. */
  readonly remaining?: number;
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
  | {
      readonly type: "BOOKMARK";
      readonly object: { readonly metadata: { readonly resourceVersion: string } };
    }
  | {
      readonly type: "ERROR";
      readonly object: { readonly code?: number; readonly reason?: string; readonly message?: string };
    };

export interface WatchParameters extends Omit<ListParameters, "limit" | "continue" | "resourceVersionMatch"> {
  readonly timeoutSeconds?: number;
  readonly bookmarks?: boolean;
  readonly signal?: AbortSignal;
}

export type PatchType = "json" | "merge" | "strategic" | "apply";

export interface Address {
  readonly namespace?: string;
  readonly subresource?: string;
}

export interface WriteParameters extends Address {
  readonly fieldManager?: string;
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict";
  /** The server processes the request without storing the result. */
  readonly dryRun?: boolean;
}

export interface PatchParameters extends WriteParameters {
  readonly force?: boolean;
}

export interface DeleteParameters extends Address {
  readonly graceSeconds?: number;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagation?: "Foreground" | "Background" | "Orphan";
  readonly dryRun?: boolean;
}

export type DeleteManyParameters = Pick<ListParameters, "namespace" | "labelSelector" | "fieldSelector"> &
  Pick<DeleteParameters, "graceSeconds" | "propagation" | "dryRun">;

export interface ResourceClient<T> {
  get(name: string, at?: Address): Promise<T>;
  list(parameters?: ListParameters): Promise<ListResult<T>>;
  /** Lists everything page by page; all pages are of the same revision. */
  pages(parameters?: ListParameters): AsyncIterable<ListResult<T>>;
  /** Ends when the server ends the watch or the signal is aborted; throws if the connection breaks. */
  watch(parameters: WatchParameters): AsyncIterable<WatchEvent<T>>;
  create(object: Draft<T>, at?: WriteParameters & { readonly name?: string }): Promise<T>;
  update(object: Draft<T>, at?: WriteParameters): Promise<T>;
  patch(name: string, type: PatchType, patch: unknown, parameters?: PatchParameters): Promise<T>;
  delete(name: string, parameters?: DeleteParameters): Promise<void>;
  /** Deletes the objects that a list with the same parameters would return. */
  deleteMany(parameters?: DeleteManyParameters): Promise<void>;
}

export interface ApiClient {
  readonly dialect: Dialect;
  readonly transport: Transport;
  of<S extends KindSchema>(kind: ResourceKind<S>): ResourceClient<TypeOf<S> & AnyObject>;
  /** Requests any path: returns the parsed response, or throws an ApiError for an error status. */
  request(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<unknown>;
}

/**
 * The encoding of objects sent by the client. Responses are requested as JSON, which is decoded in a third of
 * the time; patches and options are also sent as JSON.
 */
export type SentForm = "json" | "protobuf";

/** Maximum time until the response starts. */
const timeoutMilliseconds = 60_000;

const patchTypes: Readonly<Record<PatchType, string>> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};

/** Creates a typed client over any transport, for a server that uses this dialect. */
export function apiClient(
  transport: Transport,
  names: Dialect | DialectName,
  form: SentForm = "json",
): ApiClient {
  const dialect = typeof names === "string" ? dialects[names] : names;
  const request: ApiClient["request"] = async (method, path, body, headers) => {
    const response = await transport.send({
      method,
      path,
      headers: {
        accept: "application/json",
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && {
        body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
      }),
      timeoutMilliseconds,
    });
    const text = await textOf(response);
    if (response.status >= 400) throw refusal(response, text);
    return text === "" ? undefined : (JSON.parse(text) as unknown);
  };
  const made = new WeakMap<ResourceKind, ResourceClient<AnyObject>>();
  const of = (kind: ResourceKind): ResourceClient<AnyObject> => {
    const known = made.get(kind) ?? resourceClient(kind, dialect, form, transport, request);
    made.set(kind, known);
    return known;
  };
  return { dialect, transport, request, of: (kind) => of(kind) as never };
}

/** Converts the server's Status to an ApiError. Retry-After may be present as a header only. */
function refusal(response: ClientResponse, text: string): ApiError {
  const seconds = Number(response.headers["retry-after"] ?? 0);
  const retryDetails: StatusDetails | undefined = seconds > 0 ? { retryAfterSeconds: seconds } : undefined;
  try {
    const status = JSON.parse(text) as { reason?: string; message?: string; details?: StatusDetails };
    const details = retryDetails ? { ...retryDetails, ...status.details } : status.details;
    return new ApiError(response.status, status.reason ?? "", status.message ?? text, details);
  } catch {
    return new ApiError(response.status, "", text.slice(0, 500) || `status ${response.status}`, retryDetails);
  }
}

function resourceClient(
  kind: ResourceKind,
  dialect: Dialect,
  form: SentForm,
  transport: Transport,
  request: ApiClient["request"],
): ResourceClient<AnyObject> {
  const schema = inDialect(dialect, kind.schema);
  const apiVersion = apiVersionOf(dialect, schema.kind);
  const type = { apiVersion, kind: schema.kind.kind };
  const { place, one } = pathsOf(kind, rootOf(dialect, (kind.below ?? schema).kind));
  const { protobufMediaType, protobufMagic } = dialect.wire;
  const send = (method: string, path: string, draft: Draft<AnyObject>): Promise<unknown> => {
    const object = { ...draft, ...type };
    if (form === "json") return request(method, path, encodeJson(schema, object));
    return request(method, path, encodeEnvelope(type, protobufCodec(schema).encode(object), protobufMagic), {
      "content-type": protobufMediaType,
    });
  };
  const list: ResourceClient<AnyObject>["list"] = async ({ namespace, ...query } = {}) => {
    const { metadata, items } = (await request("GET", place(namespace) + queryOf(query))) as RawList;
    return {
      resourceVersion: metadata.resourceVersion,
      ...(metadata.continue && { continue: metadata.continue }),
      ...(metadata.remainingItemCount !== undefined && { remaining: metadata.remainingItemCount }),
      items: (items ?? []).map((object) => Object.assign(object, type)),
    };
  };
  return {
    list,
    get: async (name, at) => (await request("GET", one(name, at))) as AnyObject,
    pages: async function* (parameters = {}) {
      const { resourceVersion: _first, resourceVersionMatch: _match, ...rest } = parameters;
      for (let page: ListResult<AnyObject> | undefined; !page || page.continue;) {
        const query = page?.continue ? { ...rest, continue: page.continue } : parameters;
        page = await list({ limit: defaultPageSize, ...query });
        yield page;
      }
    },
    watch: ({ namespace, signal, bookmarks, ...query }) =>
      watch(
        transport,
        place(namespace) +
          queryOf({ watch: true, ...(bookmarks && { allowWatchBookmarks: true }), ...query }),
        signal,
      ),
    create: async (object, { name, subresource, namespace = object.metadata.namespace, ...query } = {}) => {
      const path =
        name === undefined
          ? place(requireNamespace(kind, namespace))
          : one(name, { ...(namespace && { namespace }), ...(subresource && { subresource }) });
      return (await send("POST", path + queryOf(query), object)) as AnyObject;
    },
    update: async (object, { subresource, namespace = object.metadata.namespace, ...query } = {}) => {
      const path = one(object.metadata.name ?? "", {
        ...(namespace && { namespace }),
        ...(subresource && { subresource }),
      });
      return (await send("PUT", path + queryOf(query), object)) as AnyObject;
    },
    patch: async (name, how, patch, { namespace, subresource, ...query } = {}) => {
      const path = one(name, { ...(namespace && { namespace }), ...(subresource && { subresource }) });
      return (await request("PATCH", path + queryOf(query), JSON.stringify(patch), {
        "content-type": patchTypes[how],
      })) as AnyObject;
    },
    delete: async (name, parameters = {}) =>
      void (await request("DELETE", one(name, parameters), deleteOptions(parameters))),
    deleteMany: async ({ namespace, labelSelector, fieldSelector, ...how } = {}) =>
      void (await request(
        "DELETE",
        place(requireNamespace(kind, namespace)) + queryOf({ labelSelector, fieldSelector }),
        deleteOptions(how),
      )),
  };
}

interface RawList {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: AnyObject[] | null;
}

const defaultPageSize = 500;

/** Namespaced objects are written and read in a particular namespace. */
function requireNamespace(
  { namespaced, plural }: ResourceKind,
  namespace: string | undefined,
): string | undefined {
  if (namespaced && !namespace) throw new Error(`${plural} live in namespaces: say in which one`);
  return namespace;
}

const rootOf = (dialect: Dialect, kind: KindName): string =>
  `${kind.group === "" ? "/api" : "/apis"}/${apiVersionOf(dialect, kind)}`;

function pathsOf(
  kind: ResourceKind,
  root: string,
): { place(namespace: string | undefined): string; one(name: string, at?: Address): string } {
  const place = (namespace: string | undefined): string =>
    `${root}${kind.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : ""}/${kind.plural}`;
  return {
    place,
    one: (name, at) => {
      if (name === "") throw new Error(`which of the ${kind.plural}? The name is empty`);
      return `${place(requireNamespace(kind, at?.namespace))}/${encodeURIComponent(name)}${at?.subresource ? `/${at.subresource}` : ""}`;
    },
  };
}

const deleteOptions = ({
  graceSeconds,
  uid,
  resourceVersion,
  propagation,
  dryRun,
}: DeleteParameters): Record<string, unknown> => ({
  kind: "DeleteOptions",
  apiVersion: "v1",
  ...(graceSeconds !== undefined && { gracePeriodSeconds: graceSeconds }),
  ...((uid || resourceVersion) && {
    preconditions: { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) },
  }),
  ...(propagation && { propagationPolicy: propagation }),
  ...(dryRun && { dryRun: ["All"] }),
});

function queryOf(parameters: object): string {
  const parts = Object.entries(parameters)
    .filter(([key, value]) => value !== undefined && value !== "" && !(key === "dryRun" && !value))
    .map(([key, value]) => `${key}=${key === "dryRun" ? "All" : encodeURIComponent(String(value))}`);
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}

/** Watches any path; `accept` requests another representation in JSON. */
export async function* watch(
  transport: Transport,
  path: string,
  signal: AbortSignal | undefined,
  accept = "application/json",
): AsyncGenerator<WatchEvent<AnyObject>> {
  const response = await transport.send({
    method: "GET",
    path,
    headers: { accept },
    ...(signal && { signal }),
    timeoutMilliseconds,
  });
  if (response.status >= 400) throw refusal(response, await textOf(response));
  try {
    for await (const line of lines(response.chunks)) yield JSON.parse(line) as WatchEvent<AnyObject>;
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}

const maxLineBytes = 64 * 1024 * 1024;

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
    if (size > maxLineBytes) throw new Error("a watch event is larger than the client takes");
  }
}
