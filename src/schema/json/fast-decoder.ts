// The fast decoder, from a parsed tree to canonical form. Each message is compiled to a plan; the walk
// returns the same object if nothing needs to change, and a corrected one otherwise. It does not track paths:
// at the first wrong type it throws `irregular`, and the careful decoder reports the error.

import { alwaysShown, dropsZero, flatFields, zeroOf, zeroOfField } from "../flat.ts";
import type { Field, Message, OpenFields, ScalarName, Shape } from "../shape.ts";
import { setOwn } from "#base";
import { scalarChecks } from "./scalar-checks.ts";
import { sortedMap } from "./sorted-map.ts";
import { type Check, type WalkState, irregular } from "./walk-state.ts";

type Data = Record<string, unknown>;

/** Inline fast checks by field type; `check` calls the field's check function. */
const fastCheck = {
  check: 0,
  string: 1,
  nonEmptyString: 2,
  trueValue: 3,
  positiveInt32: 4,
  message: 5,
  messageList: 6,
  stringList: 7,
  stringMap: 8,
} as const;

/** Compiled form of a message, in arrays indexed by field. */
interface Plan {
  readonly names: readonly string[];
  readonly index: ReadonlyMap<string, number>;
  readonly fastChecks: readonly number[];
  readonly checks: readonly Check[];
  readonly nested: readonly (Plan | undefined)[];
  readonly required: readonly boolean[];
  readonly zeros: readonly (() => unknown)[];
  readonly requiredCount: number;
  /** Decodes undeclared fields; undefined if the message allows none. */
  readonly open: OpenFields | undefined;
  /** Scratch space of rebuild(), all zeros between calls. */
  readonly present: Uint8Array;
}

const plans = new WeakMap<Message, Plan>();

export function planOf(message: Message): Plan {
  const known = plans.get(message);
  if (known) return known;
  const plan: { -readonly [K in keyof Plan]: Plan[K] } = {
    names: [],
    index: new Map(),
    fastChecks: [],
    checks: [],
    nested: [],
    required: [],
    zeros: [],
    requiredCount: 0,
    open: message.more.open,
    present: new Uint8Array(0),
  };
  plans.set(message, plan); // registered before its fields are compiled, as a message may contain itself
  const fields = flatFields(message);
  plan.names = fields.map(({ name }) => name);
  plan.index = new Map(plan.names.map((name, i) => [name, i]));
  plan.required = fields.map(({ field }) => alwaysShown(field));
  plan.requiredCount = plan.required.filter(Boolean).length;
  plan.present = new Uint8Array(fields.length);
  plan.zeros = fields.map(
    ({ field }) =>
      () =>
        zeroOfField(field),
  );
  plan.checks = fields.map(({ field }) => fieldCheck(field));
  plan.fastChecks = fields.map(({ field }) => fastCheckOf(field));
  plan.nested = fields.map(({ field }) => nestedPlan(field.shape));
  return plan;
}

function nestedPlan(shape: Shape): Plan | undefined {
  if (shape.shape === "message") return planOf(shape);
  return shape.shape === "list" ? nestedPlan(shape.of) : undefined;
}

function fastCheckOf({ shape, presence }: Field): number {
  if (shape.shape === "message") return fastCheck.message;
  if (shape.shape === "list" && shape.of.shape === "message") return fastCheck.messageList;
  if (shape.shape === "list" && shape.of.shape === "scalar" && shape.of.scalar === "string")
    return fastCheck.stringList;
  if (shape.shape === "map" && shape.of.shape === "scalar" && shape.of.scalar === "string")
    return fastCheck.stringMap;
  if (shape.shape === "scalar" && shape.scalar === "string")
    return presence === "optional" ? fastCheck.nonEmptyString : fastCheck.string;
  if (shape.shape === "scalar" && (shape.scalar === "int32" || shape.scalar === "int64"))
    return fastCheck.positiveInt32;
  return shape.shape === "scalar" && shape.scalar === "bool" ? fastCheck.trueValue : fastCheck.check;
}

/**
 * Converts a message to canonical form. A single function for all messages, so that it is optimized for rare
 * kinds too.
 */
export function walkMessage(plan: Plan, value: object, state: WalkState): object {
  const { names, fastChecks } = plan;
  let target = value as Data;
  let next = 0;
  let seen = 0;
  let requiredSeen = 0;
  let clean = true;
  let openBefore: string | undefined;
  for (const key in value) {
    seen++;
    let i = next;
    if (names[i] !== key && names[++i] !== key && names[++i] !== key) {
      const found = plan.index.get(key);
      if (found === undefined) {
        if (plan.open) {
          const given = (value as Data)[key];
          const kept = plan.open.read(key, given, state);
          if (kept !== given) {
            if (target === value && !state.own) target = { ...value };
            if (kept === undefined) delete target[key];
            else target[key] = kept;
          }
          if (openBefore !== undefined && key < openBefore) clean = false;
          openBefore = key;
          next = names.length;
          continue;
        }
        state.unknown = true;
        clean = false;
        continue;
      }
      i = found;
      if (i < next) clean = false;
    }
    next = i + 1;
    const given = (value as Data)[key];
    let kept: unknown;
    switch (fastChecks[i]!) {
      case fastCheck.nonEmptyString:
        if (typeof given === "string" && given !== "") continue;
        break;
      case fastCheck.string:
        if (typeof given === "string") {
          if (plan.required[i]) requiredSeen++;
          continue;
        }
        break;
      case fastCheck.trueValue:
        if (given === true) {
          if (plan.required[i]) requiredSeen++;
          continue;
        }
        break;
      case fastCheck.positiveInt32:
        if (typeof given === "number" && given > 0 && given <= 2147483647 && Number.isInteger(given)) {
          if (plan.required[i]) requiredSeen++;
          continue;
        }
        break;
      case fastCheck.message:
        if (typeof given === "object" && given !== null && !Array.isArray(given))
          kept = walkMessage(plan.nested[i]!, given, state);
        break;
      case fastCheck.messageList:
        if (Array.isArray(given) && given.length > 0) kept = walkMessages(plan.nested[i]!, given, state);
        break;
      case fastCheck.stringList:
        if (Array.isArray(given) && given.length > 0 && areStrings(given)) kept = given;
        break;
      case fastCheck.stringMap:
        if (typeof given === "object" && given !== null) {
          const count = countStrings(given);
          if (count > 0) {
            state.keys += count;
            kept = sortedMap(given);
          }
        }
        break;
    }
    if (kept === undefined) kept = plan.checks[i]!(given, state);
    if (kept !== given || kept === undefined) {
      if (target === value && !state.own) target = { ...value };
      target[key] = kept;
      if (kept === undefined) clean = false;
    }
    if (kept !== undefined && plan.required[i]) requiredSeen++;
  }
  state.keys += seen;
  return clean && requiredSeen === plan.requiredCount ? target : rebuild(plan, target);
}

function walkMessages(plan: Plan, value: readonly unknown[], state: WalkState): readonly unknown[] {
  let target = value as unknown[];
  for (let i = 0; i < value.length; i++) {
    const given = value[i];
    const kept = walkMessage(
      plan,
      typeof given === "object" && given !== null ? asObject(given) : empty(given),
      state,
    );
    if (kept !== given) {
      if (target === value && !state.own) target = value.slice();
      target[i] = kept;
    }
  }
  return target;
}

function asObject(value: object): object {
  if (Array.isArray(value)) throw irregular;
  return value;
}
/** Returns the value that replaces a null list item. */
function empty(value: unknown): object {
  if (value !== null && value !== undefined) throw irregular;
  return {};
}

function areStrings(list: readonly unknown[]): boolean {
  for (let i = 0; i < list.length; i++) if (typeof list[i] !== "string") return false;
  return true;
}
/** Returns the number of keys if all values are strings, otherwise zero. */
function countStrings(map: object): number {
  if (Array.isArray(map)) return 0;
  let count = 0;
  for (const key in map) {
    if (typeof (map as Data)[key] !== "string") return 0;
    count++;
  }
  return count;
}

/** Returns the fields in declaration order, with missing required fields added. */
function rebuild({ names, index, required, zeros, present, open }: Plan, given: Data): object {
  for (const key in given) {
    const i = index.get(key);
    if (i !== undefined && given[key] !== undefined) present[i] = 1;
  }
  const result: Data = {};
  for (let i = 0; i < names.length; i++) {
    if (present[i] === 1) {
      present[i] = 0;
      result[names[i]!] = given[names[i]!];
    } else if (required[i]) result[names[i]!] = zeros[i]!();
  }
  if (open)
    for (const key of Object.keys(given).sort())
      if (!index.has(key) && given[key] !== undefined) setOwn(result, key, given[key]);
  return result;
}

function fieldCheck(field: Field): Check {
  const check = presentCheck(field);
  const { shape } = field;
  if (shape.shape !== "scalar" || shape.scalar !== "duration") return check;
  // A duration must not be null; the careful decoder reports the error.
  return (value, state) => {
    if (value === null && state.reading) throw irregular;
    return check(value, state);
  };
}

function presentCheck(field: Field): Check {
  const check = shapeCheck(field.shape);
  if (alwaysShown(field))
    return (value, state) =>
      value === null || value === undefined ? zeroOfField(field) : check(value, state);
  const { shape } = field;
  if (field.presence === "optional" && shape.shape === "scalar" && dropsZero.has(shape.scalar)) {
    return (value, state) => {
      if (value === null || value === undefined) return undefined;
      const kept = check(value, state);
      return kept === 0 || kept === false || kept === "" ? undefined : kept;
    };
  }
  if (field.presence === "optional" && (shape.shape === "list" || shape.shape === "map")) {
    const isEmpty =
      shape.shape === "list" ? (value: unknown) => (value as unknown[]).length === 0 : hasNoKeys;
    return (value, state) => {
      if (value === null || value === undefined) return undefined;
      const kept = check(value, state);
      return isEmpty(kept) && !(field.more.keepEmpty && state.reading) ? undefined : kept;
    };
  }
  // A zero time or an empty raw object behind a pointer counts as absent.
  return (value, state) =>
    value === null || value === undefined ? undefined : (check(value, state) ?? undefined);
}

const hasNoKeys = (value: unknown): boolean => {
  for (const _ in value as object) return false;
  return true;
};

/** Returns a check for values that are neither null nor undefined. */
function shapeCheck(shape: Shape): Check {
  switch (shape.shape) {
    case "scalar":
      return scalarChecks[shape.scalar];
    case "message":
      return messageCheck(() => shape);
    case "list": {
      const check = itemCheck(shape.of);
      return shape.of.shape === "scalar" && numeric.has(shape.of.scalar)
        ? (value, state) => {
            state.numbers = true;
            return check(value, state);
          }
        : check;
    }
    case "map":
      return mapCheck(shape.of);
    case "recursive": {
      const { get, or } = shape;
      const message = messageCheck(get);
      if (or === undefined) return message;
      const items =
        or === "array" ? listOf(message) : or === "strings" ? listOf(scalarChecks.string) : undefined;
      return (value, state) => {
        if (or === "bool" && typeof value === "boolean") return value;
        if (items && Array.isArray(value)) return value.length > 0 ? items(value, state) : null;
        return message(value, state);
      };
    }
  }
}

const numeric: ReadonlySet<ScalarName> = new Set<ScalarName>([
  "int32",
  "int64",
  "uint32",
  "uint64",
  "double",
  "float",
  "intOrString",
]);

function messageCheck(get: () => Message): Check {
  let plan: Plan | undefined;
  return (value, state) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw irregular;
    // up to two lists or maps may lie in between; the careful decoder counts exactly
    if ((state.depthLeft -= 3) < 0) throw irregular;
    const kept = walkMessage((plan ??= planOf(get())), value, state);
    state.depthLeft += 3;
    return kept;
  };
}

const itemCheck = (of: Shape): Check => {
  const check = shapeCheck(of);
  return listOf((value, state) => (value === null || value === undefined ? zeroOf(of) : check(value, state)));
};

const listOf =
  (check: Check): Check =>
  (value, state) => {
    if (!Array.isArray(value)) throw irregular;
    let target: unknown[] = value;
    for (let i = 0; i < value.length; i++) {
      const given: unknown = value[i];
      const kept = check(given, state);
      if (kept !== given) {
        if (target === value && !state.own) target = value.slice();
        target[i] = kept;
      }
    }
    return target;
  };

function mapCheck(of: Shape): Check {
  const check = shapeCheck(of);
  return (value, state) => {
    if (typeof value !== "object" || Array.isArray(value)) throw irregular;
    let target = value as Data;
    for (const key in target) {
      state.keys++;
      const given = (value as Data)[key];
      const kept = given === null || given === undefined ? zeroOf(of) : check(given, state);
      if (kept !== given) {
        if (target === value && !state.own) target = { ...value };
        target[key] = kept;
      }
    }
    return sortedMap(target);
  };
}
