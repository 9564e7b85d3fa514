// What to tell a user of an error.
import { GrpcError } from "#http";

/** The runtime's own words where there are some. */
export const errorText = (error: unknown): string =>
  error instanceof GrpcError ? error.detail : error instanceof Error ? error.message : String(error);

/** The same, with what kind of error it is: as other clients of runtimes print it. */
export const grpcErrorText = (error: unknown): string =>
  error instanceof GrpcError
    ? `rpc error: code = ${codeName(error.code)} desc = ${error.detail}`
    : errorText(error);

/**
 * What the system says of a file, in the order in which programs usually tell it: what was done, to what, and
 * why it failed.
 */
export function fsErrorText(error: Error & { code?: string; syscall?: string; path?: string }): string {
  const found = /^[A-Z0-9]+: (.+), (\w+) '(.*)'$/s.exec(error.message);
  if (!found || error.code === undefined) return error.message;
  const [, why = "", call = "", path = ""] = found;
  return `${call} ${path}: ${words[error.code] ?? why}`;
}

/** Where the runtime that we are written for has words of its own. */
const words: Readonly<Record<string, string>> = {
  EEXIST: "file exists",
  EISDIR: "is a directory",
  ENOTDIR: "not a directory",
  ENOTEMPTY: "directory not empty",
  ENOSPC: "no space left on device",
  EROFS: "read-only file system",
};

const codeName = (code: string): string =>
  code
    .toLowerCase()
    .split("_")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("")
    .replace("Cancelled", "Canceled");
