// Applies the defaults that declarations state. Defaults that depend on other fields belong to a kind's
// strategy.

import { alwaysShown, flatFields, zeroOfField } from "./flat.ts";
import type { TypeOf } from "./infer.ts";
import type { Field, Message, Shape } from "./shape.ts";

/**
 * Defaulting plan of one message: the fields to fill in and the fields to descend into. Empty for most
 * messages.
 */
interface Plan {
  readonly fill: { readonly name: string; readonly value: () => unknown; readonly zero: unknown }[];
  readonly enter: {
    readonly name: string;
    readonly depth: readonly ("list" | "map")[];
    readonly plan: Plan;
  }[];
}

const plans = new WeakMap<Message, Plan>();

/**
 * Sets every unset field that has a default, in place. For non-pointer fields the zero value counts as unset.
 */
export function applyDefaults<M extends Message>(message: M, value: TypeOf<M>): void {
  fill(planOf(message), value);
  message.more.open?.applyDefaults(value);
}

function planOf(message: Message): Plan {
  const known = plans.get(message);
  if (known) return known;
  const plan: Plan = { fill: [], enter: [] };
  plans.set(message, plan);
  for (const { name, field } of flatFields(message)) {
    if (field.more.default !== undefined)
      plan.fill.push({ name, value: copier(field.more.default), zero: zeroOf(field) });
    const inner = within(field.shape, []);
    if (inner && (inner.message === message || hasDefaults(inner.message, new Set())))
      plan.enter.push({ name, depth: inner.depth, plan: planOf(inner.message) });
  }
  return plan;
}

/** Returns the present value that counts as unset, or null if the field has no such value. */
const zeroOf = (field: Field): unknown =>
  alwaysShown(field) && field.shape.shape === "scalar" ? zeroOfField(field) : null;

function within(
  shape: Shape,
  depth: readonly ("list" | "map")[],
): { readonly message: Message; readonly depth: readonly ("list" | "map")[] } | undefined {
  switch (shape.shape) {
    case "message":
      return { message: shape, depth };
    case "list":
    case "map":
      return within(shape.of, [...depth, shape.shape]);
    default:
      return undefined; // recursive messages have no defaults
  }
}

function hasDefaults(message: Message, seen: Set<Message>): boolean {
  if (seen.has(message)) return false;
  seen.add(message);
  return flatFields(message).some(({ field }) => {
    if (field.more.default !== undefined) return true;
    const inner = within(field.shape, []);
    return inner !== undefined && hasDefaults(inner.message, seen);
  });
}

const copier = (value: unknown): (() => unknown) =>
  typeof value === "object" && value !== null ? () => structuredClone(value) : () => value;

function fill(plan: Plan, target: Record<string, unknown>): void {
  for (const { name, value, zero } of plan.fill) {
    const given = target[name];
    if (given === undefined || given === null || given === zero) target[name] = value();
  }
  for (const { name, depth, plan: inner } of plan.enter) enter(inner, target[name], depth, 0);
}

function enter(plan: Plan, value: unknown, depth: readonly ("list" | "map")[], level: number): void {
  if (typeof value !== "object" || value === null) return;
  if (level === depth.length) return fill(plan, value as Record<string, unknown>);
  for (const item of Array.isArray(value) ? value : Object.values(value)) enter(plan, item, depth, level + 1);
}
