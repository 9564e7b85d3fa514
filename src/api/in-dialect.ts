// A few fields and one package carry a product's name. They are declared in our own spelling; this puts a
// dialect's in.
//
//   declared                           spoken, for example
//   nodeInfo.nodeagentVersion          what the dialect calls its agent, then Version
//   x-orch-list-type                   what the dialect's schema extensions begin with, then list-type
//
// A declaration that has no such name, all the way down, comes back as it is.
import type { Dialect } from "#dialect";
import type { Fields, Message, Shape } from "#schema";

const spoken = new WeakMap<Dialect, WeakMap<Message, Message>>();

/** The declaration as the dialect writes it. Codecs and published schemas are derived from this one. */
export function inDialect<M extends Message>(dialect: Dialect, message: M): M {
  let known = spoken.get(dialect);
  if (known === undefined) spoken.set(dialect, (known = new WeakMap()));
  const found = known.get(message) ?? translate(dialect, message);
  known.set(message, found).set(found, found);
  return found as M;
}

const extension = "x-orch-";

/** The key of a field as the dialect writes it. */
export const keyIn = (dialect: Dialect, key: string): string =>
  key.startsWith(extension)
    ? dialect.wire.extensionPrefix + key.slice(extension.length)
    : dialect.spelling.field(key);

function translate(dialect: Dialect, message: Message): Message {
  const home = dialect.spelling.field(message.package);
  let changed = home !== message.package;
  const fields: Record<string, Fields[string]> = {};
  for (const [key, field] of Object.entries(message.fields)) {
    const name = keyIn(dialect, key);
    const shape = reshape(dialect, field.shape);
    changed ||= name !== key || shape !== field.shape;
    fields[name] = shape === field.shape ? field : { ...field, shape };
  }
  return changed ? { ...message, package: home, fields } : message;
}

function reshape(dialect: Dialect, shape: Shape): Shape {
  switch (shape.shape) {
    case "scalar":
      return shape;
    case "list":
    case "map": {
      const of = reshape(dialect, shape.of);
      return of === shape.of ? shape : { ...shape, of };
    }
    case "recursive":
      return { ...shape, get: () => inDialect(dialect, shape.get()) };
    case "message":
      return inDialect(dialect, shape);
  }
}
