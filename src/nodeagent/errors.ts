// What to tell a user of an error.
import { GrpcError } from "#http";

/** The runtime's own words where there are some. */
export const wordsOf = (error: unknown): string => (error instanceof GrpcError ? error.detail : error instanceof Error ? error.message : String(error));
