// The files of the web page as built: read on first use, then served from memory. They contain no secrets and
// are public; the data that the page shows comes through the API.
import { readFileSync, readdirSync } from "node:fs";
import { createHash } from "node:crypto";
import { extname, join } from "node:path";
import { type Call, type Reply, header, plainReply } from "#http";

/** Path of the page, with a trailing slash. */
export const pagePrefix = "/ui/";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

// Allow only scripts of this page, no inline code and no evaluation; connections to this server only; no
// framing, and no reading from other origins.
const security = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
} as const;

interface PageFile {
  readonly headers: Readonly<Record<string, string>>;
  readonly plain: Uint8Array;
  /** Compressed with brotli by the build. */
  readonly compressed: Uint8Array | undefined;
}

export interface PageFiles {
  /** Returns the reply to a call below the prefix. */
  reply(call: Pick<Call, "method" | "path" | "headers">): Reply;
}

/** Serves the files of a directory; if the page was not built, replies say so. */
export function pageFiles(folder: string): PageFiles {
  let files: ReadonlyMap<string, PageFile> | undefined;
  return {
    reply: ({ method, path, headers }) => {
      if (method !== "GET" && method !== "HEAD")
        return withSecurity(plainReply(405, "405 method not allowed"));
      if (path === pagePrefix.slice(0, -1))
        return withSecurity({ status: 308, headers: { location: pagePrefix } });
      files ??= readFiles(folder);
      const file = files.get(path.slice(pagePrefix.length) || "index.html");
      if (!file)
        return withSecurity(
          plainReply(404, files.size === 0 ? "the page is not part of this build" : "404 page not found"),
        );
      if (header(headers, "if-none-match") === file.headers["etag"])
        return { status: 304, headers: file.headers };
      const acceptsBrotli = /\bbr\b/.test(header(headers, "accept-encoding") ?? "");
      const compressed = acceptsBrotli ? file.compressed : undefined;
      const body = compressed ?? file.plain;
      return {
        status: 200,
        headers: {
          ...file.headers,
          "content-length": String(body.length),
          ...(compressed && { "content-encoding": "br" }),
        },
        ...(method === "GET" && { body }),
      };
    },
  };
}

const withSecurity = (reply: Reply): Reply => ({ ...reply, headers: { ...reply.headers, ...security } });

function readFiles(folder: string): ReadonlyMap<string, PageFile> {
  const read = (name: string): Uint8Array => readFileSync(join(folder, name));
  let names: readonly string[];
  try {
    names = readdirSync(folder);
  } catch {
    return new Map();
  }
  return new Map(
    names
      .filter((name) => extname(name) in types)
      .map((name) => {
        const plain = read(name);
        const headers = {
          ...security,
          "content-type": types[extname(name)]!,
          vary: "Accept-Encoding",
          etag: `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`,
          // The names of all other files change with their content.
          "cache-control": name === "index.html" ? "no-cache" : "public, max-age=31536000, immutable",
        };
        return [
          name,
          { headers, plain, compressed: names.includes(`${name}.br`) ? read(`${name}.br`) : undefined },
        ];
      }),
  );
}
