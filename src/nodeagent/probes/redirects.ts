// One HTTP request to a container and those that its answers lead to, as Go's client follows them.
import { type HeaderList, type HttpAnswer, type HttpGet, httpGet, urlOf } from "./http-get.ts";

export interface FollowOptions {
  readonly timeoutMilliseconds: number;
  readonly signal: AbortSignal;
  /** Whether another host may be asked, too. */
  readonly anyHost?: boolean;
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const mostRequests = 10;

/** The last answer, which may lead to a host that is not to be asked. */
export async function getFollowing(first: HttpGet, options: FollowOptions): Promise<HttpAnswer> {
  const { timeoutMilliseconds, signal, anyHost = false } = options;
  const deadline = performance.now() + timeoutMilliseconds;
  let get = first;
  for (let sent = 1; ; sent++) {
    const answer = await httpGet(get, Math.max(1, deadline - performance.now()), signal);
    const { status, location } = answer;
    if (!redirects.has(status) || location === undefined) return answer;
    const next = redirected(get, location, first);
    if (!anyHost && next.host !== first.host) return answer;
    if (sent === mostRequests)
      throw new Error(`Get ${JSON.stringify(location)}: stopped after ${mostRequests} redirects`);
    get = next;
  }
}

function redirected(from: HttpGet, location: string, first: HttpGet): HttpGet {
  const to = new URL(location, urlOf(from));
  const scheme = to.protocol === "https:" ? "https" : "http";
  // Only who stays on the host keeps the name by which the definition calls it.
  const isRelative = !/^[a-z][a-z0-9+.-]*:/i.test(location);
  const kept = first.headers.filter(([name]) => name !== "Referer" && (name !== "Host" || isRelative));
  return {
    scheme,
    host: to.hostname.replace(/^\[|\]$/g, ""),
    port: Number(to.port) || (scheme === "https" ? 443 : 80),
    // As a whole: a path of two slashes is no path by itself.
    path: to.href,
    headers: from.scheme === "https" && scheme === "http" ? kept : withReferer(kept, urlOf(from)),
  };
}

/** In its place: by name between the user agent and the end of the connection. */
function withReferer(headers: HeaderList, referer: string): HeaderList {
  const at = headers.findIndex(([name]) => name !== "Host" && name !== "User-Agent" && name > "Referer");
  const end = headers.findIndex(([name]) => name === "Connection");
  const place = at < 0 ? (end < 0 ? headers.length : end) : at;
  return headers.toSpliced(place, 0, ["Referer", referer]);
}
