// Declarations with other fields: under other names, or without some of them.
//
// One in which nothing changes, all the way down, comes back itself, so that what was derived from it is used
// again. Declarations may contain themselves.
import type { Field, Fields, Message, Shape } from "#schema";

export interface Rewrite {
  /** What a field is called; undefined leaves it out. */
  key(key: string, field: Field): string | undefined;
  /** What a package is called; as before unless said. */
  home?(name: string): string;
}

export function rewriter({ key, home = (name) => name }: Rewrite): <M extends Message>(message: M) => M {
  const made = new WeakMap<Message, Message>();

  function rewritten(message: Message): Message {
    let found = made.get(message);
    if (!found) {
      const seen = new Set<Message>();
      found = isAffected(message, seen) ? rebuilt(message) : message;
      made.set(message, found).set(found, found);
      // All that was looked through to find nothing is not looked through again.
      if (found === message) for (const each of seen) made.set(each, each);
    }
    return found;
  }

  /** Whether anything changes in a declaration or below it. */
  function isAffected(message: Message, seen = new Set<Message>()): boolean {
    const known = made.get(message);
    if (known) return known !== message;
    if (seen.has(message)) return false;
    seen.add(message);
    return (
      home(message.package) !== message.package ||
      Object.entries(message.fields).some(([name, field]) => {
        const inner = messageIn(field.shape);
        return key(name, field) !== name || (inner !== undefined && isAffected(inner, seen));
      })
    );
  }

  function rebuilt(message: Message): Message {
    const fields: Record<string, Fields[string]> = {};
    for (const [name, field] of Object.entries(message.fields)) {
      const called = key(name, field);
      if (called === undefined) continue;
      const shape = reshaped(field.shape);
      fields[called] = shape === field.shape ? field : { ...field, shape };
    }
    return { ...message, package: home(message.package), fields };
  }

  function reshaped(shape: Shape): Shape {
    switch (shape.shape) {
      case "scalar":
        return shape;
      case "list":
      case "map": {
        const of = reshaped(shape.of);
        return of === shape.of ? shape : { ...shape, of };
      }
      case "recursive":
        return isAffected(shape.get()) ? { ...shape, get: () => rewritten(shape.get()) } : shape;
      case "message":
        return rewritten(shape);
    }
  }

  return (message) => rewritten(message) as typeof message;
}

function messageIn(shape: Shape): Message | undefined {
  switch (shape.shape) {
    case "scalar":
      return undefined;
    case "list":
    case "map":
      return messageIn(shape.of);
    case "recursive":
      return shape.get();
    case "message":
      return shape;
  }
}
