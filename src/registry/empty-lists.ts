// Empty required lists are written as null, and null values in a map of bytes as empty bytes: binary storage
// cannot distinguish them, and clients expect what it returns.
import { deepCopy } from "#base";
import type { Field, Message, Shape } from "#schema";

type Clear = (object: Record<string, unknown>) => void;

/**
 * Memoizes the steps for each message; null where there is nothing to do. A recursive message is visited
 * once.
 */
function memoized(stepsOf: (message: Message) => readonly Clear[]): (message: Message) => Clear | null {
  const known = new WeakMap<Message, Clear | null>();
  return (message) => {
    const found = known.get(message);
    if (found !== undefined) return found;
    known.set(message, null);
    const steps = stepsOf(message);
    const clear: Clear | null = steps.length === 0 ? null : (object) => steps.forEach((step) => step(object));
    known.set(message, clear);
    return clear;
  };
}

/** Sets empty required lists of the object to null, in place. */
export function clearEmptyLists(message: Message, object: object): void {
  clearerOf(message)?.(object as Record<string, unknown>);
}

/**
 * Returns the object without empty lists and maps that matter only for the kind's validation: they are never
 * written and have no field owner. Returns the object itself if it has no such fields. Lists of items that
 * are owned as a whole stay as they are: their owner changes even when the change is not visible.
 */
export function withoutEmpty<T extends object>(message: Message, object: T): T {
  const drop = dropperOf(message);
  if (!drop) return object;
  const copy = deepCopy(object);
  drop(copy as Record<string, unknown>);
  return copy;
}

const dropperOf = memoized((message) => {
  const steps: Clear[] = [];
  for (const [key, field] of Object.entries(message.fields)) {
    // Managers are tracked separately.
    if (key === "metadata") continue;
    const items = ownedItems(field);
    const drop = items ? dropperOf(items) : null;
    if (drop)
      steps.push((object) => (object[key] as Record<string, unknown>[] | null | undefined)?.forEach(drop));
    const inner = field.shape.shape === "message" ? dropperOf(field.shape) : null;
    if (inner && field.presence === "inline") steps.push(inner);
    else if (inner)
      steps.push((object) => void (object[key] && inner(object[key] as Record<string, unknown>)));
    if (field.more.keepEmpty)
      steps.push((object) => {
        if (object[key] && Object.keys(object[key]).length === 0) delete object[key];
      });
  }
  return steps;
});

/** Returns the item type of a list whose items are owned individually. */
function ownedItems({ shape, more }: Field): Message | undefined {
  const keyed = more.list ? more.list.type === "map" : more.patch?.key !== undefined;
  return keyed && shape.shape === "list" && shape.of.shape === "message" ? shape.of : undefined;
}

const clearerOf = memoized((message) => {
  const steps: Clear[] = [];
  for (const [key, field] of Object.entries(message.fields)) {
    if (field.presence === "inline") {
      const inner = clearerOf(field.shape as Message);
      if (inner) steps.push(inner);
      continue;
    }
    if (field.presence === "required" && field.shape.shape === "list") {
      steps.push((object) => {
        if ((object[key] as unknown[] | null)?.length === 0) object[key] = null;
      });
    }
    if (field.shape.shape === "map" && field.shape.of.shape === "scalar" && field.shape.of.scalar === "bytes")
      steps.push((object) => fillBytes(object[key]));
    const inside = insideOf(field.shape);
    if (inside) steps.push((object) => inside(object[key]));
  }
  return steps;
});

function fillBytes(map: unknown): void {
  const values = (map ?? {}) as Record<string, string | null>;
  for (const key in values) if (values[key] === null) values[key] = "";
}

function insideOf(shape: Shape): ((value: unknown) => void) | undefined {
  if (shape.shape === "message") {
    const clear = clearerOf(shape);
    return clear ? (value) => void (value && clear(value as Record<string, unknown>)) : undefined;
  }
  if (shape.shape !== "list" && shape.shape !== "map") return undefined;
  const item = insideOf(shape.of);
  return item ? (value) => Object.values((value as object | null) ?? {}).forEach(item) : undefined;
}
