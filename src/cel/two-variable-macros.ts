// Macros with two variables: all, exists, existsOne, transformList, transformMap and transformMapEntry over
// the (index, element) pairs of a list or the (key, value) pairs of a map.

import { type Expression, accumulator } from "./ast.ts";
import { type LoopVariables, MacroError, type Nodes, mapping, quantifier } from "./macro-loops.ts";

/** Returns the expansion if the call is a macro with two variables. */
export function expandTwoVariables(
  make: Nodes,
  name: string,
  range: Expression,
  args: readonly Expression[],
): Expression | undefined {
  if (args.length < 3 || args.length > 4) return undefined;
  const [first, second, third, fourth] = args as [Expression, Expression, Expression, Expression?];
  const predicate = fourth && third;
  const transform = fourth ?? third;
  const variables = (): LoopVariables => variablesOf(first, second);
  switch (name) {
    case "all":
    case "exists":
      return predicate ? undefined : quantifier(make, name, range, variables(), transform);
    case "existsOne":
    case "exists_one":
      return predicate ? undefined : quantifier(make, "exists_one", range, variables(), transform);
    case "transformList":
      return mapping(make, range, variables(), transform, predicate);
    case "transformMap":
    case "transformMapEntry":
      return mapTransformation(make, name, range, variables(), { transform, predicate });
    default:
      return undefined;
  }
}

function variablesOf(first: Expression, second: Expression): LoopVariables {
  for (const each of [first, second]) {
    if (each.kind !== "identifier") throw new MacroError("argument must be a simple name", each.offset);
    if (each.name === accumulator)
      throw new MacroError("iteration variable overwrites accumulator variable", each.offset);
  }
  const [variable, other] = [(first as { name: string }).name, (second as { name: string }).name];
  if (variable === other) throw new MacroError(`duplicate variable name: ${variable}`, second.offset);
  return { variable, second: other };
}

/** Expands to a map: of values under the keys of the range, or of whole entries. */
function mapTransformation(
  make: Nodes,
  macro: "transformMap" | "transformMapEntry",
  range: Expression,
  variables: LoopVariables,
  { transform, predicate }: { readonly transform: Expression; readonly predicate: Expression | undefined },
): Expression {
  const found = make.accumulated();
  const key = macro === "transformMap" ? [make.name(variables.variable)] : [];
  const insert = make.call("cel.@mapInsert", found, ...key, transform);
  return make.fold(variables, range, {
    macro,
    transform,
    ...(predicate && { predicate }),
    initial: make.map(),
    condition: make.literal(true),
    step: predicate ? make.call("_?_:_", predicate, insert, found) : insert,
    result: found,
  });
}
