// The plain answers of the agent's server.
import type { Reply } from "#http";

/** What a handler says itself. */
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

export const exposition = (body: string): Reply => ({
  status: 200,
  headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
  body: Buffer.from(body),
});

export const moved = (location: string): Reply => ({
  status: 301,
  headers: { "content-type": "text/html; charset=utf-8", location },
  body: Buffer.from(
    `<a href="${location.replaceAll("&", "&amp;").replaceAll('"', "&#34;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")}">Moved Permanently</a>.\n\n`,
  ),
});
