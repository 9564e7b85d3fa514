// Type checking of policies: validates their expressions against the schemas of the matched kinds. Results
// are reported in the status only.

import type { ParamKind, ValidatingAdmissionPolicy, ValidatingAdmissionPolicySpec } from "#api";
import { type CelType, types } from "#cel";
import type { KindName } from "../attributes.ts";
import type { Expressions } from "../expressions/expressions.ts";

export interface KnownKinds {
  /** Returns the kinds of a resource; an empty group matches all groups. */
  kindsOf(resource: {
    readonly group: string;
    readonly version: string;
    readonly resource: string;
  }): readonly KindName[];
  /** Returns the type of a kind's objects, named `object`; undefined if no schema is known. */
  typeOf(kind: KindName): CelType | undefined;
}

export interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

type MatchedRule = NonNullable<
  NonNullable<ValidatingAdmissionPolicy["spec"]["matchConstraints"]>["resourceRules"]
>[number];

const maxKindsPerRule = 10;

interface CheckedExpression {
  readonly fieldRef: string;
  readonly expression: string;
  /** The expression defines the variable of this name. */
  readonly variable?: string;
}

/**
 * Policies of later releases have variables, which are checked as well, and from release 1.28 on so are the
 * expressions of messages.
 */
const expressionsOf = (
  { variables, validations }: ValidatingAdmissionPolicySpec,
  release: number,
): CheckedExpression[] => [
  ...(variables ?? []).map(({ name, expression }, position) => ({
    fieldRef: `spec.variables[${position}].expression`,
    expression,
    variable: name,
  })),
  ...(validations ?? []).flatMap(({ expression, messageExpression }, position) => {
    const field = `spec.validations[${position}]`;
    return [
      { fieldRef: `${field}.expression`, expression },
      ...(release >= 28 && messageExpression
        ? [{ fieldRef: `${field}.messageExpression`, expression: messageExpression }]
        : []),
    ];
  }),
];

export function typeWarnings(
  { spec }: ValidatingAdmissionPolicy,
  known: KnownKinds,
  expressions: Expressions,
  release: number,
): readonly ExpressionWarning[] {
  const params = spec.paramKind && paramsType(spec.paramKind, known);
  const checked = expressionsOf(spec, release);
  const found = checked.map((): string[] => []);
  for (const kind of kindsToCheck(spec.matchConstraints?.resourceRules ?? [], known)) {
    const type = known.typeOf(kind);
    if (!type) continue;
    const { object, params: of } = overlaid(type, params);
    let variables = spec.variables && {};
    for (const [position, { expression, variable }] of checked.entries()) {
      const result = expressions.checkTypes(expression, {
        object,
        ...(spec.paramKind && { params: of }),
        ...(variables && { later: { variables } }),
      });
      if (result && "problem" in result)
        found[position]!.push(`${kind.group}/${kind.version}, Kind=${kind.kind}: ${result.problem}`);
      if (variable !== undefined)
        variables = { ...variables, [variable]: result && "type" in result ? result.type : types.dyn };
    }
  }
  return checked.flatMap(({ fieldRef }, position) =>
    found[position]!.length === 0 ? [] : [{ fieldRef, warning: found[position]!.join("\n") }],
  );
}

function paramsType({ apiVersion = "", kind = "" }: ParamKind, known: KnownKinds): CelType | undefined {
  const cut = apiVersion.indexOf("/");
  return known.typeOf({
    group: apiVersion.slice(0, Math.max(cut, 0)),
    version: apiVersion.slice(cut + 1),
    kind,
  });
}

/**
 * Returns the kinds named by rules, sorted by group, version and kind. Rules with wildcards and subresources
 * are skipped.
 */
function kindsToCheck(rules: readonly MatchedRule[], known: KnownKinds): readonly KindName[] {
  const found = new Map<string, KindName>();
  for (const { apiGroups = [], apiVersions = [], resources = [] } of rules) {
    if ([...apiGroups, ...apiVersions].some((name) => name.includes("*"))) continue;
    let count = 0;
    for (const group of apiGroups.toSorted())
      for (const version of apiVersions.toSorted())
        for (const resource of resources.filter((name) => !/[*/]/.test(name)).sort())
          for (const kind of known.kindsOf({ group, version, resource })) {
            found.set(`${kind.group}/${kind.version}/${kind.kind}`, kind);
            count += 1;
            // As in the reference, a rule with so many kinds ends the search.
            if (count === maxKindsPerRule) return inOrder(found.values());
          }
  }
  return inOrder(found.values());
}

const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);
const inOrder = (kinds: Iterable<KindName>): readonly KindName[] =>
  [...kinds].sort(
    (left, right) =>
      compare(left.group, right.group) ||
      compare(left.version, right.version) ||
      compare(left.kind, right.kind),
  );

/**
 * The reference looks up fields by the name of their type, and both types are named `object`: a field that
 * one of them lacks is found in the other one.
 */
function overlaid(
  object: CelType,
  params: CelType | undefined,
): { object: CelType; params: CelType | undefined } {
  if (!params) return { object, params };
  const both = withFieldsOf(object, params);
  return { object: both, params: both };
}

function withFieldsOf(first: CelType, second: CelType): CelType {
  if (first.kind === "list" && second.kind === "list")
    return { kind: "list", elem: withFieldsOf(first.elem, second.elem) };
  if (first.kind === "map" && second.kind === "map")
    return { kind: "map", key: first.key, value: withFieldsOf(first.value, second.value) };
  if (first.kind !== "object" || second.kind !== "object") return first;
  const fields = new Map(second.fields);
  for (const [name, type] of first.fields) {
    const other = second.fields.get(name);
    fields.set(name, other ? withFieldsOf(type, other) : type);
  }
  return { ...first, fields };
}
