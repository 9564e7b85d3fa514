// What Go's net/url says of an address: settings are checked, and refused, as kube-apiserver does.

/** A URL in the parts that Go sees. None of them is decoded. */
export interface UrlParts {
  /** Empty where there is none. */
  readonly scheme: string;
  /** User, host and port; undefined where the URL has no place for them. */
  readonly authority: string | undefined;
  readonly path: string;
  /** With its question mark, or empty. */
  readonly query: string;
  /** With its hash, or empty. */
  readonly fragment: string;
}

/** Why the text is not a URL, as `parse "<text>": <reason>`; undefined when it is one. */
export function urlProblem(text: string): string | undefined {
  const parts = urlParts(text);
  return typeof parts === "string" ? `parse ${JSON.stringify(text)}: ${parts}` : undefined;
}

const schemePattern = /^([A-Za-z][A-Za-z0-9+.-]*):/;

/** Empty where there is none. */
export const urlScheme = (text: string): string => schemePattern.exec(text)?.[1]?.toLowerCase() ?? "";

/** The parts of a URL, or why it is none. */
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
  // Three slashes are a path, unless a scheme says that a host was left out.
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
