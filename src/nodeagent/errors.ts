// What to tell a user of an error.
import { GrpcError } from "#http";

/** The runtime's own words where there are some. */
export const wordsOf = (error: unknown): string => (error instanceof GrpcError ? error.detail : error instanceof Error ? error.message : String(error));

/** The same, with what kind of error it is: as other clients of runtimes print it. */
export const fullWordsOf = (error: unknown): string => (error instanceof GrpcError ? `rpc error: code = ${codeName(error.code)} desc = ${error.detail}` : wordsOf(error));

const codeName = (code: string): string =>
  code
    .toLowerCase()
    .split("_")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("")
    .replace("Cancelled", "Canceled");
