// Empty required lists are written as null, and null values in a map of bytes as empty bytes: binary storage
// cannot distinguish them, and clients expect what it returns.
import type { Field, Message, Shape } from "#schema";

type Clear = (object: Record<string, unknown>) => void;
/** Returns the object, or a copy without what is dropped, which shares the rest with it. */
type Drop = (object: Record<string, unknown>) => Record<string, unknown>;

/**
 * Memoizes the function that runs all steps of a message; null where there is nothing to do. A recursive message
 * is visited once.
 */
function memoized<F extends Clear | Drop>(
  stepsOf: (message: Message) => readonly F[],
  joined: (steps: readonly F[]) => F,
): (message: Message) => F | null {
  const known = new WeakMap<Message, F | null>();
  return (message) => {
    const found = known.get(message);
    if (found !== undefined) return found;
    known.set(message, null);
    const steps = stepsOf(message);
    const made = steps.length === 0 ? null : joined(steps);
    known.set(message, made);
    return made;
  };
}

const allOf =
  (steps: readonly Clear[]): Clear =>
  (object) => {
    for (const step of steps) step(object);
  };
const chainOf =
  (steps: readonly Drop[]): Drop =>
  (object) => {
    let left = object;
    for (const step of steps) left = step(left);
    return left;
  };

/** Sets empty required lists of the object to null, in place. */
export function clearEmptyLists(message: Message, object: object): void {
  clearerOf(message)?.(object as Record<string, unknown>);
}

/**
 * Returns the object without empty lists and maps that matter only for the kind's validation: they are never
 * written and have no field owner. The result shares with the object what has no such fields. Lists of items that
 * are owned as a whole stay as they are: their owner changes even when the change is not visible.
 */
export function withoutEmpty<T extends object>(message: Message, object: T): T {
  return (dropperOf(message)?.(object as Record<string, unknown>) ?? object) as T;
}

const dropperOf = memoized<Drop>((message) => {
  const steps: Drop[] = [];
  for (const [key, field] of Object.entries(message.fields)) {
    // Managers are tracked separately.
    if (key === "metadata") continue;
    const items = ownedItems(field);
    const drop = items ? dropperOf(items) : null;
    if (drop) steps.push((object) => replaced(object, key, droppedItems(object[key], drop)));
    const inner = field.shape.shape === "message" ? dropperOf(field.shape) : null;
    if (inner && field.presence === "inline") steps.push(inner);
    else if (inner)
      steps.push((object) => {
        const value = object[key];
        return value ? replaced(object, key, inner(value as Record<string, unknown>)) : object;
      });
    if (field.more.keepEmpty) steps.push((object) => withoutEmptyField(object, key));
  }
  return steps;
}, chainOf);

const replaced: (object: Record<string, unknown>, key: string, value: unknown) => Record<string, unknown> = (
  object,
  key,
  value,
) => (object[key] === value ? object : { ...object, [key]: value });

function droppedItems(list: unknown, drop: Drop): unknown {
  if (!Array.isArray(list)) return list;
  const items: unknown[] = list.map(drop);
  return items.some((item, at) => item !== list[at]) ? items : list;
}

function withoutEmptyField(object: Record<string, unknown>, key: string): Record<string, unknown> {
  const value = object[key];
  if (!value || Object.keys(value).length > 0) return object;
  const { [key]: _, ...rest } = object;
  return rest;
}

/** Returns the item type of a list whose items are owned individually. */
function ownedItems({ shape, more }: Field): Message | undefined {
  const keyed = more.list ? more.list.type === "map" : more.patch?.key !== undefined;
  return keyed && shape.shape === "list" && shape.of.shape === "message" ? shape.of : undefined;
}

const clearerOf = memoized<Clear>((message) => {
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
}, allOf);

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
