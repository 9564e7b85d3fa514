// The macros has, all, exists, exists_one, map and filter, and those of later releases, expanded while
// parsing.

import type { Expression } from "./ast.ts";
import {
  type LoopVariables,
  MacroError,
  type NodeFactory,
  type Nodes,
  mapping,
  nodesAt,
  quantifier,
} from "./macro-loops.ts";
import { expandTwoVariables } from "./two-variable-macros.ts";

interface MacroCall {
  readonly name: string;
  readonly target?: Expression;
  readonly args: readonly Expression[];
}

/** The macros of later releases. */
export interface MacroOptions {
  /** Whether the macros of optional values are enabled. */
  readonly optionals: boolean;
  /** Whether the macros with two variables are enabled. */
  readonly twoVariables: boolean;
}

/** Returns the expansion if the call is a macro. */
export function expandMacro(
  factory: NodeFactory,
  offset: number,
  call: MacroCall,
  { optionals, twoVariables }: MacroOptions,
): Expression | undefined {
  const { name, target, args } = call;
  const make = nodesAt(factory, offset);
  if (!target) return name === "has" && args.length === 1 ? presence(make, args[0]!) : undefined;
  if (args.length === 2) {
    if (name === "all" || name === "exists" || name === "exists_one")
      return quantifier(make, name, target, quantified(args[0]!), args[1]!);
    if (name === "map") return mapping(make, target, collected(args[0]!), args[1]!);
    if (name === "filter") return filtering(make, target, args[0]!, args[1]!);
    if (optionals && (name === "optMap" || name === "optFlatMap"))
      return optionalMapping(make, name, target, args[0]!, args[1]!);
  }
  if (args.length === 3 && name === "map")
    return mapping(make, target, collected(args[0]!), args[2]!, args[1]);
  return twoVariables ? expandTwoVariables(make, name, target, args) : undefined;
}

/** Returns the variable of a quantifier loop. */
function quantified(variable: Expression): LoopVariables {
  if (variable.kind !== "identifier") throw new MacroError("argument must be a simple name", variable.offset);
  return { variable: variable.name };
}

/** Returns the variable of a map or filter loop. */
function collected(variable: Expression): LoopVariables {
  if (variable.kind !== "identifier") throw new MacroError("argument is not an identifier");
  return { variable: variable.name };
}

function presence(make: Nodes, argument: Expression): Expression {
  if (argument.kind !== "select") throw new MacroError("invalid argument to has() macro");
  return make.has(argument.operand, argument.field);
}

function filtering(make: Nodes, range: Expression, variable: Expression, predicate: Expression): Expression {
  const variables = collected(variable);
  const found = make.accumulated();
  return make.fold(variables, range, {
    macro: "filter",
    transform: variable,
    predicate,
    initial: make.list(),
    condition: make.literal(true),
    step: make.call("_?_:_", predicate, make.call("_+_", found, make.list(variable)), found),
    result: found,
  });
}

/**
 * Expands optMap, which wraps the transformed value in an optional, or optFlatMap, whose transformation
 * returns an optional.
 */
function optionalMapping(
  make: Nodes,
  macro: "optMap" | "optFlatMap",
  target: Expression,
  variable: Expression,
  transform: Expression,
): Expression {
  if (variable.kind !== "identifier")
    throw new MacroError(`${macro}() variable name must be a simple identifier`, variable.offset);
  const { name } = variable;
  const bound = make.fold({ variable: "#unused" }, make.list(), {
    macro: "bind",
    accumulator: name,
    initial: make.method(target, "value"),
    condition: make.literal(false),
    step: make.name(name),
    result: transform,
  });
  const found = macro === "optMap" ? make.call("optional.of", bound) : bound;
  return make.call("_?_:_", make.method(target, "hasValue"), found, make.call("optional.none"));
}
