// URLs as the reference parses them: absolute URLs or absolute paths.

export interface ParsedUrl {
  readonly scheme: string;
  readonly host: string;
  readonly escapedPath: string;
  readonly query: string;
}

const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/;
const hostChars = /^[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%\u0080-\u{10ffff}]*$/u;
const badEscape = /%(?![0-9A-Fa-f]{2})/;
// oxlint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f]/;

/**
 * Parses a URL; returns undefined if it is invalid. Only for a `request` the fragment stays part of the path.
 */
export function parseUrl(text: string, request: boolean): ParsedUrl | undefined {
  const hash = request ? -1 : text.indexOf("#");
  const whole = hash < 0 ? text : text.slice(0, hash);
  if (whole === "" || control.test(whole)) return undefined;
  if (whole === "*") return { scheme: "", host: "", escapedPath: "*", query: "" };
  const found = scheme.exec(whole);
  if (!found && whole.startsWith(":")) return undefined;
  const name = found ? found[1]!.toLowerCase() : "";
  const rest = found ? whole.slice(found[0].length) : whole;
  const mark = rest.indexOf("?");
  const query = mark < 0 ? "" : rest.slice(mark + 1);
  const hierarchical = mark < 0 ? rest : rest.slice(0, mark);
  if (!hierarchical.startsWith("/"))
    return name === "" ? undefined : { scheme: name, host: "", escapedPath: "", query };
  if (!found || !hierarchical.startsWith("//"))
    return withPath({ scheme: name, host: "", query }, hierarchical);
  const slash = hierarchical.indexOf("/", 2);
  const authority = slash < 0 ? hierarchical.slice(2) : hierarchical.slice(2, slash);
  const host = hostOf(authority);
  if (host === undefined) return undefined;
  return withPath({ scheme: name, host, query }, slash < 0 ? "" : hierarchical.slice(slash));
}

function withPath(parts: Omit<ParsedUrl, "escapedPath">, path: string): ParsedUrl | undefined {
  return badEscape.test(path) ? undefined : { ...parts, escapedPath: escapePath(path) };
}

/** Returns the path unchanged if its encoding is valid, otherwise re-encoded. */
function escapePath(path: string): string {
  if (/^[A-Za-z0-9\-_.~!$&'()*+,;=:@[\]%/]*$/.test(path)) return path;
  const plain = Buffer.from(
    path.replaceAll(/%([0-9A-Fa-f]{2})/g, (_found, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    ),
    path.includes("%") ? "latin1" : "utf8",
  );
  return [...plain]
    .map((byte) => {
      const char = String.fromCharCode(byte);
      return /[A-Za-z0-9\-_.~$&+,/:;=@]/.test(char)
        ? char
        : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    })
    .join("");
}

function hostOf(authority: string): string | undefined {
  const at = authority.lastIndexOf("@");
  if (at >= 0 && !/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(authority.slice(0, at))) return undefined;
  const host = authority.slice(at + 1);
  if (!hostChars.test(host) || badEscape.test(host)) return undefined;
  if (host.startsWith("[")) {
    const close = host.lastIndexOf("]");
    return close > 0 && /^(?::[0-9]*)?$/.test(host.slice(close + 1)) ? host : undefined;
  }
  const colon = host.lastIndexOf(":");
  if (colon >= 0 && !/^:[0-9]*$/.test(host.slice(colon))) return undefined;
  return colon >= 0 && host.indexOf(":") !== colon ? undefined : host;
}

export function hostname(host: string): string {
  if (host.startsWith("[")) return host.slice(1, host.lastIndexOf("]"));
  const colon = host.lastIndexOf(":");
  return colon < 0 ? host : host.slice(0, colon);
}

export function port(host: string): string {
  const found = /:([0-9]*)$/.exec(host.startsWith("[") ? host.slice(host.lastIndexOf("]")) : host);
  return found ? found[1]! : "";
}

/** Returns the values of each key; pairs that cannot be decoded are dropped. */
export function queryValues(query: string): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const pair of query.split("&")) {
    if (pair === "" || pair.includes(";")) continue;
    const mark = pair.indexOf("=");
    const key = decode(mark < 0 ? pair : pair.slice(0, mark));
    const value = decode(mark < 0 ? "" : pair.slice(mark + 1));
    if (key === undefined || value === undefined) continue;
    values.getOrInsertComputed(key, () => []).push(value);
  }
  return values;
}

function decode(text: string): string | undefined {
  const spaced = text.replaceAll("+", " ");
  if (badEscape.test(spaced)) return undefined;
  const bytes = spaced.replaceAll(/(?:%[0-9A-Fa-f]{2})+/g, (found) =>
    Buffer.from(found.replaceAll("%", ""), "hex").toString("utf8"),
  );
  return bytes;
}
