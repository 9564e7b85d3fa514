// Assignability and substitution of type parameters, by unification with an occurs check.

import { type CelType, isDyn, isDynOrError, listOf, mapOf, sameType, typeOf, types } from "./types.ts";

/** Bindings of type parameters by name. Failed attempts are undone, so nothing is copied. */
export class Substitutions {
  readonly #known = new Map<string, CelType>();
  readonly #undo: [name: string, before: CelType | undefined][] = [];

  get(name: string): CelType | undefined {
    return this.#known.get(name);
  }

  set(name: string, type: CelType): void {
    this.#undo.push([name, this.#known.get(name)]);
    this.#known.set(name, type);
  }

  /** Runs an attempt and undoes its bindings if it fails. */
  attempt(run: () => boolean): boolean {
    const mark = this.#undo.length;
    if (run()) return true;
    while (this.#undo.length > mark) {
      const [name, before] = this.#undo.pop()!;
      if (before) this.#known.set(name, before);
      else this.#known.delete(name);
    }
    return false;
  }
}

/**
 * Reports whether each left type is assignable to the corresponding right type; if so, binds type parameters.
 */
export function assignable(
  known: Substitutions,
  left: readonly CelType[],
  right: readonly CelType[],
): boolean {
  if (left.length !== right.length) return false;
  return known.attempt(() => left.every((type, index) => unify(known, type, right[index]!)));
}

function unify(known: Substitutions, left: CelType, right: CelType): boolean {
  if (right.kind === "param") {
    const { valid, bound } = bind(known, left, right);
    if (valid) return true;
    if (bound) return false;
  }
  if (left.kind === "param") return bind(known, right, left).valid;
  if (isDynOrError(left) || isDynOrError(right)) return true;
  if (left.kind === "null") return isNullable(right);
  switch (left.kind) {
    case "list":
      return right.kind === "list" && unify(known, left.elem, right.elem);
    case "map":
      return (
        right.kind === "map" && unify(known, left.key, right.key) && unify(known, left.value, right.value)
      );
    case "object":
      return right.kind === "object" && left.name === right.name;
    case "type":
      return right.kind === "type";
    case "abstract":
      return (
        right.kind === "abstract" &&
        left.name === right.name &&
        left.params.length === right.params.length &&
        left.params.every((param, index) => unify(known, param, right.params[index]!))
      );
    default:
      return left.kind === right.kind;
  }
}

const isNullable = (type: CelType): boolean =>
  type.kind === "abstract" ||
  type.kind === "object" ||
  type.kind === "null" ||
  type.kind === "timestamp" ||
  type.kind === "duration";

/** Reports whether the parameter can stand for the type, and whether it was already bound. */
function bind(
  known: Substitutions,
  type: CelType,
  param: CelType & { readonly kind: "param" },
): { readonly valid: boolean; readonly bound: boolean } {
  if (sameType(type, param)) return { valid: true, bound: true };
  const current = known.get(param.name);
  if (current) {
    if (sameType(type, current)) return { valid: true, bound: true };
    if (!unify(known, type, current)) return { valid: false, bound: true };
    const general = mostGeneral(type, current);
    if (!occurs(known, param.name, general)) known.set(param.name, general);
    return { valid: true, bound: true };
  }
  if (occurs(known, param.name, type)) return { valid: false, bound: false };
  known.set(param.name, type);
  return { valid: true, bound: false };
}

function occurs(known: Pick<Substitutions, "get">, name: string, within: CelType): boolean {
  switch (within.kind) {
    case "param": {
      if (within.name === name) return true;
      const current = known.get(within.name);
      return current !== undefined && occurs(known, name, current);
    }
    case "list":
      return occurs(known, name, within.elem);
    case "map":
      return occurs(known, name, within.key) || occurs(known, name, within.value);
    case "abstract":
      return within.params.some((param) => occurs(known, name, param));
    default:
      return false;
  }
}

export const mostGeneral = (left: CelType, right: CelType): CelType =>
  equalOrLessSpecific(left, right) ? left : right;

function equalOrLessSpecific(left: CelType, right: CelType): boolean {
  if (isDyn(left) || left.kind === "param") return true;
  if (isDyn(right) || right.kind === "param" || left.kind !== right.kind) return false;
  if (left.kind === "list" && right.kind === "list") return equalOrLessSpecific(left.elem, right.elem);
  if (left.kind === "map" && right.kind === "map")
    return equalOrLessSpecific(left.key, right.key) && equalOrLessSpecific(left.value, right.value);
  if (left.kind === "type") return true;
  if (left.kind === "abstract" && right.kind === "abstract")
    return (
      left.name === right.name &&
      left.params.length === right.params.length &&
      left.params.every((param, index) => equalOrLessSpecific(param, right.params[index]!))
    );
  return sameType(left, right);
}

/** Replaces bound parameters in a type; unbound ones are kept or become dyn. */
export function substitute(known: Pick<Substitutions, "get">, type: CelType, unknownIsDyn: boolean): CelType {
  switch (type.kind) {
    case "param": {
      const current = known.get(type.name);
      if (current) return substitute(known, current, unknownIsDyn);
      return unknownIsDyn ? types.dyn : type;
    }
    case "list": {
      const elem = substitute(known, type.elem, unknownIsDyn);
      return elem === type.elem ? type : listOf(elem);
    }
    case "map": {
      const key = substitute(known, type.key, unknownIsDyn);
      const value = substitute(known, type.value, unknownIsDyn);
      return key === type.key && value === type.value ? type : mapOf(key, value);
    }
    case "type":
      return type.of ? typeOf(substitute(known, type.of, unknownIsDyn)) : type;
    case "abstract":
      return { ...type, params: type.params.map((param) => substitute(known, param, unknownIsDyn)) };
    default:
      return type;
  }
}
