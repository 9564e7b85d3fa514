// Validates the CEL rules in a definition: they must compile, and their individual and total estimated costs
// are limited.
import { type FieldError, LiteralValue, type Steps, forbiddenField, goSyntax, invalidValue } from "#base";
import { type SchemaType, unbounded } from "#cel";
import {
  type CompiledRule,
  type RuleLanguage,
  compileRules,
  innerType,
  ruleTypeOf,
} from "../structural/rules.ts";
import { type Structural, type ValidationRule, limit } from "../structural/structural.ts";

const expressionLimit = 10_000_000;
const definitionLimit = 100_000_000;
const maxNamed = 4;

interface Walk {
  readonly language: RuleLanguage;
  /** Reports whether the schema at the path or below has an error; its rules are then not checked. */
  readonly blocked: (path: string) => boolean;
  readonly errors: FieldError[];
  readonly costs: { readonly path: string; readonly cost: number }[];
  total: number;
}

/** Checks the rules of a schema; `schemaErrors` are the errors found in the schema itself. */
export function* expressionErrors(
  schema: Structural,
  path: string,
  language: RuleLanguage,
  schemaErrors: readonly FieldError[],
): Steps<FieldError[]> {
  if (!schema.hasRules) return [];
  const walk: Walk = {
    language,
    blocked: pathsAbove(schemaErrors),
    errors: [],
    costs: [],
    total: 0,
  };
  yield* visit(
    schema,
    yield* ruleTypeOf(schema, true),
    { path, cardinality: 1, uncorrelatable: undefined },
    walk,
  );
  if (walk.total <= definitionLimit) return walk.errors;
  const x = language.dialect.wire.extensionPrefix;
  const worst = walk.costs
    .filter(({ cost }) => cost >= definitionLimit / 100)
    .sort((a, b) => b.cost - a.cost)
    .slice(0, maxNamed);
  return [
    ...walk.errors,
    ...worst.map((each) =>
      forbiddenField(
        each.path,
        "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
      ),
    ),
    forbiddenField(
      path,
      tooCostly(
        `${x}validations estimated rule cost total for entire OpenAPIv3 schema`,
        walk.total,
        definitionLimit,
      ),
    ),
  ];
}

/** Returns a function that reports whether any finding concerns a path or something below it. */
function pathsAbove(findings: readonly FieldError[]): (path: string) => boolean {
  const above = new Set<string>();
  for (const { field } of findings)
    for (
      let end = field.length;
      end > 0 && !above.has(field.slice(0, end));
      end = field.lastIndexOf(".", end - 1)
    )
      above.add(field.slice(0, end));
  return (path) => above.has(path);
}

interface Location {
  readonly path: string;
  /** Maximum number of such values; undefined if unbounded. */
  readonly cardinality: number | undefined;
  /** The nearest enclosing list whose items cannot be correlated with old ones. */
  readonly uncorrelatable: string | undefined;
}

const times = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? undefined : Math.min(one * other, unbounded);

/** Returns the maximum number of child values per value of the schema. */
function factor({ type, props, additional }: Structural): number | undefined {
  const most = (key: string): number | undefined => {
    const given = limit(props, key);
    return given === undefined ? undefined : Math.max(given, 0);
  };
  if (type === "array") return most("maxItems");
  return type === "object" && additional ? most("maxProperties") : 1;
}

function* visit(
  schema: Structural,
  type: SchemaType | undefined,
  location: Location,
  walk: Walk,
): Steps<void> {
  if (!schema.hasRules) return;
  yield;
  const { path, uncorrelatable } = location;
  const cardinality = times(location.cardinality, factor(schema));
  for (const [key, inner] of schema.properties)
    yield* visit(
      inner,
      type ? yield* innerType(type, inner, key) : yield* ruleTypeOf(inner, false),
      { path: `${path}.properties[${key}]`, cardinality, uncorrelatable },
      walk,
    );
  if (schema.additional?.of)
    yield* visit(
      schema.additional.of,
      type?.elem,
      { path: `${path}.additionalProperties`, cardinality, uncorrelatable },
      walk,
    );
  if (schema.items)
    yield* visit(
      schema.items,
      type?.elem,
      {
        path: `${path}.items`,
        cardinality,
        uncorrelatable: schema.listType === "map" ? uncorrelatable : (uncorrelatable ?? path),
      },
      walk,
    );
  if (schema.rules.length === 0 || walk.blocked(path)) return;
  const at = `${path}.${walk.language.dialect.wire.extensionPrefix}validations`;
  if (!type) {
    walk.errors.push({
      type: "InternalError",
      field: at,
      detail: `internal error: failed to construct type information for ${walk.language.dialect.wire.extensionPrefix}validations rules: unable to convert structural schema to CEL declarations`,
    });
    return;
  }
  for (const [i, compiled] of (yield* compileRules(schema, type, walk.language)).entries())
    ruleErrors(compiled, `${at}[${i}]`, location, walk);
}

function ruleErrors(compiled: CompiledRule, at: string, location: Location, walk: Walk): void {
  const { rule, error, messageError, message, messageMaxCost, transition } = compiled;
  const cost = times(compiled.maxCost, location.cardinality ?? compiled.maxCardinality)!;
  if (cost > expressionLimit)
    walk.errors.push(forbiddenField(`${at}.rule`, tooCostly("estimated rule cost", cost, expressionLimit)));
  observe(walk, `${at}.rule`, cost);
  if (error !== undefined) walk.errors.push(invalidValue(`${at}.rule`, ruleText(rule), error));
  if (messageError !== undefined)
    walk.errors.push(invalidValue(`${at}.messageExpression`, ruleText(rule), messageError));
  else if (message) {
    if (messageMaxCost > expressionLimit)
      walk.errors.push(
        forbiddenField(
          `${at}.messageExpression`,
          tooCostly("estimated messageExpression cost", messageMaxCost, expressionLimit),
        ),
      );
    observe(walk, `${at}.messageExpression`, messageMaxCost);
  }
  if (transition && location.uncorrelatable !== undefined)
    walk.errors.push(
      invalidValue(
        `${at}.rule`,
        rule.rule,
        `oldSelf cannot be used on the uncorrelatable portion of the schema within ${location.uncorrelatable}`,
      ),
    );
  if (!transition && rule.optionalOldSelf !== undefined)
    walk.errors.push(
      invalidValue(
        `${at}.optionalOldSelf`,
        rule.optionalOldSelf,
        "may not be set if oldSelf is not used in rule",
      ),
    );
}

/** Formats a rejected rule as kube-apiserver does. */
const ruleText = ({ rule, message, messageExpression }: ValidationRule): LiteralValue =>
  new LiteralValue(
    `apiextensions.ValidationRule{Rule:${goSyntax(rule)}, Message:${goSyntax(message)}, MessageExpression:${goSyntax(messageExpression)}}`,
  );

function observe(walk: Walk, path: string, cost: number): void {
  walk.total = Math.min(walk.total + cost, unbounded);
  walk.costs.push({ path, cost });
}

function tooCostly(what: string, cost: number, limit: number): string {
  const exceeds = cost / limit;
  const by =
    exceeds > 100 ? "more than 100x" : exceeds < 1.5 ? `${exceeds.toFixed(6)}x` : `${exceeds.toFixed(1)}x`;
  return `${what} exceeds budget by factor of ${by} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}
