// Texts of errors for users.
import { GrpcError } from "#http";

/** Returns the detail of a gRPC error, or else the error's message. */
export const errorText = (error: unknown): string =>
  error instanceof GrpcError ? error.detail : error instanceof Error ? error.message : String(error);

/** Like `errorText`, with the gRPC status code, in the form that grpc-go prints. */
export const grpcErrorText = (error: unknown): string =>
  error instanceof GrpcError
    ? `rpc error: code = ${codeName(error.code)} desc = ${error.detail}`
    : errorText(error);

/** Formats a file system error like Go: the operation, the path and the reason. */
export function fsErrorText(error: Error & { code?: string; syscall?: string; path?: string }): string {
  const found = /^[A-Z0-9]+: (.+), (\w+) '(.*)'$/s.exec(error.message);
  if (!found || error.code === undefined) return error.message;
  const [, reason = "", call = "", path = ""] = found;
  return `${call} ${path}: ${codeTexts[error.code] ?? reason}`;
}

/** Texts for error codes that differ from those of Node.js. */
const codeTexts: Readonly<Record<string, string>> = {
  EEXIST: "file exists",
  EISDIR: "is a directory",
  ENOTDIR: "not a directory",
  ENOTEMPTY: "directory not empty",
  ENOSPC: "no space left on device",
  EROFS: "read-only file system",
};

/** Returns the name of a gRPC status code as grpc-go prints it, such as NotFound. */
export const codeName = (code: string): string =>
  code
    .toLowerCase()
    .split("_")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("")
    .replace("Cancelled", "Canceled");
