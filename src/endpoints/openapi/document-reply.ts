// Responds with a document: whole, a range, or 304 if the client has it already (RFC 9110, sections 13 and
// 14).
import { type HeaderValues, type Reply, header } from "#http";

export interface Document {
  readonly body: Buffer;
  /** The headers of the whole document, including ETag and Last-Modified if it has them. */
  readonly headers: Readonly<Record<string, string>>;
}

export function documentReply(
  requestHeaders: HeaderValues,
  { body, headers: documentHeaders }: Document,
): Reply {
  const headers = { ...documentHeaders, "accept-ranges": "bytes" };
  const state = precondition(requestHeaders, headers);
  if (state === "failed") return { status: 412, headers: kept(headers, "etag", "vary") };
  if (state === "known") return { status: 304, headers: kept(headers, "etag", "vary", "accept-ranges") };
  const ranges = header(requestHeaders, "range");
  if (ranges === undefined || !matchesIfRange(header(requestHeaders, "if-range"), headers))
    return { status: 200, headers, body };
  const range = parseRange(ranges, body.length);
  if (range === "all") return { status: 200, headers, body };
  if (range === "none")
    return { status: 416, headers: { ...kept(headers, "vary"), "content-range": `bytes */${body.length}` } };
  const [first, last] = range;
  return {
    status: 206,
    headers: { ...headers, "content-range": `bytes ${first}-${last}/${body.length}` },
    body: body.subarray(first, last + 1),
  };
}

type Headers = Readonly<Record<string, string>>;

function kept(headers: Headers, ...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
  );
}

function precondition(requestHeaders: HeaderValues, headers: Headers): "met" | "failed" | "known" {
  const match = header(requestHeaders, "if-match");
  if (match !== undefined) {
    if (!lists(match, headers["etag"], true)) return "failed";
  } else if (isLater(headers["last-modified"], header(requestHeaders, "if-unmodified-since")) === true)
    return "failed";
  const none = header(requestHeaders, "if-none-match");
  if (none !== undefined) return lists(none, headers["etag"], false) ? "known" : "met";
  return isLater(headers["last-modified"], header(requestHeaders, "if-modified-since")) === false
    ? "known"
    : "met";
}

/**
 * Reports whether a list of tags contains this one; weak tags match unless a strong comparison is required.
 */
function lists(tags: string, etag: string | undefined, strong: boolean): boolean {
  if (tags.trim() === "*") return true;
  if (etag === undefined) return false;
  return tags.split(",").some((tag) => (strong ? tag.trim() : tag.trim().replace(/^W\//, "")) === etag);
}

/** Returns undefined if either is not a valid time. */
function isLater(modified: string | undefined, than: string | undefined): boolean | undefined {
  const [changed, since] = [Date.parse(modified ?? ""), Date.parse(than ?? "")];
  return Number.isNaN(changed) || Number.isNaN(since) ? undefined : changed > since;
}

const matchesIfRange = (condition: string | undefined, headers: Headers): boolean =>
  condition === undefined || condition === headers["etag"] || condition === headers["last-modified"];

/**
 * Parses a single byte range. A request for several ranges may be answered with the whole document, and is.
 */
function parseRange(text: string, length: number): readonly [first: number, last: number] | "all" | "none" {
  const found = /^bytes=\s*(\d{0,15})\s*-\s*(\d{0,15})\s*$/.exec(text);
  if (!found || (found[1] === "" && found[2] === ""))
    return text.startsWith("bytes=") && text.includes(",") ? "all" : "none";
  const [from, to] = [found[1]!, found[2]!];
  if (from === "") return Number(to) === 0 ? "none" : [Math.max(0, length - Number(to)), length - 1];
  if (Number(from) >= length || (to !== "" && Number(to) < Number(from))) return "none";
  return [Number(from), to === "" ? length - 1 : Math.min(Number(to), length - 1)];
}
