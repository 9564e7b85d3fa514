// What is asked of a server for the path in the definition of a probe or a hook. The definition may hold what
// no URL does; Go's URLs, by which such definitions were written, say what becomes of it.
import { urlParts } from "#base";

export interface RequestTarget {
  /** Of the request line: the path and the query. */
  readonly sent: string;
  /** As messages name it: with the fragment. */
  readonly shown: string;
}

export function requestTarget(text: string): RequestTarget {
  const parts = urlParts(text);
  // What is no URL is a path, all of it. Whatever host it names, another one is asked.
  const url =
    typeof parts === "string"
      ? { path: escaped(text), query: "", fragment: "" }
      : { ...parts, path: isEncoded(parts.path) ? parts.path : escaped(unescaped(parts.path)) };
  const path = url.path.startsWith("/") ? url.path : `/${url.path}`;
  // Bytes of UTF-8, each as the character with its number: so they leave as they are. A blank, which would
  // break the request line, cannot.
  const query = Buffer.from(url.query, "utf8").toString("latin1").replaceAll(" ", "%20");
  const shown = url.path === "" ? "" : path;
  return { sent: `${path}${query}`, shown: `${shown}${url.query}${url.fragment}` };
}

/** What a path says, as bytes: a percent sign and two digits are one. */
function unescaped(text: string): Buffer {
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
