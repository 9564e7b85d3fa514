// URL parsing as in Go's net/url: configuration is accepted and rejected as kube-apiserver does it.

/** The parts of a URL as Go splits them, without percent-decoding. */
export interface UrlParts {
  /** Empty if the URL has no scheme. */
  readonly scheme: string;
  /** User, host and port; undefined if this form of URL has no authority. */
  readonly authority: string | undefined;
  readonly path: string;
  /** Includes the question mark, or empty. */
  readonly query: string;
  /** Includes the hash, or empty. */
  readonly fragment: string;
}

/** Returns the parse error as `parse "<text>": <reason>`; undefined for a valid URL. */
export function urlProblem(text: string): string | undefined {
  const parts = urlParts(text);
  return typeof parts === "string" ? `parse ${JSON.stringify(text)}: ${parts}` : undefined;
}

const schemePattern = /^([A-Za-z][A-Za-z0-9+.-]*):/;

/** The scheme of a URL in lower case, or an empty string. */
export const urlScheme = (text: string): string => schemePattern.exec(text)?.[1]?.toLowerCase() ?? "";

/** Splits a URL into its parts, or returns the reason why it is invalid. */
export function urlParts(text: string): UrlParts | string {
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(text)) return "net/url: invalid control character in URL";
  if (text.startsWith(":")) return "missing protocol scheme";
  const start = schemePattern.exec(text)?.[0].length ?? 0;
  const scheme = urlScheme(text);
  const [before, fragment] = splitBefore(text.slice(start), "#");
  const [rest, query] = splitBefore(before, "?");
  if (scheme !== "" && !rest.startsWith("/"))
    return escapeProblem(fragment) ?? { scheme, authority: undefined, path: rest, query, fragment };
  if (!rest.startsWith("/") && rest.split("/", 1)[0]!.includes(":"))
    return "first path segment in URL cannot contain colon";
  // Three leading slashes start a path, unless a scheme is present: then the host is empty.
  const hasAuthority = rest.startsWith("//") && (scheme !== "" || !rest.startsWith("///"));
  const end = hasAuthority ? endOfAuthority(rest) : 0;
  const authority = hasAuthority ? rest.slice(2, end) : undefined;
  const path = rest.slice(end);
  return (
    (authority === undefined ? undefined : authorityProblem(authority)) ??
    escapeProblem(path) ??
    escapeProblem(fragment) ?? { scheme, authority, path, query, fragment }
  );
}

function splitBefore(text: string, mark: string): readonly [before: string, from: string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at)];
}

function endOfAuthority(rest: string): number {
  const at = rest.indexOf("/", 2);
  return at < 0 ? rest.length : at;
}

function authorityProblem(authority: string): string | undefined {
  const at = authority.lastIndexOf("@");
  const user = authority.slice(0, Math.max(at, 0));
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) return "net/url: invalid userinfo";
  const host = authority.slice(at + 1);
  if (host.startsWith("[") && !host.includes("]")) return "missing ']' in host";
  const port = host.startsWith("[")
    ? host.slice(host.lastIndexOf("]") + 1)
    : (/:[^:]*$/.exec(host)?.[0] ?? "");
  if (!/^(:[0-9]*)?$/.test(port)) return `invalid port ${JSON.stringify(port)} after host`;
  const escape = /%(?!25|[89A-Fa-f][0-9A-Fa-f]).{0,2}/.exec(host)?.[0];
  if (escape !== undefined) return `invalid URL escape ${JSON.stringify(escape)}`;
  const odd = /[ \\^`{|}]/.exec(host)?.[0];
  return odd === undefined ? undefined : `invalid character ${JSON.stringify(odd)} in host name`;
}

function escapeProblem(text: string): string | undefined {
  const escape = /%(?![0-9A-Fa-f]{2}).{0,2}/.exec(text)?.[0];
  return escape === undefined ? undefined : `invalid URL escape ${JSON.stringify(escape)}`;
}
