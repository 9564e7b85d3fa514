// HTML pages that come through the proxy contain links relative to the root of their own server. Such links
// are rewritten to go through the proxy while the page is streamed; everything else is unchanged.

/** The origin of a page, and the host and path of the request for it. */
export interface LinkBase {
  /** Host and port of the server behind the proxy. */
  readonly upstreamHost: string;
  /** Host in the client's request. */
  readonly requestHost: string;
  /** Path prefix of the proxy that maps to the root of that server. */
  readonly prefix: string;
}

const linkForm = /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)([^]*)$/i;

/** Rewrites a link to go through the proxy. Relative links and links to other servers are unchanged. */
export function throughProxy(link: string, { upstreamHost, requestHost, prefix }: LinkBase): string {
  const [, scheme, host, path = "", rest = ""] = linkForm.exec(link) ?? [];
  if (host === undefined ? scheme !== undefined : host !== upstreamHost && host !== requestHost) return link;
  if (!path.startsWith("/")) return link;
  const origin =
    host !== undefined && host === requestHost ? `${scheme === undefined ? "" : `${scheme}:`}//${host}` : "";
  return `${origin}${path.startsWith(prefix) ? "" : prefix}${path}${rest}`;
}

/** Attributes that contain links, by element. */
const linkAttributes: Readonly<Record<string, readonly string[]>> = {
  a: ["href"],
  applet: ["codebase"],
  area: ["href"],
  audio: ["src"],
  base: ["href"],
  blockquote: ["cite"],
  body: ["background"],
  button: ["formaction"],
  command: ["icon"],
  del: ["cite"],
  embed: ["src"],
  form: ["action"],
  frame: ["longdesc", "src"],
  head: ["profile"],
  html: ["manifest"],
  iframe: ["longdesc", "src"],
  img: ["longdesc", "src", "usemap"],
  input: ["src", "usemap", "formaction"],
  ins: ["cite"],
  link: ["href"],
  object: ["classid", "codebase", "data", "usemap"],
  q: ["cite"],
  script: ["src"],
  source: ["src"],
  video: ["poster", "src"],
};
/** Elements whose content contains no tags, and the pattern that ends it. */
const plainText = new Map(
  ["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "noscript"].map((name) => [
    name,
    ending(`</${name}`),
  ]),
);
const comment = ending("-->");
const tagStart = /<([a-z][^\s/>"']*)/iy;
// Also matches names without a value: a search inside them would take quadratic time.
const attribute = /([^\s"'<>/=]+)(?:(\s*=\s*)(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/g;
/** Longer tags pass unchanged. */
const maxTagLength = 16 * 1024;

interface Ending {
  readonly form: RegExp;
  readonly length: number;
}
function ending(text: string): Ending {
  return { form: new RegExp(text, "gi"), length: text.length };
}

/**
 * Returns the page with its links rewritten. Bytes are treated as Latin-1, so that all others are preserved.
 */
export async function* withLinks(
  page: AsyncIterable<Uint8Array>,
  change: (link: string) => string,
): AsyncGenerator<Buffer> {
  const scan = scanner(change);
  for await (const chunk of page) {
    const out = scan(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString("latin1"), false);
    if (out) yield Buffer.from(out, "latin1");
  }
  const out = scan("", true);
  if (out) yield Buffer.from(out, "latin1");
}

/**
 * Returns a function that takes the text in chunks and returns what is complete; a tag that may be split
 * waits for the next chunk.
 */
function scanner(change: (link: string) => string): (piece: string, last: boolean) => string {
  let pending = "";
  let inside: Ending | undefined;
  /** Progress of the search for the end of the tag at the start of `pending`, and the open quote. */
  let search: TagSearch = { at: 0, quote: "" };
  /** Chunks of that tag not yet appended to `pending`: appending each of them would take quadratic time. */
  let pieces: string[] = [];
  return (piece, last) => {
    if (search.at > 0 && !last && search.at + piece.length < maxTagLength) {
      const { at: end, quote } = findTagEnd(piece, { at: 0, quote: search.quote });
      if (end === piece.length) {
        pieces.push(piece);
        search = { at: search.at + piece.length, quote };
        return "";
      }
    }
    pending += pieces.join("") + piece;
    pieces = [];
    let out = "";
    let at = 0;
    const pass = (to: number): void => {
      out += pending.slice(at, to);
      at = to;
    };
    while (at < pending.length) {
      if (inside) {
        const end = searchFrom(inside.form, pending, at);
        pass(end >= 0 ? end : last ? pending.length : Math.max(at, pending.length - inside.length + 1));
        if (end < 0) break;
        inside = undefined;
      }
      const open = pending.indexOf("<", at);
      pass(open < 0 ? pending.length : open);
      if (!last && pending.length - at < "<!--".length) break;
      if (pending.startsWith("<!--", at)) {
        pass(at + "<!--".length);
        inside = comment;
        continue;
      }
      tagStart.lastIndex = at;
      const name = tagStart.exec(pending)?.[1];
      if (name === undefined) {
        pass(at + 1);
        continue;
      }
      search = findTagEnd(pending, { at: at + search.at, quote: search.quote });
      if (search.at < pending.length) {
        const attributes = pending.slice(at + 1 + name.length, search.at);
        out += `<${name}${changed(name.toLowerCase(), attributes, change)}>`;
        at = search.at + 1;
        inside = plainText.get(name.toLowerCase());
      } else if (!last && pending.length - at < maxTagLength) {
        search = { at: search.at - at, quote: search.quote };
        break;
      } else pass(pending.length);
      search = { at: 0, quote: "" };
    }
    pending = pending.slice(at);
    return out;
  };
}

interface TagSearch {
  readonly at: number;
  readonly quote: string;
}

/**
 * Returns the position of the `>` that ends a tag, outside of quotes; the length of the text if there is
 * none.
 */
function findTagEnd(text: string, { at, quote }: TagSearch): TagSearch {
  for (; at < text.length; at++) {
    const char = text[at]!;
    if (quote) quote = char === quote ? "" : quote;
    else if (char === '"' || char === "'") quote = char;
    else if (char === ">") break;
  }
  return { at, quote };
}

function searchFrom(form: RegExp, text: string, from: number): number {
  form.lastIndex = from;
  return form.exec(text)?.index ?? -1;
}

function changed(element: string, attributes: string, change: (link: string) => string): string {
  const links = Object.hasOwn(linkAttributes, element) ? linkAttributes[element]! : [];
  if (links.length === 0) return attributes;
  return attributes.replace(
    attribute,
    (all: string, name: string, equals?: string, double?: string, single?: string, bare?: string) => {
      if (equals === undefined || !links.includes(name.toLowerCase())) return all;
      if (double !== undefined) return `${name}${equals}"${change(double)}"`;
      if (single !== undefined) return `${name}${equals}'${change(single)}'`;
      return `${name}${equals}${change(bare!)}`;
    },
  );
}
