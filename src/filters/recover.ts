// Turns thrown errors into Status responses.
import { randomUUID } from "node:crypto";
import { ApiError } from "#base";
import type { Dialect } from "#dialect";
import type { Reply } from "#http";
import { StoreBusy, StoreClosed } from "#store";
import { type ApiCall, justObjects, negotiate, statusObject, statusReply } from "#endpoints";
import { storeErrorToStatus } from "./store-error.ts";
import type { Filter } from "./filter.ts";

export interface RecoverOptions {
  readonly dialect: Dialect;
  /** Logs an error that no handler expected; returns the id under which it was logged. */
  readonly unexpected: (error: unknown, call: ApiCall) => string;
  /** Called with an error before it is answered. */
  readonly failed?: ((call: ApiCall, error: unknown) => Promise<void>) | undefined;
}

export function recover(options: RecoverOptions): Filter {
  return {
    name: "recover",
    run: async (call, next) => {
      try {
        return await next();
      } catch (error) {
        await options.failed?.(call, error);
        return errorReply(call, asStatus(error, call, options).error, options.dialect);
      }
    },
  };
}

/** Returns the Status error that a failure is answered with, and whether it was unexpected. */
export function asStatus(
  error: unknown,
  call: ApiCall,
  { unexpected }: Pick<RecoverOptions, "unexpected">,
): { readonly error: ApiError; readonly panic: boolean } {
  if (error instanceof ApiError) return { error, panic: false };
  const status = storeErrorToStatus(error, call.method !== "GET");
  // Transient errors are not logged.
  if (status && (error instanceof StoreBusy || error instanceof StoreClosed))
    return { error: status, panic: false };
  const id = unexpected(error, call);
  if (status) return { error: status, panic: false };
  const internal = new ApiError(500, "InternalError", `Internal error occurred: ${id}`, {
    causes: [{ message: "see the server's log" }],
  });
  return { error: internal, panic: true };
}

/**
 * Returns the error response, in a media type the client accepts for plain objects, or else in indented JSON.
 */
export function errorReply(call: ApiCall, error: ApiError, dialect: Dialect): Reply {
  let choice;
  try {
    choice = negotiate(call.call, call.query, dialect, justObjects);
  } catch {
    choice = { media: "json", form: "object", formVersion: "", pretty: true } as const;
  }
  const reply = statusReply(sendableCode(error.code), statusObject(error), choice, dialect);
  const seconds = error.details?.retryAfterSeconds;
  return seconds ? { ...reply, headers: { ...reply.headers, "retry-after": String(seconds) } } : reply;
}

/**
 * Returns the status code of the response. An admission webhook may deny a request with any number as code;
 * for those that HTTP cannot carry the Status in the body has the code, and the response is a 500, as that of
 * kube-apiserver. This also bounds the codes in metrics.
 */
const sendableCode = (code: number): number => (code >= 100 && code <= 999 ? code : 500);

/** Logs an unexpected error under the request's audit id. */
export const logUnexpected =
  (onError: (message: string, fields: Record<string, unknown>) => void): RecoverOptions["unexpected"] =>
  (error, call) => {
    const id = call.auditId || randomUUID();
    onError("unexpected error while handling a request", {
      id,
      method: call.method,
      path: call.target.path,
      error: (error as Error).stack ?? String(error),
    });
    return id;
  };
