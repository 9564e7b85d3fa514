// delete and deletecollection.
import { groupName } from "#dialect";
import { DeleteOptions } from "#api";
import { ApiError, forbidden } from "#base";
import { type Endpoint, type Removal, type WriteRequest, remove, validateDeleteOptions } from "#registry";
import { encodeJson } from "#schema";
import type { ApiCall } from "./api-call.ts";
import { statusReply, successStatus } from "./represent/status.ts";
import { decodeObject, readBody } from "./body.ts";
import { bodyMedia } from "./represent/negotiate.ts";
import {
  type EndpointContext,
  type EndpointHandler,
  replyWith,
  represented,
  writeRequest,
} from "./context.ts";
import { integer, listOptions } from "./options.ts";
import { responding } from "./operation-span.ts";
import { listPage, replyWithPage } from "./read.ts";
import { isTrue } from "./target.ts";

export const deleteOne: EndpointHandler = async (context, call, endpoint) => {
  const { dialect, strategy } = endpoint.resource;
  const { as, choice, unrepresentable } = represented(context, call, endpoint, "object");
  const options = await deleteOptions(call, endpoint);
  const dryRun = (options.dryRun?.length ?? 0) > 0;
  call.operation?.step("Decoded delete options");
  call.operation?.step("Recorded the audit event");
  const request = writeRequest(context, call, endpoint, { dryRun, fieldManager: "", unrepresentable }, () =>
    shownDeletion(options),
  );
  validateDeleteOptions(request, options);
  const why = strategy.deletionForbidden?.(call.target.name);
  if (why) throw forbidden(endpoint.resource.nameIn(endpoint), call.target.name, why);
  call.operation?.event("About to delete object from database");
  const removal = await remove(request, call.target.name, options);
  call.operation?.event("Object deleted from database");
  call.operation?.event(responding);
  const accepted = !removal.deleted && options.orphanDependents === false;
  if (removal.deleted && !removal.shown && !strategy.returnsDeleted) {
    // A Status is returned as such, whatever form was requested.
    if (unrepresentable) await remove({ ...request, dryRun }, call.target.name, options);
    return statusReply(200, successStatus(detailsOf(call, endpoint, removal)), choice, dialect);
  }
  return replyWith(as, endpoint, accepted ? 202 : 200, as.object(removal.held()));
};

const detailsOf = ({ target }: ApiCall, endpoint: Endpoint, removal: Removal): Record<string, unknown> => ({
  name: target.name,
  group: endpoint.group || undefined,
  kind: endpoint.resource.strategy.resource,
  uid: removal.uid || undefined,
});

export const deleteCollection: EndpointHandler = async (context, call, endpoint) => {
  const { as, unrepresentable } = represented(context, call, endpoint, "list");
  const wanted = listOptions(call, endpoint, context.gates);
  const options = await deleteOptions(call, endpoint);
  const dryRun = (options.dryRun?.length ?? 0) > 0;
  const request = writeRequest(context, call, endpoint, { dryRun, fieldManager: "", unrepresentable }, () =>
    shownDeletion(options),
  );
  validateDeleteOptions(request, options);
  const listing = await listPage(call, endpoint, wanted);
  await removeAll(
    request,
    listing.items.map(({ namespace, name }) => ({ namespace, name })),
    options,
    { workers: context.deleteCollectionWorkers, signal: call.signal },
  );
  call.operation?.event(responding);
  return await replyWithPage(as, call, endpoint, listing);
};

/** Concurrent writes per worker: the store combines many of them in one flush. */
const writesPerWorker = 64;

/**
 * Deletes the listed objects, until one is refused, the client has gone or the deadline has passed. A worker
 * begins a deletion once its previous one was admitted: objects that follow a refused one are kept. Objects
 * that do not exist any more are ignored.
 */
async function removeAll(
  request: WriteRequest,
  items: readonly { namespace: string; name: string }[],
  options: Partial<DeleteOptions>,
  { workers, signal }: { readonly workers: number; readonly signal: AbortSignal },
): Promise<void> {
  let next = 0;
  let failed: Error | undefined;
  const work = async (): Promise<void> => {
    let turn = Promise.resolve();
    const write = async (): Promise<void> => {
      for (;;) {
        const previous = turn;
        const { promise, resolve: admitted } = Promise.withResolvers<void>();
        turn = promise;
        await previous;
        if (next >= items.length || failed !== undefined || signal.aborted) return admitted();
        const { namespace, name } = items[next++]!;
        try {
          await remove({ ...request, namespace, unnamed: true, admitted }, name, options);
        } catch (error) {
          if (!(error instanceof ApiError && error.code === 404)) failed ??= error as Error;
        }
        admitted();
      }
    };
    await Promise.all(Array.from({ length: Math.min(writesPerWorker, items.length) }, write));
  };
  await Promise.all(Array.from({ length: workers }, work));
  if (failed !== undefined) throw failed;
  signal.throwIfAborted();
}

/** The options without the type that the server adds. */
function shownDeletion(options: Partial<DeleteOptions>): Record<string, unknown> {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = options as Record<string, unknown>;
  return rest;
}

/** Reads the options from the body if there is one, otherwise from the query. */
async function deleteOptions(call: ApiCall, endpoint: Endpoint): Promise<Partial<DeleteOptions>> {
  const bytes = await readBody(call);
  if (bytes.length > 0) {
    const { dialect } = endpoint.resource;
    // Clients send the options in the version of any group.
    const { value } = decodeObject(
      bytes,
      bodyMedia(call.call, dialect),
      DeleteOptions,
      { apiVersion: "*", kind: "DeleteOptions" },
      dialect,
    );
    call.audit?.requestObject(() => {
      const apiVersion = `${groupName(dialect, { group: "meta", branded: true })}/__internal`;
      return encodeJson(DeleteOptions, { ...value, apiVersion } as never);
    });
    return value as unknown as DeleteOptions;
  }
  const { query } = call;
  const grace = integer(query, "gracePeriodSeconds");
  const policy = query.get("propagationPolicy");
  const uid = query.get("uid");
  const resourceVersion = query.get("resourceVersion");
  return {
    ...((uid || resourceVersion) && {
      preconditions: { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) },
    }),
    ...(grace !== undefined && { gracePeriodSeconds: grace }),
    ...(policy !== undefined && { propagationPolicy: policy }),
    ...(query.has("orphanDependents") && { orphanDependents: isTrue(query.get("orphanDependents")) }),
    ...(query.has("dryRun") && { dryRun: [...query.all("dryRun")] }),
  };
}

export type { EndpointContext };
