// The type checker: resolves names, selects overloads and assigns a type to every node.

import type { Steps } from "#base";
import {
  type Call,
  type Expression,
  type Fold,
  type ListLiteral,
  type Literal,
  type MapEntry,
  type ObjectLiteral,
  type Select,
  accumulator,
  qualifiedName,
} from "./ast.ts";
import { type FunctionDeclaration, type Overload, overload } from "./declarations.ts";
import { optionalMember } from "./operations.ts";
import { maxPerStep, resumed, stepEnds } from "./resumed.ts";
import { type SourceError, distinctErrors } from "./source.ts";
import {
  type CelType,
  type ObjectType,
  formatType,
  insideOptional,
  isDyn,
  isDynOrError,
  listOf,
  mapOf,
  optionalType,
  protoText,
  sameType,
  typeParam,
  types,
} from "./types.ts";
import { Substitutions, assignable, mostGeneral, substitute } from "./unify.ts";
import { Double, Uint, type Value, isInt } from "./values.ts";

export interface Scope {
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly variables: ReadonlyMap<string, CelType>;
  /** Names that denote types, such as `int`. */
  readonly typeNames: ReadonlyMap<string, CelType>;
}

export type Reference =
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "type"; readonly name: string }
  | {
      readonly kind: "function";
      readonly name: string;
      readonly overloads: readonly Overload[];
      readonly global: boolean;
    };

export interface Checked {
  /** Indexed by node id. */
  readonly types: readonly (CelType | undefined)[];
  readonly references: readonly (Reference | undefined)[];
  readonly errors: readonly SourceError[];
}

export function* check(expression: Expression, scope: Scope): Steps<Checked> {
  const checker = new Checker(scope);
  yield* resumed(
    () => checker.check(expression),
    () => checker.resume(),
  );
  const { types: found, known, references, errors, isResumed } = checker;
  for (let id = 0; id < found.length; id += 1) {
    const type = found[id];
    if (type) found[id] = substitute(known, type, true);
    if (id % maxPerStep === maxPerStep - 1) yield;
  }
  yield;
  // A node that was checked again after the end of a step reported its errors again.
  return { types: found, references, errors: isResumed ? distinctErrors(errors) : errors };
}

class Checker {
  readonly types: (CelType | undefined)[] = [];
  readonly references: (Reference | undefined)[] = [];
  readonly errors: SourceError[] = [];
  readonly known = new Substitutions();
  readonly #scope: Scope;
  /** Variables of the enclosing comprehensions, innermost last. */
  readonly #locals: { readonly name: string; readonly type: CelType }[] = [];
  #params = 0;
  /** Whether literals may contain elements of different types. */
  #mixed = false;
  /** Number of nodes since the start of the step. */
  #nodes = 0;
  isResumed = false;

  constructor(scope: Scope) {
    this.#scope = scope;
  }

  check(node: Expression): CelType {
    const known = this.isResumed ? this.types[node.id] : undefined;
    if (known) return known;
    const type = this.#infer(node);
    this.types[node.id] = type;
    this.#nodes += 1;
    if (this.#nodes === maxPerStep) throw stepEnds;
    return type;
  }

  resume(): void {
    this.isResumed = true;
    this.#nodes = 0;
    this.#locals.length = 0;
    this.#mixed = false;
  }

  #report(offset: number, message: string): CelType {
    this.errors.push({ offset, message });
    return types.error;
  }

  #undeclared(offset: number, name: string): CelType {
    return this.#report(offset, `undeclared reference to '${name}' (in container '')`);
  }

  #infer(node: Expression): CelType {
    switch (node.kind) {
      case "literal":
        return literalType(node.value);
      case "identifier":
        return this.#resolve(node.id, node.name) ?? this.#undeclared(node.offset, node.name);
      case "select":
        return this.#select(node);
      case "call":
        return this.#call(node);
      case "list":
        return listOf(this.#join(node) ?? this.#freshParam());
      case "map":
        return this.#map(node.entries);
      case "object":
        return this.#message(node);
      case "fold":
        return this.#fold(node);
    }
  }

  /** Returns the type of a name if it is declared. */
  #resolve(id: number, spelled: string): CelType | undefined {
    const name = spelled.startsWith(".") ? spelled.slice(1) : spelled;
    const local = this.#locals.findLast((entry) => entry.name === name);
    const variable = local?.type ?? this.#scope.variables.get(name);
    if (variable) {
      this.references[id] = { kind: "variable", name };
      return variable;
    }
    const type = this.#scope.typeNames.get(name);
    if (type) this.references[id] = { kind: "type", name };
    return type;
  }

  /**
   * Message types are not supported. Reports the first error of a message literal, and the errors of its
   * values.
   */
  #message({ id, name, offset, entries }: ObjectLiteral): CelType {
    const named = this.#resolve(id, name);
    if (!named || (named.kind === "type" && named.of?.kind === "object")) {
      this.#undeclared(offset, name);
      return types.absent;
    }
    if (named.kind === "type")
      this.#report(offset, `'${formatType(named.of ?? named)}' is not a message type`);
    else if (named.kind !== "error")
      this.#report(offset, `'${formatType(named)}(${protoText(named)})' is not a type`);
    for (const entry of entries) {
      this.check(entry.value);
      this.#report(entry.offset, "[internal] unexpected failed resolution of ''");
    }
    return types.error;
  }

  #select(node: Select): CelType {
    const name = qualifiedName(node);
    const named = name === undefined ? undefined : this.#resolve(node.id, name);
    if (named) return named;
    const operand = substitute(this.known, this.check(node.operand), false);
    const field = this.#member(node.offset, node.field, operand);
    return node.test ? types.bool : substitute(this.known, field, false);
  }

  /** Returns the type of a member; that of an optional value is optional. */
  #member(offset: number, field: string, operand: CelType): CelType {
    const inside = insideOptional(operand);
    if (!inside) return this.#field(offset, field, operand);
    return optionalType(this.#field(offset, field, substitute(this.known, inside, false)));
  }

  /** `operand.?field`. */
  #optionalSelect(node: Call): CelType {
    const [target, name] = node.args;
    const operand = substitute(this.known, this.check(target!), false);
    const { value } = name as Literal;
    this.check(name!);
    this.references[node.id] = {
      kind: "function",
      name: node.name,
      overloads: [selectOptionalField],
      global: true,
    };
    const type = this.#member(node.offset, value as string, operand);
    return insideOptional(type) ? type : optionalType(substitute(this.known, type, false));
  }

  #field(offset: number, field: string, operand: CelType): CelType {
    switch (operand.kind) {
      case "map":
        return operand.value;
      case "object":
        return operand.fields.get(field) ?? this.#report(offset, noField(operand, field));
      case "param":
        this.#assign(types.dyn, operand);
        return types.dyn;
      default:
        if (isDynOrError(operand)) return types.dyn;
        return this.#report(offset, `type '${protoText(operand)}' does not support field selection`);
    }
  }

  #call(node: Call): CelType {
    if (node.name === "_?._") return this.#optionalSelect(node);
    const args = this.#arguments(node);
    if (node.target) {
      const prefix = qualifiedName(node.target);
      const namespaced = prefix === undefined ? undefined : this.#function(`${prefix}.${node.name}`);
      if (namespaced) return this.#overloads(node, namespaced, args, false);
      args.unshift(this.check(node.target));
    }
    const found = this.#function(node.name);
    if (!found) {
      const unknown = this.#undeclared(node.offset, node.name);
      return node.target ? types.absent : unknown;
    }
    return this.#overloads(node, found, args, node.target !== undefined);
  }

  /** Arguments of format may have any type. */
  #arguments({ name, args }: Call): CelType[] {
    const mixed = this.#mixed;
    this.#mixed ||= name === "format" && this.#function(name) !== undefined;
    const found = args.map((arg) => this.check(arg));
    this.#mixed = mixed;
    return found;
  }

  #function(spelled: string): FunctionDeclaration | undefined {
    return this.#scope.functions.get(spelled.startsWith(".") ? spelled.slice(1) : spelled);
  }

  #overloads(
    node: Call,
    declaration: FunctionDeclaration,
    args: readonly CelType[],
    member: boolean,
  ): CelType {
    const matching: Overload[] = [];
    let result: CelType | undefined;
    for (const candidate of declaration.overloads) {
      if (candidate.member !== member) continue;
      if (candidate.params.length !== args.length) {
        this.#params += paramNames(candidate).length;
        continue;
      }
      const fresh = this.#instantiate(candidate);
      if (!assignable(this.known, args, fresh.params)) continue;
      matching.push(candidate);
      const type = substitute(this.known, fresh.result, false);
      if (!result || result.kind === "absent") result = type;
      else if (!isDyn(result) && !sameType(type, result)) result = types.dyn;
    }
    if (!result || result.kind === "absent") {
      const signature = formatSignature(args, member);
      const message = `found no matching overload for '${declaration.name}' applied to '${signature}'`;
      return this.#report(node.offset, message);
    }
    const reference = { name: declaration.name, overloads: matching, global: !member };
    this.references[node.id] = { kind: "function", ...reference };
    return result;
  }

  #freshParam(): CelType {
    const name = `_var${this.#params}`;
    this.#params += 1;
    return typeParam(name);
  }

  #instantiate(overload: Overload): Pick<Overload, "params" | "result"> {
    const names = paramNames(overload);
    if (names.length === 0) return overload;
    const fresh = new Map(names.map((name) => [name, this.#freshParam()]));
    return {
      params: overload.params.map((param) => substitute(fresh, param, false)),
      result: substitute(fresh, overload.result, false),
    };
  }

  /** Returns the common type of all elements; a literal's elements must have the same type. */
  #join({ elements, optional }: ListLiteral): CelType | undefined {
    let joined: CelType | undefined;
    for (const [at, node] of elements.entries()) {
      const type = optional?.has(at) ? this.#inside(node) : this.check(node);
      joined = this.#joinPair(node.offset, joined, type);
    }
    return joined?.kind === "absent" ? undefined : joined;
  }

  /** Returns the type inside an optional value. */
  #inside(node: Expression): CelType {
    const type = substitute(this.known, this.check(node), false);
    const inside = insideOptional(type);
    if (!inside && !isDyn(type)) return this.#mismatch(node.offset, optionalType(type), type);
    return inside ?? type;
  }

  #joinPair(offset: number, previous: CelType | undefined, current: CelType): CelType {
    if (!previous || previous.kind === "absent") return current;
    if (this.#assign(previous, current)) return mostGeneral(previous, current);
    if (this.#mixed) return types.dyn;
    return this.#mismatch(offset, previous, current);
  }

  #map(entries: readonly MapEntry[]): CelType {
    let key: CelType | undefined;
    let value: CelType | undefined;
    for (const entry of entries) {
      const keyType = this.check(entry.key);
      key = this.#joinPair(entry.key.offset, key, keyType);
      const valueType = entry.optional ? this.#inside(entry.value) : this.check(entry.value);
      value = this.#joinPair(entry.value.offset, value, valueType);
    }
    if (key && key.kind !== "absent") return mapOf(key, value!);
    return mapOf(this.#freshParam(), this.#freshParam());
  }

  #assign(left: CelType, right: CelType): boolean {
    return assignable(this.known, [left], [right]);
  }

  #mismatch(offset: number, expected: CelType, found: CelType): CelType {
    return this.#report(offset, `expected type '${formatType(expected)}' but found '${formatType(found)}'`);
  }

  #fold(node: Fold): CelType {
    const range = substitute(this.known, this.check(node.range), false);
    const accumulated = this.check(node.initial);
    this.#locals.push({ name: node.accumulator ?? accumulator, type: accumulated });
    const before = this.#locals.length;
    const { element, place } = this.#variablesOf(node, range);
    this.#locals.push({
      name: node.variable,
      type: node.second === undefined && range.kind === "list" ? element : place,
    });
    if (node.second !== undefined) this.#locals.push({ name: node.second, type: element });
    this.#assert(node.condition, types.bool);
    this.#assert(node.step, accumulated);
    this.#locals.length = before;
    const result = this.check(node.result);
    this.#locals.pop();
    return substitute(this.known, result, false);
  }

  /** Returns the types of the loop variables: the element, and its index or key. */
  #variablesOf(node: Fold, range: CelType): { readonly element: CelType; readonly place: CelType } {
    if (range.kind === "list") return { element: range.elem, place: types.int };
    if (range.kind === "map") return { element: range.value, place: range.key };
    if (isDynOrError(range) || range.kind === "param") {
      this.#assign(types.dyn, range);
      return { element: types.dyn, place: types.dyn };
    }
    const rule = "cannot be range of a comprehension (must be list, map, or dynamic)";
    const errorType = this.#report(node.range.offset, `expression of type '${formatType(range)}' ${rule}`);
    return { element: errorType, place: errorType };
  }

  #assert(node: Expression, expected: CelType): void {
    const type = this.check(node);
    if (!this.#assign(expected, type)) this.#mismatch(node.offset, expected, type);
  }
}

const noField = ({ name, opaque }: ObjectType, field: string): string =>
  opaque ? `[internal] unexpected failed resolution of '${name}'` : `undefined field '${field}'`;

const selectOptionalField = overload(
  "select_optional_field",
  [types.dyn, types.string],
  optionalType(types.dyn),
  optionalMember,
);

function literalType(value: Value): CelType {
  if (value === null) return types.null;
  if (typeof value === "boolean") return types.bool;
  if (typeof value === "string") return types.string;
  if (isInt(value)) return types.int;
  if (value instanceof Uint) return types.uint;
  return value instanceof Double ? types.double : types.bytes;
}

function formatSignature(args: readonly CelType[], member: boolean): string {
  const formatted = args.map(formatType);
  const target = member ? `${formatted.shift()}.` : "";
  return `${target}(${formatted.join(", ")})`;
}

const namesOfParams = new WeakMap<Overload, readonly string[]>();

/** Returns the type parameters of an overload. */
function paramNames(overload: Overload): readonly string[] {
  const known = namesOfParams.get(overload);
  if (known) return known;
  const names = new Set<string>();
  for (const type of [...overload.params, overload.result]) collectParams(type, names);
  namesOfParams.set(overload, [...names]);
  return [...names];
}

function collectParams(type: CelType, names: Set<string>): void {
  if (type.kind === "param") names.add(type.name);
  else if (type.kind === "list") collectParams(type.elem, names);
  else if (type.kind === "map") {
    collectParams(type.key, names);
    collectParams(type.value, names);
  } else if (type.kind === "type" && type.of) collectParams(type.of, names);
  else if (type.kind === "abstract") for (const param of type.params) collectParams(param, names);
}
