// The media types of a path's responses and request bodies. Built-in resources have fixed lists, which are
// compared literally before anything else in the request is checked; custom resources have none.
import { ApiError, withoutTrailing } from "#base";
import type { Dialect } from "#dialect";
import { type Call, header } from "#http";
import { contentType, everyMedia } from "./negotiate.ts";

export interface RouteMedia {
  readonly produces: readonly string[];
  /** Any type, if absent. */
  readonly consumes?: readonly string[];
}

/** Types of object responses. */
export const objectMedia = (dialect: Dialect): readonly string[] =>
  everyMedia.map((media) => contentType(media, dialect));

/** Types of list responses, which the same path can also stream as watches. */
export const listMedia = (dialect: Dialect): readonly string[] => {
  const types = objectMedia(dialect);
  return [...types, `${types[0]};stream=watch`, `${types.at(-1)};stream=watch`];
};

/** Throws unless the client accepts a type of the path and the path accepts the type of the body. */
export function checkRoute(call: Call, { produces, consumes }: RouteMedia): void {
  const { method, headers } = call;
  const readable =
    consumes === undefined || isReadable(header(headers, "content-type") ?? "", method, consumes);
  if (readable && isAccepted(header(headers, "accept") || "*/*", produces)) return;
  // A path that cannot read the body offers no response types, either.
  throw refusal(call, readable ? produces : undefined);
}

function refusal({ method, headers }: Call, produces: readonly string[] | undefined): ApiError {
  const length = header(headers, "content-length");
  const unsupported = (message: string): ApiError => new ApiError(415, "UnsupportedMediaType", message, {});
  if (!produces && Number(length ?? "0") > 0) return unsupported("415: Unsupported Media Type");
  const available = `Available representations: ${produces?.join(", ") ?? ""}`;
  if (length === undefined && (method === "POST" || method === "PUT" || method === "PATCH"))
    return unsupported(`415: Unsupported Media Type\n\n${available}`);
  return new ApiError(406, "NotAcceptable", `406: Not Acceptable\n\n${available}`, {});
}

/** Methods whose body type may be omitted, as they usually have no body. */
const bodiless = new Set(["GET", "HEAD", "OPTIONS", "DELETE", "TRACE"]);

function isReadable(type: string, method: string, consumes: readonly string[]): boolean {
  if (type === "" && bodiless.has(method)) return true;
  const types = typesIn(type || "application/octet-stream");
  return types.some((item) => consumes.includes(item));
}

const isAccepted = (accept: string, types: readonly string[]): boolean =>
  accept === "*/*" ||
  types.includes(accept) ||
  typesIn(accept).some((item) => item === "*/*" || types.includes(item));

/** The media types in a header, without their parameters. */
const typesIn = (text: string): string[] =>
  text.split(",").map((item) => withoutTrailing(item.split(";", 1)[0]!.replace(/^ +/, ""), " "));
