// `/logs/`: the host's log folder, as a file server shows it.
import { type FileHandle, open, readdir, realpath } from "node:fs/promises";
import { extname, join, resolve } from "node:path";
import type { Reply, Sink } from "#http";
import { moved, plainError } from "./replies.ts";
import type { Answer } from "./routes.ts";

const types: Readonly<Record<string, string>> = { ".html": "text/html; charset=utf-8", ".json": "application/json", ".xml": "text/xml; charset=utf-8", ".gz": "application/gzip" };
const chunkBytes = 64 * 1024;

export function hostLogs(folder: string): Answer {
  return async ({ call, parts: { rest = "" } }) => {
    const wanted = resolve(join(folder, rest));
    const missing = plainError(404, "404 page not found");
    if (wanted !== folder && !wanted.startsWith(`${folder}/`)) return missing;
    const file = await open(await realpath(wanted).catch(() => wanted), "r").catch(() => undefined);
    if (!file) return missing;
    const stats = await file.stat();
    const headers = { "last-modified": stats.mtime.toUTCString() };
    if (!stats.isDirectory()) {
      if (!stats.isFile() || call.path.endsWith("/")) {
        await file.close();
        return missing;
      }
      return {
        status: 200,
        headers: { "content-type": types[extname(wanted)] ?? "text/plain; charset=utf-8", "content-length": String(stats.size), ...headers },
        body: { stream: (sink) => send(file, stats.size, sink) },
      };
    }
    await file.close();
    if (!call.path.endsWith("/")) return moved(`${call.path.slice(call.path.lastIndexOf("/") + 1)}/`);
    return await listing(wanted, headers);
  };
}

async function listing(folder: string, headers: Readonly<Record<string, string>>): Promise<Reply> {
  const names = (await readdir(folder, { withFileTypes: true })).map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).toSorted();
  const escaped = (name: string): string => name.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&#34;");
  const lines = names.map((name) => `<a href="${encodeURIComponent(name).replaceAll("%2F", "/")}">${escaped(name)}</a>\n`);
  return { status: 200, headers: { "content-type": "text/html; charset=utf-8", ...headers }, body: Buffer.from(`<pre>\n${lines.join("")}</pre>\n`) };
}

/** As many bytes as were promised: a log may grow or shrink meanwhile. */
async function send(file: FileHandle, size: number, sink: Sink): Promise<void> {
  try {
    for (let position = 0; position < size && !sink.closed.aborted;) {
      const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, size - position));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      sink.write(buffer.subarray(0, bytesRead));
      await sink.drained();
    }
  } finally {
    await file.close();
  }
}
