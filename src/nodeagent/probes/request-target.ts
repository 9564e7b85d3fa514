// What is asked of a server for the path in the definition of a probe or a hook. The definition may hold what
// no URL does; Go's URLs, by which such definitions were written, say what becomes of it.

export interface RequestTarget {
  /** Of the request line: the path and the query. */
  readonly sent: string;
  /** As messages name it: with the fragment. */
  readonly shown: string;
}

export function requestTarget(text: string): RequestTarget {
  const url = parsed(text) ?? { path: escaped(text), query: "", fragment: "" };
  const path = url.path.startsWith("/") ? url.path : `/${url.path}`;
  // Bytes of UTF-8, each as the character with its number: so they leave as they are. A blank, which would
  // break the request line, cannot.
  const query = Buffer.from(url.query, "utf8").toString("latin1").replaceAll(" ", "%20");
  const shown = url.path === "" ? "" : path;
  return { sent: `${path}${query}`, shown: `${shown}${url.query}${url.fragment}` };
}

interface Parts {
  readonly path: string;
  /** With its question mark, or empty. */
  readonly query: string;
  /** With its hash, or empty. */
  readonly fragment: string;
}

/** Undefined where it is no URL: then all of it is a path. */
function parsed(text: string): Parts | undefined {
  if (/[^ -~\u0080-\u{10FFFF}]/u.test(text)) return undefined;
  const [, url = "", fragment = ""] = /^([^#]*)(#.*)?$/.exec(text) ?? [];
  if (url.startsWith(":") || unescaped(fragment) === undefined) return undefined;
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0] ?? "";
  const rest = url.slice(scheme.length);
  const [, before = "", query = ""] = /^([^?]*)(\?.*)?$/.exec(rest) ?? [];
  // The first part of a path without a scheme has no colon.
  if (scheme === "" && before.split("/", 1)[0]!.includes(":")) return undefined;
  // Whatever host it names, another one is asked.
  const hasHost = before.startsWith("//") && (scheme !== "" || !before.startsWith("///"));
  const host = hasHost ? before.slice(2).split("/", 1)[0]! : "";
  if (!/^[\w.~!$&'()*+,;=:@%[\]<>"-]*$/.test(host)) return undefined;
  const path = hasHost ? before.slice(2 + host.length) : before;
  const plain = unescaped(path);
  if (plain === undefined) return undefined;
  return { path: isEncoded(path) ? path : escaped(plain), query, fragment };
}

/** Undefined where a percent sign begins no byte. */
function unescaped(text: string): Buffer | undefined {
  if (/%(?![0-9a-f]{2})/i.test(text)) return undefined;
  const bytes = Buffer.from(text, "utf8").toString("latin1");
  const plain = bytes.replaceAll(/%(..)/g, (_, digits: string) =>
    String.fromCodePoint(Number.parseInt(digits, 16)),
  );
  return Buffer.from(plain, "latin1");
}

/** Whether a path can stay as it is written. */
const isEncoded = (path: string): boolean => /^[\w.~!$&'()*+,;=:@%[\]/-]*$/.test(path);

const escaped = (path: string | Buffer): string =>
  Buffer.from(path as string)
    .toString("latin1")
    .replaceAll(
      /[^A-Za-z0-9_.~$&+,/:;=@-]/g,
      (char) => `%${char.codePointAt(0)!.toString(16).toUpperCase().padStart(2, "0")}`,
    );
