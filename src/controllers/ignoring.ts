// Refusals that tell a loop no more than that others were faster.
import { ApiError } from "#base";

/**
 * What somebody else has done, or made impossible, meanwhile is no trouble. A namespace that goes refuses new
 * objects with Forbidden.
 */
export async function ignoring(reasons: readonly string[], asked: Promise<unknown>): Promise<void> {
  try {
    await asked;
  } catch (error) {
    const going =
      error instanceof ApiError &&
      error.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating");
    if (!(error instanceof ApiError && (going || reasons.includes(error.reason)))) throw error;
  }
}
