// get and list.
import { ApiError, badRequest, expired, notFound } from "#base";
import { type Reply, freeBuffers } from "#http";
import { Compacted, FutureRevision } from "#store";
import { type Freshness, type ListQuery, type ListResult, RevisionTimeout } from "#watchcache";
import type { Endpoint } from "#registry";
import type { ApiCall } from "./api-call.ts";
import { type Position, decodeContinue, encodeContinue } from "./continue.ts";
import { type EndpointHandler, replyWith, replyWithList, represented } from "./context.ts";
import { listSpan, responding } from "./operation-span.ts";
import { type ListOptions, listOptions, numberProblem } from "./options.ts";
import type { Representation } from "./represent/representation.ts";
import { isTrue } from "./target.ts";

export const get: EndpointHandler = async (context, call, endpoint) => {
  const { resource } = endpoint;
  const { target } = call;
  const { as } = represented(context, call, endpoint, "object");
  // Former versions could return objects without server-populated fields.
  if (call.query.has("export") && isTrue(call.query.get("export")))
    throw badRequest("the export parameter, deprecated since v1.14, is no longer supported");
  const version = revisionOf(call.query.get("resourceVersion") ?? "");
  const freshness: Freshness =
    version === undefined
      ? { at: "latest" }
      : version === 0
        ? { at: "any" }
        : { at: "notOlderThan", revision: version };
  call.operation?.event("About to Get from storage");
  const cached = await withApiErrors(
    () => resource.source.get(resource.keyOf(target.namespace, target.name), freshness),
    !resource.strategy.uncachedSemantics,
  );
  if (!cached) throw notFound(resource.nameIn(endpoint), target.name);
  call.operation?.event(responding);
  return replyWith(as, endpoint, 200, as.object(cached));
};

export const list: EndpointHandler = async (context, call, endpoint) => {
  const { as } = represented(context, call, endpoint, "list");
  const options = listOptions(call, endpoint, context.gates);
  call.operation?.event("About to List from storage");
  const listing = await listPage(call, endpoint, options);
  call.operation?.event("Listing from storage done", { count: listing.items.length });
  call.operation?.event(responding);
  const page = context.gates.remainingItemCount ? listing : uncounted(listing);
  return await replyWithPage(as, call, endpoint, page);
};

function uncounted(listing: ListResult): ListResult {
  const { remaining: _, ...page } = listing;
  return page;
}

/** The body is a copy: buffers that the list borrowed can be released. */
export async function replyWithPage(
  as: Representation,
  call: ApiCall,
  endpoint: Endpoint,
  listing: ListResult,
): Promise<Reply> {
  const body = await as.list(listing.items, metadataOf(call, endpoint, listing), call);
  if (listing.lent) freeBuffers(listing.lent);
  return replyWithList(as, endpoint, body);
}

/** The prefix of a list's keys, below the resource's prefix. */
const placeOf = ({ target }: ApiCall, { resource }: Endpoint): string =>
  resource.namespaced && target.namespace ? `${target.namespace}/` : "";

/**
 * The metadata of a list. The token is relative to the list's prefix, so that it is also valid in another
 * namespace.
 */
function metadataOf(
  call: ApiCall,
  endpoint: Endpoint,
  listing: ListResult,
): { resourceVersion: string; continue?: string; remainingItemCount?: number } {
  return {
    resourceVersion: String(listing.revision),
    ...(listing.next !== undefined && {
      continue: encodeContinue({
        revision: listing.revision,
        after: listing.next.slice(placeOf(call, endpoint).length),
      }),
    }),
    ...(listing.next !== undefined &&
      listing.remaining !== undefined && { remainingItemCount: listing.remaining }),
  };
}

/** Reads one page, new or continued, at the requested freshness. */
export async function listPage(call: ApiCall, endpoint: Endpoint, options: ListOptions): Promise<ListResult> {
  const span = listSpan(call, endpoint, options);
  try {
    const read = (): Promise<ListResult> => readPage(call, endpoint, options);
    return await (span ? span.run(read) : read());
  } finally {
    span?.end();
  }
}

async function readPage(call: ApiCall, endpoint: Endpoint, options: ListOptions): Promise<ListResult> {
  const { resource } = endpoint;
  const below = placeOf(call, endpoint);
  const version = revisionOf(options.resourceVersion);
  const base = { below, selector: options.selector, caller: call };
  if (options.continue !== "") {
    const token = decodeContinue(options.continue);
    if (version !== undefined && version !== 0)
      throw badRequest("specifying resource version is not allowed when using continue");
    return await continued(endpoint, options, token, base);
  }
  const fromStore = resource.strategy.uncachedSemantics || resource.source.direct === true;
  const limited =
    options.limit > 0 &&
    !(version === 0 && options.resourceVersionMatch !== "Exact" && !fromStore) &&
    !isOfOne(call, endpoint, options);
  const freshness = freshnessOf(version, options.resourceVersionMatch, limited);
  try {
    return await resource.source.list({ ...base, freshness, ...(limited && { limit: options.limit }) });
  } catch (error) {
    if (freshness.at === "exactly" && (error instanceof RevisionTimeout || error instanceof FutureRevision))
      throw badRequest(`resourceVersion ${options.resourceVersion} is in the future`);
    // Retry-After is only sent for reads from the cache, not from the store.
    throw readError(error, !limited && !fromStore);
  }
}

/** A list restricted to one name has at most one item: paging does not apply. */
const isOfOne = ({ target }: ApiCall, { resource }: Endpoint, { selector }: ListOptions): boolean =>
  (target.namespace !== "" || !resource.namespaced) &&
  selector.fields.some(
    ({ key, operator, values }) => key === "metadata.name" && operator === "in" && values[0] !== "",
  );

function freshnessOf(version: number | undefined, match: string, limited: boolean): Freshness {
  if (version === undefined) return { at: "latest" };
  if (version === 0) return { at: "any" };
  // A page at a given version must be at exactly that version, or the next page would not be consistent.
  if (match === "Exact" || (match === "" && limited)) return { at: "exactly", revision: version };
  return { at: "notOlderThan", revision: version };
}

async function continued(
  endpoint: Endpoint,
  options: ListOptions,
  token: Position,
  base: Pick<ListQuery, "below" | "selector" | "caller">,
): Promise<ListResult> {
  const limit = options.limit > 0 ? { limit: options.limit } : {};
  const query = { ...base, ...limit, after: base.below + token.after };
  const { source } = endpoint.resource;
  if (token.revision === -1)
    return await withApiErrors(() => source.list({ ...query, freshness: { at: "latest" } }));
  try {
    return await source.list({ ...query, freshness: { at: "exactly", revision: token.revision } });
  } catch (error) {
    if (error instanceof RevisionTimeout || error instanceof FutureRevision)
      throw badRequest("continue key is not valid: it is of a resourceVersion that has not come yet");
    if (!(error instanceof Compacted)) throw readError(error);
    // The revision has been compacted. Clients that accept an inconsistent list may continue from the same
    // key.
    const inconsistent = encodeContinue({ revision: -1, after: token.after });
    const gone = expired(
      "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
    );
    throw Object.assign(gone, { listMetadata: { continue: inconsistent } });
  }
}

/**
 * Parses a resourceVersion parameter: undefined if empty, an error if not a 64-bit number. Stores never reach
 * the maximum. In kube-apiserver, the cache answers an invalid one with 500, whereas the store reports the
 * error.
 */
export function revisionOf(text: string): number | undefined {
  if (text === "") return undefined;
  const isNumber = /^\d+$/.test(text);
  if (isNumber && text.length <= 20 && BigInt(text) < 2n ** 64n)
    return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
  const quoted = JSON.stringify(text);
  throw badRequest(
    `invalid resource version: resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: ${numberProblem(isNumber)}`,
  );
}

export async function withApiErrors<T>(read: () => Promise<T>, retryable = true): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw readError(error, retryable);
  }
}

/** Converts revision errors of the store and the cache to API errors. */
export function readError(error: unknown, retryable = true): unknown {
  if (error instanceof Compacted) return expired("The resourceVersion for the provided list is too old.");
  if (error instanceof RevisionTimeout || error instanceof FutureRevision) {
    return new ApiError(
      504,
      "Timeout",
      error instanceof RevisionTimeout
        ? `Timeout: ${error.message}`
        : `Timeout: Too large resource version: current: ${error.current}`,
      {
        ...(retryable && { retryAfterSeconds: 1 }),
        causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      },
    );
  }
  return error;
}
