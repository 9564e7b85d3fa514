// The parts of a URL in the reading that accepts the most: relative ones, ones without a host, spaces in
// paths.

export interface UrlParts {
  readonly scheme: string;
  readonly user?: string;
  readonly host: string;
  readonly query: string;
  readonly fragment: string;
}

const halfEscape = /%(?![0-9a-f]{2})/i;
const badUser = /[^\w.~!$&'()*+,;=%@:-]/;
const badHost = /[^\w.~!$&'()*+,;=:[\]<>"\x80-\uffff%-]|%(?!25|[89a-f][0-9a-f])/i;
const badPort = /:(?!\d*$)[^:\]]*$/;

/** Undefined where the text is no URL in any reading. */
export function urlParts(text: string): UrlParts | undefined {
  if (Buffer.from(text).some((byte) => byte < 0x20 || byte === 0x7f)) return undefined;
  const [, whole = "", fragment = ""] = /^([^#]*)#?([^]*)$/.exec(text)!;
  if (halfEscape.test(fragment) || whole.startsWith(":")) return undefined;
  const scheme = /^[a-z][a-z\d+.-]*(?=:)/i.exec(whole)?.[0] ?? "";
  const [, rest = "", query = ""] = /^([^?]*)\??([^]*)$/.exec(
    scheme ? whole.slice(scheme.length + 1) : whole,
  )!;
  const parts = { scheme: scheme.toLowerCase(), host: "", query, fragment };
  if (!rest.startsWith("/") && scheme) return parts;
  if (!rest.startsWith("/") && rest.split("/")[0]!.includes(":")) return undefined;
  if (!rest.startsWith("//") || (!scheme && rest.startsWith("///")))
    return halfEscape.test(rest) ? undefined : parts;
  const [, authority = "", path = ""] = /^\/\/([^/]*)([^]*)$/.exec(rest)!;
  const at = authority.lastIndexOf("@");
  const host = authority.slice(at + 1);
  const unclosed = host.startsWith("[") && !/\](?::\d*)?$/.test(host);
  if (halfEscape.test(path) || badHost.test(host) || badPort.test(host) || unclosed) return undefined;
  if (at < 0) return { ...parts, host };
  const user = authority.slice(0, at);
  return badUser.test(user) || halfEscape.test(user) ? undefined : { ...parts, host, user };
}
