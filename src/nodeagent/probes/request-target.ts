// Computes the request target for the path of a probe or hook. The path may contain characters that are
// invalid in URLs; they are treated as by Go's URL package.
import { urlParts } from "#base";

export interface RequestTarget {
  /** Path and query of the request line. */
  readonly sent: string;
  /** The form shown in messages, with the fragment. */
  readonly shown: string;
}

export function requestTarget(text: string): RequestTarget {
  const parts = urlParts(text);
  // Anything that is not a valid URL is treated as a path; a host named in it is ignored.
  const url =
    typeof parts === "string"
      ? { path: escaped(text), query: "", fragment: "" }
      : { ...parts, path: isEncoded(parts.path) ? parts.path : escaped(unescaped(parts.path)) };
  const path = url.path.startsWith("/") ? url.path : `/${url.path}`;
  // UTF-8 bytes are mapped to characters of the same number, so they are sent unchanged. Blanks would break
  // the request line and are escaped.
  const query = Buffer.from(url.query, "utf8").toString("latin1").replaceAll(" ", "%20");
  const shown = url.path === "" ? "" : path;
  return { sent: `${path}${query}`, shown: `${shown}${url.query}${url.fragment}` };
}

/** Decodes percent escapes to bytes. */
function unescaped(text: string): Buffer {
  const bytes = Buffer.from(text, "utf8").toString("latin1");
  const plain = bytes.replaceAll(/%(..)/g, (_, digits: string) =>
    String.fromCodePoint(Number.parseInt(digits, 16)),
  );
  return Buffer.from(plain, "latin1");
}

/** Reports whether a path needs no escaping. */
const isEncoded = (path: string): boolean => /^[\w.~!$&'()*+,;=:@%[\]/-]*$/.test(path);

const escaped = (path: string | Buffer): string =>
  Buffer.from(path as string)
    .toString("latin1")
    .replaceAll(
      /[^A-Za-z0-9_.~$&+,/:;=@-]/g,
      (char) => `%${char.codePointAt(0)!.toString(16).toUpperCase().padStart(2, "0")}`,
    );
