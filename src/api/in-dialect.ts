// A few fields and one package carry a product's name. They are declared in our own spelling; this puts a
// dialect's in.
//
//   declared                           spoken, for example
//   nodeInfo.nodeagentVersion          what the dialect calls its agent, then Version
//   x-orch-list-type                   what the dialect's schema extensions begin with, then list-type
//
// A declaration that has no such name, all the way down, comes back as it is.
import type { Dialect } from "#dialect";
import type { Message } from "#schema";
import { rewriter } from "./rewrite.ts";

const speakers = new WeakMap<Dialect, ReturnType<typeof rewriter>>();

/** The declaration as the dialect writes it. Codecs and published schemas are derived from this one. */
export function inDialect<M extends Message>(dialect: Dialect, message: M): M {
  let spoken = speakers.get(dialect);
  if (!spoken) {
    const home = (name: string): string => dialect.spelling.field(name);
    speakers.set(dialect, (spoken = rewriter({ key: (key) => keyIn(dialect, key), home })));
  }
  return spoken(message);
}

const extension = "x-orch-";

/** The key of a field as the dialect writes it. */
export const keyIn = (dialect: Dialect, key: string): string =>
  key.startsWith(extension)
    ? dialect.wire.extensionPrefix + key.slice(extension.length)
    : dialect.spelling.field(key);
