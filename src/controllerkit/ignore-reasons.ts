// Classification of API errors that merely mean another client was faster.
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
 * Awaits a request and ignores errors with these reasons. NamespaceTerminating, reported as Forbidden when a
 * namespace being deleted rejects new objects, is always ignored.
 */
export async function ignoreReasons(reasons: readonly string[], request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (isNamespaceTerminating(error)) return;
    if (!(error instanceof ApiError && reasons.includes(error.reason))) throw error;
  }
}

/** Resolves with the object, or with undefined if it is not found. */
export async function orUndefined<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
