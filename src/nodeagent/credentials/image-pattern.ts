// Matches images against patterns such as `*.registry.example:5000/team`: the host label by label with globs
// that do not cross a dot, the same port, and the path as a prefix.

interface Location {
  readonly host: string;
  readonly port: string;
  readonly path: string;
}

/** Reports whether a pattern matches an image without tag and digest. Unparsable texts match nothing. */
export function imageMatches(pattern: string, image: string): boolean {
  const wanted = parseLocation(pattern);
  const found = parseLocation(image);
  if (!wanted || !found) return false;
  if (wanted.port !== found.port || !found.path.startsWith(wanted.path)) return false;
  const [globs, parts] = [wanted.host.split("."), found.host.split(".")];
  return globs.length === parts.length && globs.every((glob, at) => globMatches(glob, parts[at]!));
}

/** Parses a registry location without a scheme; returns undefined if it is invalid. */
export function parseLocation(text: string): Location | undefined {
  const slash = text.search(/[/?#]/);
  const authority = slash < 0 ? text : text.slice(0, slash);
  const rest = slash < 0 ? "" : text.slice(slash);
  const found = /^(\[[^\]]*\]|(?!\[)[^:]*)(?::(\d*))?$/.exec(authority);
  if (!found || /[\s<>"^`{}|\\%]/.test(authority)) return undefined;
  const host = found[1]!.replace(/^\[(.*)\]$/, "$1");
  return { host, port: found[2] ?? "", path: rest.split(/[?#]/)[0]! };
}

/**
 * Matches a glob: `*` any sequence, `?` any character, `[…]` a character set. A malformed glob matches
 * nothing.
 */
export function globMatches(glob: string, text: string): boolean {
  const source = globSource(glob);
  return source !== undefined && new RegExp(`^${source}$`, "su").test(text);
}

function globSource(glob: string): string | undefined {
  let source = "";
  for (let at = 0; at < glob.length; at++) {
    const letter = glob[at]!;
    if (letter === "*") source += source.endsWith("[^/]*") ? "" : "[^/]*";
    else if (letter === "?") source += "[^/]";
    else if (letter === "[") {
      const end = glob.indexOf("]", at + 2);
      if (end < 0) return undefined;
      source += `[${glob.slice(at + 1, end).replace(/[\\[\]&~|]/g, "\\$&")}]`;
      at = end;
    } else source += letter.replace(/[\\^$.+(){}|\]/]/, "\\$&");
  }
  return source;
}
