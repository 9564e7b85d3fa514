// An HTTP request to a container that follows redirects like Go's client.
import { type HeaderList, type HttpResponse, type HttpGet, httpGet, urlOf } from "./http-get.ts";

export interface FollowOptions {
  readonly timeoutMilliseconds: number;
  readonly signal: AbortSignal;
  /** Whether redirects to other hosts are followed. */
  readonly anyHost?: boolean;
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const maxRequests = 10;

/** Returns the last response, possibly a redirect to a host that must not be requested. */
export async function getFollowingRedirects(first: HttpGet, options: FollowOptions): Promise<HttpResponse> {
  const { timeoutMilliseconds, signal, anyHost = false } = options;
  const deadline = performance.now() + timeoutMilliseconds;
  let get = first;
  for (let sent = 1; ; sent++) {
    const answer = await httpGet(get, Math.max(1, deadline - performance.now()), signal);
    const { status, location } = answer;
    if (!redirects.has(status) || location === undefined) return answer;
    const next = redirected(get, location, first);
    if (!anyHost && next.host !== first.host) return answer;
    if (sent === maxRequests)
      throw new Error(`Get ${JSON.stringify(location)}: stopped after ${maxRequests} redirects`);
    get = next;
  }
}

function redirected(from: HttpGet, location: string, first: HttpGet): HttpGet {
  const to = new URL(location, urlOf(from));
  const scheme = to.protocol === "https:" ? "https" : "http";
  // The given Host header is kept only for redirects on the same host.
  const isRelative = !/^[a-z][a-z0-9+.-]*:/i.test(location);
  const kept = first.headers.filter(([name]) => name !== "Referer" && (name !== "Host" || isRelative));
  return {
    scheme,
    host: to.hostname.replace(/^\[|\]$/g, ""),
    port: Number(to.port) || (scheme === "https" ? 443 : 80),
    // The whole URL, since a path starting with two slashes is ambiguous on its own.
    path: to.href,
    headers: from.scheme === "https" && scheme === "http" ? kept : withReferer(kept, urlOf(from)),
  };
}

/** Inserts Referer in its place: sorted by name between User-Agent and Connection. */
function withReferer(headers: HeaderList, referer: string): HeaderList {
  const at = headers.findIndex(([name]) => name !== "Host" && name !== "User-Agent" && name > "Referer");
  const end = headers.findIndex(([name]) => name === "Connection");
  const place = at < 0 ? (end < 0 ? headers.length : end) : at;
  return headers.toSpliced(place, 0, ["Referer", referer]);
}
