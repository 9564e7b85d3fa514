// The media types of a path: those that its answers and its bodies can have. Paths of built-in resources have fixed
// lists, which are looked at by the letter, before anything else is read of a request; those of defined kinds have
// none.
import { ApiError } from "#base";
import type { Dialect } from "#dialect";
import { type Call, header } from "#http";
import { contentType, everyMedia } from "./negotiate.ts";

export interface RouteMedia {
  readonly produces: readonly string[];
  /** Any, if there is no list. */
  readonly consumes?: readonly string[];
}

/** What objects are answered in. */
export const objectMedia = (dialect: Dialect): readonly string[] =>
  everyMedia.map((media) => contentType(media, dialect));

/** What lists are, which can be watched by the same request. */
export const listMedia = (dialect: Dialect): readonly string[] => {
  const types = objectMedia(dialect);
  return [...types, `${types[0]};stream=watch`, `${types.at(-1)};stream=watch`];
};

/** Throws unless the path has a type that the request takes, and reads the type that its body has. */
export function checkRoute(call: Call, { produces, consumes }: RouteMedia): void {
  const { method, headers } = call;
  const readable =
    consumes === undefined || isReadable(header(headers, "content-type") ?? "", method, consumes);
  if (readable && isTaken(header(headers, "accept") || "*/*", produces)) return;
  // A path that does not read the request has no types for it, either, and nobody can take one of them.
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

/** Methods that need not say what is in a body that they mostly do not have. */
const bodiless = new Set(["GET", "HEAD", "OPTIONS", "DELETE", "TRACE"]);

function isReadable(type: string, method: string, consumes: readonly string[]): boolean {
  if (type === "" && bodiless.has(method)) return true;
  const said = typesIn(type || "application/octet-stream");
  return said.some((item) => consumes.includes(item));
}

const isTaken = (accept: string, types: readonly string[]): boolean =>
  accept === "*/*" ||
  types.includes(accept) ||
  typesIn(accept).some((item) => item === "*/*" || types.includes(item));

/** The media types that a header lists, without their parameters. */
const typesIn = (text: string): string[] =>
  text.split(",").map((item) => item.split(";", 1)[0]!.replace(/^ +| +$/g, ""));
