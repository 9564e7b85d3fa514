// What Go's net/url says of an address: settings are checked, and refused, as kube-apiserver does.

/** Why the text is not a URL, as `parse "<text>": <reason>`; undefined when it is one. */
export function urlProblem(text: string): string | undefined {
  const problem = problemOf(text);
  return problem === undefined ? undefined : `parse ${JSON.stringify(text)}: ${problem}`;
}

const schemePattern = /^([A-Za-z][A-Za-z0-9+.-]*):/;

/** Empty where there is none. */
export const urlScheme = (text: string): string => schemePattern.exec(text)?.[1]?.toLowerCase() ?? "";

function problemOf(text: string): string | undefined {
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(text)) return "net/url: invalid control character in URL";
  if (text.startsWith(":")) return "missing protocol scheme";
  const scheme = schemePattern.exec(text)?.[0] ?? "";
  const [before = "", fragment = ""] = splitOnce(text, "#");
  const [rest = ""] = splitOnce(before.slice(scheme.length), "?");
  if (scheme !== "" && !rest.startsWith("/")) return undefined;
  if (!rest.startsWith("/") && rest.split("/", 1)[0]!.includes(":"))
    return "first path segment in URL cannot contain colon";
  const hasAuthority = rest.startsWith("//");
  const end = hasAuthority ? endOfAuthority(rest) : 0;
  return (
    (hasAuthority ? authorityProblem(rest.slice(2, end)) : undefined) ??
    escapeProblem(rest.slice(end)) ??
    escapeProblem(fragment)
  );
}

function splitOnce(text: string, by: string): readonly string[] {
  const at = text.indexOf(by);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
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
