// Rewrites declarations: renames, changes or removes fields.
//
// A declaration without changes at any level is returned itself, so that artifacts derived from it are
// reused.
// Declarations may contain themselves.
import type { Field, Fields, Message, Shape } from "#schema";

export interface Rewrite {
  /** Returns the new name of a field; undefined removes it. */
  key(key: string, field: Field): string | undefined;
  /** Returns the field with changed extras; unchanged by default. */
  field?(field: Field): Field;
  /** Returns the new name of a package; unchanged by default. */
  home?(name: string): string;
}

export function rewriter({
  key,
  field: changed = (field) => field,
  home = (name) => name,
}: Rewrite): <M extends Message>(message: M) => M {
  const made = new WeakMap<Message, Message>();
  /** For each visited declaration, whether it or any declaration below it changes. */
  const affected = new WeakMap<Message, boolean>();

  function rewritten(message: Message): Message {
    let found = made.get(message);
    if (!found) {
      found = isAffected(message) ? rebuilt(message) : message;
      made.set(message, found).set(found, found);
      affected.set(found, false);
    }
    return found;
  }

  function isAffected(message: Message): boolean {
    if (!affected.has(message)) visitBelow(message);
    return affected.get(message)!;
  }

  /**
   * Visits each declaration below once, then propagates changes to all declarations that contain changed
   * ones.
   */
  function visitBelow(start: Message): void {
    const containers = new Map<Message, Message[]>([[start, []]]);
    const direct: Message[] = [];
    // Declarations found on the way are visited later in the same iteration.
    for (const message of containers.keys()) {
      let changes = home(message.package) !== message.package;
      for (const [name, field] of Object.entries(message.fields)) {
        if (key(name, field) !== name || changed(field) !== field) changes = true;
        const inner = messageIn(field.shape);
        if (inner === undefined) continue;
        if (affected.get(inner)) changes = true;
        else if (!affected.has(inner)) containers.getOrInsertComputed(inner, () => []).push(message);
      }
      if (changes) direct.push(message);
    }
    for (const message of containers.keys()) affected.set(message, false);
    for (const message of direct) {
      affected.set(message, true);
      for (const container of containers.get(message)!) if (!affected.get(container)) direct.push(container);
    }
  }

  function rebuilt(message: Message): Message {
    const fields: Record<string, Fields[string]> = {};
    for (const [name, field] of Object.entries(message.fields)) {
      const called = key(name, field);
      if (called === undefined) continue;
      const shape = reshaped(field.shape);
      const next = changed(field);
      fields[called] = shape === field.shape ? next : { ...next, shape };
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
