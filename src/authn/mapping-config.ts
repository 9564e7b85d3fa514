// Compiles claim mappings and rules of the configuration file with their expressions.
import type { JwtAuthenticator } from "#api";
import { type FieldError, duplicate, invalidValue, lastRelease, required } from "#base";
import {
  type CelType,
  type Environment,
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
import { domainPathErrors } from "#schema";
import type { ReadingContext } from "./authentication-config.ts";
import type { ClaimExpression, ClaimMapping, ClaimSource } from "./claims.ts";

/** Compiles expressions and collects errors in `errors`. */
interface Compiler {
  claims(source: string, path: string, result?: CelType): ClaimExpression | undefined;
  user(source: string, path: string): ClaimExpression | undefined;
  readonly errors: FieldError[];
}

const environments = new Map<Dialect, Environment>();

function compilerFor({ dialect, errors }: ReadingContext): Compiler {
  const prefix = dialect.cli.product;
  const env = environments.getOrInsertComputed(dialect, () =>
    environment({ typePrefix: prefix, release: lastRelease }),
  );
  const user = objectType(`${prefix}.UserInfo`, {
    username: types.string,
    uid: types.string,
    groups: listOf(types.string),
    extra: mapOf(types.string, listOf(types.string)),
  });
  const claims = mapOf(types.string, types.dyn);
  const compiled = (
    source: string,
    path: string,
    variables: Readonly<Record<string, CelType>>,
    result: CelType | undefined,
  ): ClaimExpression | undefined => {
    const compilation = compile(env, source, { variables });
    if ("error" in compilation) {
      const stage = compilation.stage === "compile" ? "compilation" : "program instantiation";
      errors.push(invalidValue(path, source, `${stage} failed: ${compilation.error}`));
      return undefined;
    }
    const { program } = compilation;
    if (!result || sameType(result, program.resultType)) return { source, program };
    errors.push(invalidValue(path, source, `must evaluate to ${formatType(result)}`));
    return undefined;
  };
  return {
    claims: (source, path, result) => compiled(source, path, { claims }, result),
    user: (source, path) => compiled(source, path, { user }, types.bool),
    errors,
  };
}

/** Returns the mapping of an issuer; valid only if no error was found. */
export function claimMapping(jwt: JwtAuthenticator, path: string, context: ReadingContext): ClaimMapping {
  const compiler = compilerFor(context);
  const claimRules = claimRulesOf(jwt, `${path}.claimValidationRules`, compiler);
  const { claimMappings: mappings } = jwt;
  const at = `${path}.claimMappings`;
  const username = sourceOf(mappings.username, `${at}.username`, true, compiler);
  const groups = sourceOf(mappings.groups, `${at}.groups`, false, compiler);
  const uid = uidOf(mappings.uid, `${at}.uid`, compiler);
  const extra = extraOf(mappings.extra ?? [], `${at}.extra`, compiler, context.dialect);
  const verifying = [...claimRules.rules, ...extra.map(({ expression }) => expression)];
  if (username && "expression" in username) {
    const { program, source } = username.expression;
    const checksVerified = [username.expression, ...verifying].some((expression) =>
      expression.program.selects("claims", "email_verified"),
    );
    if (program.selects("claims", "email") && !checksVerified)
      context.errors.push(
        invalidValue(
          `${at}.username.expression`,
          source,
          "claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression",
        ),
      );
  }
  const userRules = userRulesOf(jwt.userValidationRules ?? [], `${path}.userValidationRules`, compiler);
  return {
    username: username ?? { claim: "", prefix: "" },
    groups,
    uid,
    extra,
    requiredClaims: claimRules.required,
    claimRules: claimRules.rules,
    userRules,
  };
}

function claimRulesOf(
  { claimValidationRules: given }: JwtAuthenticator,
  path: string,
  compiler: Compiler,
): { required: Record<string, string>; rules: ClaimExpression[] } {
  const { errors } = compiler;
  const values: Record<string, string> = {};
  const rules: ClaimExpression[] = [];
  const seen = new Set<string>();
  (given ?? []).forEach(({ claim = "", requiredValue = "", expression = "", message = "" }, index) => {
    const at = `${path}[${index}]`;
    if (claim !== "" && expression !== "")
      errors.push(invalidValue(at, claim, "claim and expression can't both be set"));
    else if (claim === "" && expression === "") errors.push(required(at, "claim or expression is required"));
    else if (claim !== "") {
      if (message !== "")
        errors.push(invalidValue(`${at}.message`, message, "may not be specified when claim is set"));
      if (Object.hasOwn(values, claim)) errors.push(duplicate(`${at}.claim`, claim));
      values[claim] = requiredValue;
    } else {
      if (requiredValue !== "")
        errors.push(
          invalidValue(`${at}.requiredValue`, requiredValue, "may not be specified when expression is set"),
        );
      if (seen.has(expression)) {
        errors.push(duplicate(`${at}.expression`, expression));
        return;
      }
      seen.add(expression);
      const compiled = compiler.claims(expression, `${at}.expression`, types.bool);
      if (compiled) rules.push({ ...compiled, message });
    }
  });
  return { required: values, rules };
}

function sourceOf(
  { claim = "", prefix, expression = "" }: JwtAuthenticator["claimMappings"]["username"],
  path: string,
  needed: boolean,
  compiler: Compiler,
): ClaimSource | undefined {
  const { errors } = compiler;
  if (claim !== "" && expression !== "")
    errors.push(invalidValue(path, "", "claim and expression can't both be set"));
  else if (expression !== "") {
    if (prefix !== undefined)
      errors.push(invalidValue(`${path}.prefix`, prefix, "may not be specified when expression is set"));
    const compiled = compiler.claims(expression, `${path}.expression`);
    return compiled && { expression: compiled };
  } else if (claim !== "") {
    if (prefix === undefined)
      errors.push(
        required(
          `${path}.prefix`,
          "prefix is required when claim is set. It can be set to an empty string to disable prefixing",
        ),
      );
    return { claim, prefix: prefix ?? "" };
  } else if (needed) errors.push(required(path, "claim or expression is required"));
  return undefined;
}

function uidOf(
  { claim = "", expression = "" }: JwtAuthenticator["claimMappings"]["uid"],
  path: string,
  compiler: Compiler,
): ClaimSource | undefined {
  if (claim !== "" && expression !== "")
    compiler.errors.push(invalidValue(path, "", "claim and expression can't both be set"));
  if (expression !== "") {
    const compiled = compiler.claims(expression, `${path}.expression`);
    return compiled && { expression: compiled };
  }
  return claim === "" ? undefined : { claim, prefix: "" };
}

type ExtraMapping = NonNullable<JwtAuthenticator["claimMappings"]["extra"]>[number];

function extraOf(
  given: readonly ExtraMapping[],
  path: string,
  compiler: Compiler,
  dialect: Dialect,
): { key: string; expression: ClaimExpression }[] {
  const seen = new Set<string>();
  return given.flatMap(({ key, valueExpression }, index) => {
    const at = `${path}[${index}]`;
    compiler.errors.push(...keyErrors(key, `${at}.key`, dialect));
    if (seen.has(key)) {
      compiler.errors.push(duplicate(`${at}.key`, key));
      return [];
    }
    seen.add(key);
    if (valueExpression === "") {
      compiler.errors.push(required(`${at}.valueExpression`));
      return [];
    }
    const expression = compiler.claims(valueExpression, `${at}.valueExpression`);
    return expression ? [{ key, expression }] : [];
  });
}

/** Validates a key, which must be a path below a domain that is not reserved. */
function keyErrors(key: string, path: string, dialect: Dialect): FieldError[] {
  const errors = domainPathErrors(key, path);
  const domain = key.slice(0, Math.max(key.indexOf("/"), 0));
  if (key !== key.toLowerCase()) errors.push(invalidValue(path, key, "must be lowercase"));
  const own = [...new Set([dialect.wire.groupSuffix, dialect.data.labelDomain])];
  const product = dialect.cli.product.replace(/^./, (letter) => letter.toUpperCase());
  if (own.some((each) => domain === each || domain.endsWith(`.${each}`)))
    errors.push(
      invalidValue(path, key, `${own.join(", ")} and their subdomains are reserved for ${product} use`),
    );
  return errors;
}

type UserRule = NonNullable<JwtAuthenticator["userValidationRules"]>[number];

function userRulesOf(given: readonly UserRule[], path: string, compiler: Compiler): ClaimExpression[] {
  const seen = new Set<string>();
  return given.flatMap(({ expression, message = "" }, index) => {
    const at = `${path}[${index}].expression`;
    if (expression === "") compiler.errors.push(required(at));
    else if (seen.has(expression)) compiler.errors.push(duplicate(at, expression));
    else {
      seen.add(expression);
      const compiled = compiler.user(expression, at);
      if (compiled) return [{ ...compiled, message }];
    }
    return [];
  });
}
