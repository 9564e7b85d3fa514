// /logs: the machine's log folder, as a file server shows it: folders as lists, files whole or in part.
import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { methodNotAllowed } from "#base";
import { type HeaderValues, type Reply, type Sink, header } from "#http";
import type { PathHandler } from "../router.ts";

const text = "text/plain; charset=utf-8";
const types: Readonly<Record<string, string>> = {
  ".log": text,
  ".txt": text,
  ".html": "text/html; charset=utf-8",
  ".json": "application/json",
  ".xml": "text/xml; charset=utf-8",
  ".gz": "application/gzip",
};
const chunkBytes = 64 * 1024;
/** Tabs, line ends and escapes are text. */
const isBinary = (byte: number): boolean => byte < 9 || (byte > 13 && byte < 32 && byte !== 27);

export function logFiles(path: string, folder: string): PathHandler {
  return async (call) => {
    const { path: asked } = call.target;
    if (asked !== path && !asked.startsWith(`${path}/`)) return undefined;
    if (call.method !== "GET") throw methodNotAllowed();
    const rest = decoded(asked.slice(path.length));
    if (rest === undefined || rest.split("/").includes("..")) return plain(400, "invalid URL path");
    if (asked.endsWith("/index.html")) return moved("./");
    const wanted = join(folder, rest);
    const found = await stat(wanted).catch(() => undefined);
    const headers = { "last-modified": found?.mtime.toUTCString() ?? "" };
    if (found?.isDirectory()) {
      if (!asked.endsWith("/")) return moved(`${asked.slice(asked.lastIndexOf("/") + 1)}/`);
      return isUnchanged(call.call.headers, found.mtimeMs) ? { status: 304, headers } : await listing(wanted, headers);
    }
    // Only files that simply end: others might never do so.
    if (!found?.isFile()) return plain(404, "404 page not found");
    if (isUnchanged(call.call.headers, found.mtimeMs)) return { status: 304, headers };
    const file = await open(wanted.replace(/\/+$/, ""), "r").catch((error: NodeJS.ErrnoException) => error.code ?? "");
    if (typeof file === "string") return file === "EACCES" ? plain(403, "403 Forbidden") : plain(404, "404 page not found");
    return await part(file, found.size, header(call.call.headers, "range"), { "accept-ranges": "bytes", ...headers }, types[extname(wanted)]);
  };
}

async function part(file: FileHandle, size: number, asked: string | undefined, headers: Readonly<Record<string, string>>, type: string | undefined): Promise<Reply> {
  const range = rangeOf(asked, size);
  if (range === "none") {
    await file.close();
    return { status: 416, headers: { ...plain(416, "").headers, "content-range": `bytes */${size}` }, body: Buffer.from("invalid range: failed to overlap\n") };
  }
  const { from, length } = range ?? { from: 0, length: size };
  return {
    status: range ? 206 : 200,
    headers: {
      ...headers,
      "content-type": type ?? (await typeOf(file)),
      "content-length": String(length),
      ...(range && { "content-range": `bytes ${from}-${from + length - 1}/${size}` }),
    },
    body: { stream: (sink) => send(file, from, length, sink) },
  };
}

/** The part asked for; undefined for the whole file, which also answers whoever asks for several parts. */
export function rangeOf(asked: string | undefined, size: number): { readonly from: number; readonly length: number } | "none" | undefined {
  const found = /^bytes=(\d*)-(\d*)$/.exec(asked ?? "");
  if (!found || (found[1] === "" && found[2] === "")) return undefined;
  const from = found[1] === "" ? Math.max(0, size - Number(found[2])) : Number(found[1]);
  const last = found[1] === "" || found[2] === "" ? size - 1 : Math.min(Number(found[2]), size - 1);
  return from >= size || last < from ? "none" : { from, length: last - from + 1 };
}

async function typeOf(file: FileHandle): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(512), 0, 512, 0);
  return buffer.subarray(0, bytesRead).some(isBinary) ? "application/octet-stream" : text;
}

async function listing(folder: string, headers: Readonly<Record<string, string>>): Promise<Reply> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
  if (!entries) return plain(500, "Error reading directory");
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).toSorted();
  const shown = (name: string): string => name.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&#34;").replaceAll("'", "&#39;");
  const lines = names.map((name) => `<a href="${encodeURIComponent(name).replaceAll("%2F", "/")}">${shown(name)}</a>\n`);
  return { status: 200, headers: { "content-type": "text/html; charset=utf-8", ...headers }, body: Buffer.from(`<pre>\n${lines.join("")}</pre>\n`) };
}

/** As many bytes as were promised, unless the file has shrunk meanwhile. */
async function send(file: FileHandle, from: number, length: number, sink: Sink): Promise<void> {
  try {
    for (let done = 0; done < length && !sink.closed.aborted;) {
      const buffer = Buffer.allocUnsafeSlow(Math.min(chunkBytes, length - done));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, from + done);
      if (bytesRead === 0) return;
      done += bytesRead;
      sink.write(buffer.subarray(0, bytesRead));
      await sink.drained();
    }
  } finally {
    await file.close();
  }
}

function isUnchanged(headers: HeaderValues, modified: number): boolean {
  const since = Date.parse(header(headers, "if-modified-since") ?? "");
  return Math.floor(modified / 1000) * 1000 <= since;
}

function decoded(path: string): string | undefined {
  try {
    const name = decodeURIComponent(path);
    return name.includes("\0") ? undefined : name;
  } catch {
    return undefined;
  }
}

const plain = (status: number, message: string): Reply => ({ status, headers: { "content-type": text, "x-content-type-options": "nosniff" }, body: Buffer.from(`${message}\n`) });
const moved = (location: string): Reply => ({ status: 301, headers: { location } });
