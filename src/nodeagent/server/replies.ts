// Common responses of the agent's server.
import { promisify } from "node:util";
import { type ZlibOptions, gzip } from "node:zlib";
import { type Call, type Reply, header } from "#http";

/** Returns a plain text response. */
export const text = (
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Reply => ({
  status,
  headers: { "content-type": "text/plain; charset=utf-8", ...headers },
  body: Buffer.from(body),
});

export const json = (body: string): Reply => ({
  status: 200,
  headers: { "content-type": "application/json" },
  body: Buffer.from(body),
});

/** Returns a metrics response, compressed if the client accepts gzip. */
export async function exposition(body: string, { headers }: Pick<Call, "headers">): Promise<Reply> {
  const plain = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
  const accepted = (header(headers, "accept-encoding") ?? "").split(",").map((one) => one.trim());
  if (!accepted.some((one) => one === "gzip" || one.startsWith("gzip;")))
    return { status: 200, headers: plain, body: Buffer.from(body) };
  return {
    status: 200,
    headers: { ...plain, "content-encoding": "gzip" },
    body: await compressed(body, { level: 1 }),
  };
}

const compressed = promisify<string, ZlibOptions, Buffer>(gzip);

export const moved = (location: string): Reply => ({
  status: 301,
  headers: { "content-type": "text/html; charset=utf-8", location },
  body: Buffer.from(
    `<a href="${location.replaceAll("&", "&amp;").replaceAll('"', "&#34;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")}">Moved Permanently</a>.\n\n`,
  ),
});
