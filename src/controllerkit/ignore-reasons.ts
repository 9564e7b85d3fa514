// Refusals that tell a controller no more than that others were faster.
import { ApiError } from "#base";

export const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.code === 404;
export const isConflict = (error: unknown): boolean =>
  error instanceof ApiError && error.reason === "Conflict";
export const isAlreadyExists = (error: unknown): boolean =>
  error instanceof ApiError && error.reason === "AlreadyExists";
export const isNamespaceTerminating = (error: unknown): boolean =>
  error instanceof ApiError &&
  Boolean(error.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating"));

/**
 * Awaits a request and ignores refusals with these reasons. A namespace that is being deleted refuses new
 * objects with Forbidden; that is ignored always.
 */
export async function ignoreReasons(reasons: readonly string[], request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (isNamespaceTerminating(error)) return;
    if (!(error instanceof ApiError && reasons.includes(error.reason))) throw error;
  }
}

/** The object, or undefined when the server does not have it. */
export async function orUndefined<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
