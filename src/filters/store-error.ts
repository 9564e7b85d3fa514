// Maps errors of the store to Status errors: whether the write was done, and whether to retry.
import { ApiError, serviceUnavailable, tooManyRequests } from "#base";
import { KeyServiceFailed, StoreBusy, StoreClosed, StoreFull, unreachableStore } from "#store";
import { RevisionTimeout } from "#watchcache";

const retryAfterSeconds = 1;
const unreachableText = "the store cannot be reached at the moment";

/**
 * Returns undefined for errors of other components, and for those that only an administrator reading the log
 * can resolve.
 */
export function storeErrorToStatus(error: unknown, isWrite: boolean): ApiError | undefined {
  if (error instanceof StoreFull)
    return new ApiError(
      500,
      "InternalError",
      "Internal error occurred: the store has no space left; nothing was written",
    );
  if (error instanceof KeyServiceFailed)
    return new ApiError(500, "InternalError", `Internal error occurred: ${error.message}`, {
      causes: [{ message: error.message }],
    });
  if (error instanceof StoreBusy)
    return tooManyRequests(
      "too many writes are waiting for the store, please try again later",
      retryAfterSeconds,
    );
  if (error instanceof StoreClosed) return serviceUnavailable("the server is shutting down");
  if (error instanceof RevisionTimeout)
    return new ApiError(504, "Timeout", "Timeout: this server does not know yet all that the store has", {
      retryAfterSeconds: retryAfterSeconds,
    });
  const unreachable = unreachableStore(error);
  if (!unreachable) return undefined;
  if (isWrite && !unreachable.unprocessed)
    return new ApiError(
      504,
      "Timeout",
      "Timeout: the store did not answer in time; the write may or may not have been done",
    );
  if (unreachable.late)
    return new ApiError(504, "Timeout", "Timeout: the store did not answer in time", {
      retryAfterSeconds: retryAfterSeconds,
    });
  return new ApiError(503, "ServiceUnavailable", unreachableText, { retryAfterSeconds: retryAfterSeconds });
}
