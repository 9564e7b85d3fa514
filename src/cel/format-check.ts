// Checks literal format strings against their arguments at compile time.

import { type Call, type Expression, someNode } from "./ast.ts";
import type { Checked } from "./checker.ts";
import { clauseRules, replaceClauses } from "./library/text-format.ts";
import type { SourceError } from "./source.ts";
import { type CelType, formatType, types } from "./types.ts";
import { EvaluationError } from "./values.ts";

/** Returns the errors of format calls in an expression, as far as types determine them. */
export function formatProblems(expression: Expression, checked: Checked): SourceError[] {
  const problems: SourceError[] = [];
  someNode(expression, (node) => {
    const { text, items } = writtenOut(node, checked) ?? {};
    if (text !== undefined && items) problems.push(...problemsOf(node, text, items, checked));
    return false;
  });
  return problems;
}

function writtenOut(
  node: Expression,
  checked: Checked,
): { readonly text: string; readonly items: readonly Expression[] } | undefined {
  if (node.kind !== "call" || !isFormat(node, checked)) return undefined;
  const { target, args } = node;
  const [list] = args;
  const text = target?.kind === "literal" ? target.value : undefined;
  return typeof text === "string" && list?.kind === "list" ? { text, items: list.elements } : undefined;
}

function isFormat({ id }: Call, { references }: Checked): boolean {
  const reference = references[id];
  return reference?.kind === "function" && reference.overloads.some((each) => each.id === "string_format");
}

function problemsOf(
  call: Expression,
  text: string,
  items: readonly Expression[],
  checked: Checked,
): SourceError[] {
  const problems: SourceError[] = [];
  try {
    const { clauses } = replaceClauses(text, items.length, (at, letter) => {
      const { kinds, rule } = clauseRules[letter.toLowerCase()]!;
      const unfitPart = unfit(items[at]!, kinds.split(" "), letter === "s", checked);
      if (!unfitPart) return "";
      const given = typeName(checked.types[unfitPart.id] ?? types.dyn);
      problems.push({
        offset: unfitPart.offset,
        message: `error during formatting: ${rule}, was given ${given}`,
      });
      throw new EvaluationError();
    });
    const detail = `(expected ${clauses}, got ${items.length})`;
    if (items.length > clauses)
      problems.push({
        offset: call.offset,
        message: `too many arguments supplied to string.format ${detail}`,
      });
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
    // Checking a format string ends at its first error; type errors have already been reported.
    if (error.message !== "") problems.push({ offset: call.offset, message: error.message });
  }
  return problems;
}

/** Returns the part of a value that the clause does not accept; list and map literals are searched. */
function unfit(
  node: Expression,
  kinds: readonly string[],
  within: boolean,
  checked: Checked,
): Expression | undefined {
  const { kind } = checked.types[node.id] ?? types.dyn;
  if (kind !== "dyn" && !kinds.includes(kind)) return node;
  if (!within) return undefined;
  const parts =
    node.kind === "list"
      ? node.elements
      : node.kind === "map"
        ? node.entries.flatMap(({ key, value }) => [key, value])
        : [];
  for (const part of parts) {
    const unfitPart = unfit(part, kinds, true, checked);
    if (unfitPart) return unfitPart;
  }
  return undefined;
}

/** Returns the name of a type without its parameters. */
function typeName(type: CelType): string {
  if (type.kind === "list" || type.kind === "map" || type.kind === "type") return type.kind;
  return type.kind === "abstract" ? type.name : formatType(type);
}
