// A few fields and one package contain a product name. They are declared in a neutral spelling; this
// substitutes
// the dialect's.
//
//   declared                           in a dialect, for example
//   nodeInfo.nodeagentVersion          what the dialect calls its agent, then Version
//   x-orch-list-type                   the dialect's prefix of schema extensions, then list-type
//
// A declaration without any such name at any level is returned unchanged.
import type { Dialect } from "#dialect";
import type { Message } from "#schema";
import { rewriter } from "./rewrite.ts";

const rewriters = new WeakMap<Dialect, ReturnType<typeof rewriter>>();

/** Returns the declaration in the dialect's spelling. Codecs and published schemas are derived from it. */
export function inDialect<M extends Message>(dialect: Dialect, message: M): M {
  let rewriteNames = rewriters.get(dialect);
  if (!rewriteNames) {
    const home = (name: string): string => dialect.spelling.field(name);
    rewriters.set(dialect, (rewriteNames = rewriter({ key: (key) => keyIn(dialect, key), home })));
  }
  return rewriteNames(message);
}

const extension = "x-orch-";

/** Returns the key of a field in the dialect's spelling. */
export const keyIn = (dialect: Dialect, key: string): string =>
  key.startsWith(extension)
    ? dialect.wire.extensionPrefix + key.slice(extension.length)
    : dialect.spelling.field(key);
