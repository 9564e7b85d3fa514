// Match conditions of webhooks: expressions over the review that would be sent.
import { type FieldError, duplicate, invalidValue, lastRelease, required, tooMany } from "#base";
import {
  type Environment,
  type Program,
  type Value,
  compile,
  environment,
  formatType,
  listOf,
  mapOf,
  objectType,
  sameType,
  types,
} from "#cel";
import type { Dialect } from "#dialect";
import type { Attributes } from "./authorizer.ts";
import { selectorAttributes } from "./selectors.ts";

/** Reports whether all conditions hold, or returns an error if that cannot be determined. */
export type MatchConditions = (attributes: Attributes) => boolean | { readonly error: string };

const maxConditions = 64;
/** Maximum cost of one expression. */
const costLimit = 1_000_000;

const { bool, string } = types;
const environments = new Map<Dialect, Environment>();

function requestType(prefix: string) {
  const selectorType = (name: string) =>
    objectType(`${prefix}.${name}`, {
      rawSelector: string,
      requirements: listOf(
        objectType(`${prefix}.SelectorRequirement`, {
          key: string,
          operator: string,
          values: listOf(string),
        }),
      ),
    });
  return objectType(`${prefix}.SubjectAccessReviewSpec`, {
    resourceAttributes: objectType(`${prefix}.ResourceAttributes`, {
      namespace: string,
      verb: string,
      group: string,
      version: string,
      resource: string,
      subresource: string,
      name: string,
      fieldSelector: selectorType("FieldSelectorAttributes"),
      labelSelector: selectorType("LabelSelectorAttributes"),
    }),
    nonResourceAttributes: objectType(`${prefix}.NonResourceAttributes`, { path: string, verb: string }),
    user: string,
    groups: listOf(string),
    extra: mapOf(string, listOf(string)),
    uid: string,
  });
}

/** Compiles the conditions; returns undefined without conditions. Errors are added to `errors`. */
export function matchConditions(
  sources: readonly string[],
  path: string,
  { dialect, errors }: { readonly dialect: Dialect; readonly errors: FieldError[] },
): MatchConditions | undefined {
  if (sources.length > maxConditions) {
    errors.push(tooMany(path, sources.length, maxConditions));
    return undefined;
  }
  const typePrefix = dialect.cli.product;
  const env = environments.getOrInsertComputed(dialect, () =>
    environment({ typePrefix, release: lastRelease }),
  );
  const variables = { request: requestType(typePrefix) };
  const conditions = sources.flatMap((source, index): { source: string; program: Program }[] => {
    const at = `${path}[${index}].expression`;
    if (source.trim() === "") errors.push(required(at));
    else if (sources.indexOf(source) < index) errors.push(duplicate(at, source));
    else {
      const compiled = compile(env, source, { variables });
      if ("error" in compiled) {
        const stage = compiled.stage === "compile" ? "compilation" : "program instantiation";
        errors.push(invalidValue(at, source, `${stage} failed: ${compiled.error}`));
      } else if (!sameType(compiled.program.resultType, bool)) {
        const got = formatType(compiled.program.resultType);
        errors.push(invalidValue(at, source, `must evaluate to bool but got ${got}`));
      } else return [{ source, program: compiled.program }];
    }
    return [];
  });
  return conditions.length === 0 ? undefined : (attributes) => evaluate(conditions, attributes);
}

/** Evaluates the conditions. A false condition decides, regardless of errors of others. */
function evaluate(
  conditions: readonly { readonly source: string; readonly program: Program }[],
  attributes: Attributes,
): ReturnType<MatchConditions> {
  const bindings = { request: requestOf(attributes) };
  const failures: string[] = [];
  for (const { source, program } of conditions) {
    const outcome = program.evaluate(bindings, costLimit);
    if ("error" in outcome)
      failures.push(`cel evaluation error: expression '${source}' resulted in error: ${outcome.error}`);
    else if (outcome.value !== true) return false;
  }
  if (failures.length === 0) return true;
  return { error: failures.length === 1 ? failures[0]! : `[${failures.join(", ")}]` };
}

/** Returns the spec of the review; empty strings are kept. */
function requestOf({ user, verb, resource, path = "", selectors }: Attributes): Value {
  const attributes = resource && { ...resource, verb, ...selectorAttributes(selectors) };
  return {
    user: user.name,
    groups: user.groups,
    uid: user.uid ?? "",
    extra: user.extra ?? {},
    ...(attributes ? { resourceAttributes: attributes } : { nonResourceAttributes: { path, verb } }),
  };
}
