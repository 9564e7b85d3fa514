// Member access, the most frequent step, so plain JSON objects are checked first.

import type { Expression } from "./ast.ts";
import type { Checked } from "./checker.ts";
import type { Step } from "./evaluation.ts";
import { isMapLike, lookUp, member, optionalMember, ownMember } from "./operations.ts";
import { OptionalValue, type Value, View, evaluationError, isRecord } from "./values.ts";

function read(value: Value, field: string): Value {
  const found = isRecord(value)
    ? ownMember(value, field)
    : value instanceof View
      ? value.get(field)
      : undefined;
  return found === undefined ? member(value, field) : found;
}

/** Reads a member of a computed value. */
export function memberOf(run: Step, field: string, cost: number): Step {
  return (state) => {
    const value = run(state);
    state.charge(cost);
    return read(value, field);
  };
}

/** Reads a member of a variable. */
export function variableMember(slot: number, name: string, field: string, cost: number): Step {
  return (state) => {
    const value = state.slots[slot];
    if (value === undefined) throw evaluationError(`no such attribute: ${name}`);
    state.charge(cost);
    return read(value, field);
  };
}

/** Reports whether a computed value has the member. */
export function presence(run: Step, field: string): Step {
  return (state) => {
    const value = run(state);
    if (isRecord(value)) return ownMember(value, field) !== undefined;
    if (value instanceof OptionalValue) return optionalMember(value, field).value !== undefined;
    if (!isMapLike(value)) throw evaluationError("invalid type for field selection.");
    return lookUp(value, field) !== undefined;
  };
}

/** Returns the additional cost of reading a member: 1 for its base, or 0 if the base is a ternary. */
export function ownCharge(node: Expression, { references }: Checked): number {
  let base = node;
  while (!references[base.id]?.kind.match(/variable|type/)) {
    if (base.kind === "select" && !base.test) base = base.operand;
    else if (base.kind === "call" && (base.name === "_[_]" || base.name === "_?._" || base.name === "_[?_]"))
      base = base.args[0]!;
    else break;
  }
  return base.kind === "call" && base.name === "_?_:_" ? 0 : 1;
}
