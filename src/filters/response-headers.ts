// Headers for browsers: strict transport security, and cross-origin requests.
import { header } from "#http";
import type { Filter } from "./filter.ts";

/** Adds `Strict-Transport-Security` to every response. */
export function strictTransport(directives: readonly string[]): Filter {
  const value = directives.join("; ");
  return {
    name: "strict transport security",
    run: (call, next) => {
      call.setHeader("strict-transport-security", value);
      return next();
    },
  };
}

const fixed = {
  "access-control-allow-methods": "POST, GET, OPTIONS, PUT, DELETE, PATCH",
  "access-control-allow-headers":
    "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since",
  "access-control-expose-headers": "Date",
  "access-control-allow-credentials": "true",
};

/** Permits requests from pages of the allowed origins, and answers CORS preflight requests. */
export function crossOrigin(patterns: readonly string[]): Filter {
  const allowed = originMatcher(patterns);
  return {
    name: "cross origin",
    run: (call, next) => {
      const origin = header(call.call.headers, "origin");
      if (!origin || !allowed(origin)) return next();
      call.setHeader("access-control-allow-origin", origin);
      for (const [name, value] of Object.entries(fixed)) call.setHeader(name, value);
      return call.method === "OPTIONS" ? Promise.resolve({ status: 204, headers: {} }) : next();
    },
  };
}

/**
 * Reports whether a pattern matches an origin. The match must cover the whole host name, so that a pattern
 * without anchors does not permit `example.com.evil.test`.
 */
export function originMatcher(patterns: readonly string[]): (origin: string) => boolean {
  const compiled = patterns.map((pattern) => new RegExp(pattern));
  return (origin) => {
    if (origin.length > 1000) return false;
    const host = /^[a-z][a-z0-9+.-]*:\/\/([^/:]+|\[[^\]]*\])/i.exec(origin)?.[1];
    const from = host === undefined ? 0 : origin.indexOf("//") + 2;
    const to = host === undefined ? origin.length : from + host.length;
    return compiled.some((pattern) => {
      const match = pattern.exec(origin);
      return match !== null && match.index <= from && match.index + match[0].length >= to;
    });
  };
}
