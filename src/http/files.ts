// A file server: directory listings, whole files and ranges, and 304 for files the client has already.
import { open, readdir, stat } from "node:fs/promises";
import { extname } from "node:path";
import { withoutTrailing } from "#base";
import { type Call, type HeaderValues, type Reply, type Sink, header } from "./call.ts";

const text = "text/plain; charset=utf-8";
const types: Readonly<Record<string, string>> = {
  ".log": "text/x-log; charset=utf-8",
  ".txt": text,
  ".html": "text/html; charset=utf-8",
  ".json": "application/json",
  ".xml": "text/xml; charset=utf-8",
  ".gz": "application/gzip",
};
const chunkBytes = 64 * 1024;
/** Tabs, line ends and escapes count as text. */
const isBinary = (byte: number): boolean => byte < 9 || (byte > 13 && byte < 32 && byte !== 27);

/** Responds with the file or directory at `wanted`; the caller has authorized access to it. */
export async function fileReply(
  filePath: string,
  { path, headers: requestHeaders }: Pick<Call, "path" | "headers">,
): Promise<Reply> {
  const last = path.slice(path.lastIndexOf("/") + 1);
  if (last === "index.html") return moved("./");
  const file = withoutTrailing(filePath, "/");
  const found = await stat(file).catch(() => undefined);
  const headers = { "last-modified": found?.mtime.toUTCString() ?? "" };
  if (found?.isDirectory()) {
    if (last !== "") return moved(`${last}/`);
    return isUnchanged(requestHeaders, found.mtimeMs)
      ? { status: 304, headers }
      : await listing(file, headers);
  }
  // Only regular files: reading others might never end.
  if (!found?.isFile()) return plainReply(404, "404 page not found");
  if (last === "") return moved(`../${file.slice(file.lastIndexOf("/") + 1)}`);
  if (isUnchanged(requestHeaders, found.mtimeMs)) return { status: 304, headers };
  const type = await typeOf(file).catch((error: NodeJS.ErrnoException) => error);
  if (type instanceof Error)
    return type.code === "EACCES" ? plainReply(403, "403 Forbidden") : plainReply(404, "404 page not found");
  return filePartReply(file, found.size, header(requestHeaders, "range"), {
    "accept-ranges": "bytes",
    "content-type": type,
    ...headers,
  });
}

function filePartReply(
  file: string,
  size: number,
  rangeHeader: string | undefined,
  headers: Readonly<Record<string, string>>,
): Reply {
  const range = rangeOf(rangeHeader, size);
  if (range === "none") {
    const refusal = plainReply(416, "invalid range: failed to overlap");
    return { ...refusal, headers: { ...refusal.headers, "content-range": `bytes */${size}` } };
  }
  const { from, length } = range ?? { from: 0, length: size };
  return {
    status: range ? 206 : 200,
    headers: {
      ...headers,
      "content-length": String(length),
      ...(range && { "content-range": `bytes ${from}-${from + length - 1}/${size}` }),
    },
    body: { stream: (sink) => send(file, from, length, sink) },
  };
}

/**
 * Parses a Range header. Returns undefined for the whole file, which is also the response to a request for
 * several ranges.
 */
export function rangeOf(
  rangeHeader: string | undefined,
  size: number,
): { readonly from: number; readonly length: number } | "none" | undefined {
  const found = /^bytes=(\d*)-(\d*)$/.exec(rangeHeader ?? "");
  if (!found || (found[1] === "" && found[2] === "")) return undefined;
  const from = found[1] === "" ? Math.max(0, size - Number(found[2])) : Number(found[1]);
  const last = found[1] === "" || found[2] === "" ? size - 1 : Math.min(Number(found[2]), size - 1);
  return from >= size || last < from ? "none" : { from, length: last - from + 1 };
}

/** Determines the content type by file name or by the first bytes. */
async function typeOf(file: string): Promise<string> {
  await using handle = await open(file, "r");
  const known = types[extname(file)];
  if (known !== undefined) return known;
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(512), 0, 512, 0);
  return buffer.subarray(0, bytesRead).some(isBinary) ? "application/octet-stream" : text;
}

async function listing(folder: string, headers: Readonly<Record<string, string>>): Promise<Reply> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
  if (!entries) return plainReply(500, "Error reading directory");
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).toSorted();
  const shown = (name: string): string =>
    name
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      .replaceAll('"', "&#34;")
      .replaceAll("'", "&#39;");
  const lines = names.map(
    (name) => `<a href="${encodeURIComponent(name).replaceAll("%2F", "/")}">${shown(name)}</a>\n`,
  );
  return {
    status: 200,
    headers: { "content-type": "text/html; charset=utf-8", ...headers },
    body: Buffer.from(`<pre>\n${lines.join("")}</pre>\n`),
  };
}

/** Sends the promised number of bytes, unless the file has shrunk meanwhile. */
async function send(file: string, from: number, length: number, sink: Sink): Promise<void> {
  // Opened only now: a response whose client has disconnected is never sent.
  await using handle = await open(file, "r");
  for (let done = 0; done < length && !sink.closed.aborted;) {
    const buffer = Buffer.allocUnsafeSlow(Math.min(chunkBytes, length - done));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, from + done);
    if (bytesRead === 0) return;
    done += bytesRead;
    sink.write(buffer.subarray(0, bytesRead));
    await sink.drained();
  }
}

function isUnchanged(headers: HeaderValues, modified: number): boolean {
  const since = Date.parse(header(headers, "if-modified-since") ?? "");
  return Math.floor(modified / 1000) * 1000 <= since;
}

/** A response of one line of plain text, marked so that browsers do not interpret it as anything else. */
export const plainReply = (status: number, message: string): Reply => ({
  status,
  headers: { "content-type": text, "x-content-type-options": "nosniff" },
  body: Buffer.from(`${message}\n`),
});
const moved = (location: string): Reply => ({ status: 301, headers: { location } });
