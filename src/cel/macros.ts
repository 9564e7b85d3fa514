// The macros has, all, exists, exists_one, map and filter, and those of optional values, expanded while parsing.

import { type Expression, type Fold, accumulator } from "./ast.ts";
import type { Value } from "./values.ts";

export interface NodeFactory {
  id(): number;
}

interface MacroCall {
  readonly name: string;
  readonly target?: Expression;
  readonly args: readonly Expression[];
}

export class MacroError extends Error {
  override readonly name = "MacroError";
  readonly offset: number | undefined;
  constructor(message: string, offset?: number) {
    super(message);
    this.offset = offset;
  }
}

/** The expansion, when the call is one of a macro. */
export function expandMacro(
  factory: NodeFactory,
  offset: number,
  call: MacroCall,
  optionals: boolean,
): Expression | undefined {
  const { name, target, args } = call;
  const make = nodesAt(factory, offset);
  if (!target) return name === "has" && args.length === 1 ? presence(make, args[0]!) : undefined;
  if (args.length === 2) {
    if (name === "all" || name === "exists" || name === "exists_one")
      return quantifier(make, name, target, args[0]!, args[1]!);
    if (name === "map") return mapping(make, target, args[0]!, args[1]!);
    if (name === "filter") return filtering(make, target, args[0]!, args[1]!);
    if (optionals && (name === "optMap" || name === "optFlatMap"))
      return optionalMapping(make, name, target, args[0]!, args[1]!);
  }
  if (args.length === 3 && name === "map") return mapping(make, target, args[0]!, args[2]!, args[1]);
  return undefined;
}

type Nodes = ReturnType<typeof nodesAt>;

function nodesAt(factory: NodeFactory, offset: number) {
  const node = () => ({ id: factory.id(), offset });
  return {
    literal: (value: Value): Expression => ({ ...node(), kind: "literal", value }),
    accumulated: (): Expression => ({ ...node(), kind: "identifier", name: accumulator }),
    list: (...elements: Expression[]): Expression => ({ ...node(), kind: "list", elements }),
    call: (name: string, ...args: Expression[]): Expression => ({ ...node(), kind: "call", name, args }),
    method: (target: Expression, name: string): Expression => ({
      ...node(),
      kind: "call",
      name,
      target,
      args: [],
    }),
    name: (name: string): Expression => ({ ...node(), kind: "identifier", name }),
    has: (operand: Expression, field: string): Expression => ({
      ...node(),
      kind: "select",
      operand,
      field,
      test: true,
    }),
    fold: (
      variable: string,
      range: Expression,
      loop: Omit<Fold, "kind" | "id" | "offset" | "variable" | "range">,
    ): Expression => ({ ...node(), kind: "fold", variable, range, ...loop }),
  };
}

function presence(make: Nodes, argument: Expression): Expression {
  if (argument.kind !== "select" || argument.test) throw new MacroError("invalid argument to has() macro");
  return make.has(argument.operand, argument.field);
}

function quantifier(
  make: Nodes,
  name: "all" | "exists" | "exists_one",
  range: Expression,
  variable: Expression,
  predicate: Expression,
): Expression {
  if (variable.kind !== "identifier") throw new MacroError("argument must be a simple name", variable.offset);
  const found = make.accumulated;
  if (name === "exists_one") {
    const one = make.literal(1);
    return make.fold(variable.name, range, {
      macro: name,
      predicate,
      initial: make.literal(0),
      condition: make.literal(true),
      step: make.call("_?_:_", predicate, make.call("_+_", found(), one), found()),
      result: make.call("_==_", found(), one),
    });
  }
  const all = name === "all";
  return make.fold(variable.name, range, {
    macro: name,
    predicate,
    initial: make.literal(all),
    condition: make.call("@not_strictly_false", all ? found() : make.call("!_", found())),
    step: make.call(all ? "_&&_" : "_||_", found(), predicate),
    result: found(),
  });
}

function mapping(
  make: Nodes,
  range: Expression,
  variable: Expression,
  transform: Expression,
  predicate?: Expression,
): Expression {
  if (variable.kind !== "identifier") throw new MacroError("argument is not an identifier");
  const found = make.accumulated();
  const append = make.call("_+_", found, make.list(transform));
  return make.fold(variable.name, range, {
    macro: "map",
    transform,
    ...(predicate && { predicate }),
    initial: make.list(),
    condition: make.literal(true),
    step: predicate ? make.call("_?_:_", predicate, append, found) : append,
    result: found,
  });
}

function filtering(make: Nodes, range: Expression, variable: Expression, predicate: Expression): Expression {
  if (variable.kind !== "identifier") throw new MacroError("argument is not an identifier");
  const found = make.accumulated();
  return make.fold(variable.name, range, {
    macro: "filter",
    transform: variable,
    predicate,
    initial: make.list(),
    condition: make.literal(true),
    step: make.call("_?_:_", predicate, make.call("_+_", found, make.list(variable)), found),
    result: found,
  });
}

/** The transformed value if there is one: an optional value again, or what the transformation gives itself. */
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
  const bound = make.fold("#unused", make.list(), {
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
