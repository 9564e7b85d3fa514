// The status codes of the protocol and the error that carries them.
import type { IncomingHttpHeaders } from "node:http2";
import { nodeHttp2 } from "#base";

export const grpcCodes = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
] as const;
export type GrpcCode = (typeof grpcCodes)[number];

/** A call that did not end with OK. */
export class GrpcError extends Error {
  override readonly name = "GrpcError";
  readonly code: GrpcCode;
  /** The message from the server, or a description of the connection failure. */
  readonly detail: string;
  /** True if the server certainly never acted on the call, so that it may be retried. */
  readonly unprocessed: boolean;
  /** The endpoint of the call, if one was selected. */
  readonly endpoint: string | undefined;
  constructor(
    code: GrpcCode,
    detail: string,
    more: {
      readonly unprocessed?: boolean;
      readonly endpoint?: string | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(`${code}: ${detail}`, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.detail = detail;
    this.unprocessed = more.unprocessed ?? false;
    this.endpoint = more.endpoint;
  }
}

/** Reads grpc-status and grpc-message; returns undefined if the headers contain neither. */
export function statusOf(
  headers: IncomingHttpHeaders,
): { readonly code: GrpcCode; readonly detail: string } | undefined {
  const status = headers["grpc-status"];
  if (status === undefined) return undefined;
  const message = headers["grpc-message"];
  return {
    code: grpcCodes[Number(status)] ?? "UNKNOWN",
    detail: percentDecoded(Array.isArray(message) ? message.join(",") : (message ?? "")),
  };
}

const httpCodes: Readonly<Record<number, GrpcCode>> = {
  400: "INTERNAL",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "UNIMPLEMENTED",
  429: "UNAVAILABLE",
  502: "UNAVAILABLE",
  503: "UNAVAILABLE",
  504: "UNAVAILABLE",
};

/** Returns the status of a plain HTTP response, from a proxy or from a server that does not speak gRPC. */
export function statusOfPlainHttp(
  headers: IncomingHttpHeaders,
): { readonly code: GrpcCode; readonly detail: string } | undefined {
  const status = Number(headers[":status"]);
  if (status !== 200)
    return { code: httpCodes[status] ?? "UNKNOWN", detail: `the server answered with HTTP status ${status}` };
  const type = headers["content-type"];
  return type?.startsWith("application/grpc")
    ? undefined
    : { code: "UNKNOWN", detail: `the server answered with content type ${JSON.stringify(type ?? "")}` };
}

/** Returns the status of a stream that was reset with an HTTP/2 error code instead of being answered. */
export function statusOfReset(code: number): {
  readonly code: GrpcCode;
  readonly detail: string;
  readonly unprocessed?: boolean;
} {
  const { constants } = nodeHttp2();
  if (code === constants.NGHTTP2_REFUSED_STREAM)
    return { code: "UNAVAILABLE", detail: "the server refused the stream", unprocessed: true };
  if (code === constants.NGHTTP2_CANCEL)
    return { code: "CANCELLED", detail: "the server cancelled the stream" };
  if (code === constants.NGHTTP2_ENHANCE_YOUR_CALM)
    return { code: "RESOURCE_EXHAUSTED", detail: "the server asked us to calm down" };
  if (code === constants.NGHTTP2_INADEQUATE_SECURITY)
    return { code: "PERMISSION_DENIED", detail: "the server wants a more secure connection" };
  return { code: "INTERNAL", detail: `the server reset the stream with HTTP/2 error code ${code}` };
}

/** Percent-decodes a grpc-message. Malformed sequences are kept unchanged. */
export function percentDecoded(text: string): string {
  if (!text.includes("%")) return text;
  const bytes: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const pair = text[at] === "%" ? text.slice(at + 1, at + 3) : "";
    if (/^[0-9a-fA-F]{2}$/.test(pair)) {
      bytes.push(Number.parseInt(pair, 16));
      at += 2;
    } else bytes.push(...Buffer.from(text[at]!));
  }
  return Buffer.from(bytes).toString();
}
