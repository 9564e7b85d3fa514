// Maps the claims of a verified token to a user, by claims and prefixes or by expressions.
import { jsonKind } from "#base";
import { Double, type Program, type Value, elements, isList } from "#cel";
import { credentialIdOf } from "./service-account.ts";
import type { Identity, User } from "./user.ts";

export type Claims = Readonly<Record<string, unknown>>;

/** A compiled expression of the configuration. */
export interface ClaimExpression {
  readonly source: string;
  readonly program: Program;
  /** The message if the rule is violated. */
  readonly message?: string;
}

/** The source of a user attribute. */
export type ClaimSource =
  | { readonly claim: string; readonly prefix: string }
  | { readonly expression: ClaimExpression };

export interface ClaimMapping {
  readonly username: ClaimSource;
  readonly groups?: ClaimSource | undefined;
  readonly uid?: ClaimSource | undefined;
  readonly extra?: readonly { readonly key: string; readonly expression: ClaimExpression }[];
  /** Required claims and their values. */
  readonly requiredClaims: Readonly<Record<string, string>>;
  readonly claimRules?: readonly ClaimExpression[];
  readonly userRules?: readonly ClaimExpression[];
}

/** A mapping without expressions, as configured by flags. */
export interface PlainMapping {
  readonly issuer: string;
  readonly usernameClaim: string;
  /** Prefix of user names; "-" for none, empty for the issuer unless names are email addresses. */
  readonly usernamePrefix: string;
  readonly groupsClaim: string;
  readonly groupsPrefix: string;
  readonly requiredClaims: Readonly<Record<string, string>>;
}

export function plainMapping(plain: PlainMapping): ClaimMapping {
  const { issuer, usernameClaim, usernamePrefix, groupsClaim, groupsPrefix, requiredClaims } = plain;
  const defaultPrefix = usernameClaim === "email" ? "" : `${issuer}#`;
  const prefix = usernamePrefix === "-" ? "" : usernamePrefix || defaultPrefix;
  return {
    username: { claim: usernameClaim, prefix },
    groups: groupsClaim === "" ? undefined : { claim: groupsClaim, prefix: groupsPrefix },
    requiredClaims,
  };
}

/** Maximum cost of one expression. */
const costLimit = 1_000_000;

/**
 * Returns the user described by the claims. Throws if they do not describe one, or violate a rule. If `idKey` is
 * given, this extra attribute identifies the token, unless the mapping sets it.
 */
export function identityOf(claims: Claims, mapping: ClaimMapping, idKey?: string): Identity {
  let converted: Value | undefined;
  const claimsValue = (): Value => (converted ??= claimValue(claims));
  const evaluate = (expression: ClaimExpression): Value => evaluated(expression, { claims: claimsValue() });
  const uid = mapping.uid && uidOf(claims, mapping.uid, evaluate);
  const extra: Record<string, readonly string[]> = {};
  const user: User = {
    name: nameOf(claims, mapping.username, evaluate),
    groups: mapping.groups ? groupsOf(claims, mapping.groups, evaluate) : [],
    ...(uid && { uid }),
  };
  const { jti } = claims;
  if (idKey !== undefined && typeof jti === "string" && jti) extra[idKey] = [credentialIdOf(jti)];
  for (const { key, expression } of mapping.extra ?? []) {
    const values = withContext(`extra claim expression: ${expression.source}`, () =>
      textsOf(evaluate(expression)),
    );
    if (values.length > 0) extra[key] = values;
  }
  for (const [claim, value] of Object.entries(mapping.requiredClaims)) {
    const claimed = claims[claim];
    if (claimed === undefined) throw new Error(`required claim ${claim} not present in ID token`);
    const found = textOf(claimed, `parse claim ${claim}`);
    if (found !== value)
      throw new Error(`required claim ${claim} value does not match. Got = ${found}, want = ${value}`);
  }
  const complete: User = Object.keys(extra).length > 0 ? { ...user, extra } : user;
  withContext("claim validation expression", () => checkRules(mapping.claimRules ?? [], evaluate));
  withContext("user info validation rule", () => {
    const rules = mapping.userRules ?? [];
    if (rules.length === 0) return;
    const { name: username, uid: id = "", groups } = complete;
    const bindings = { user: { username, uid: id, groups, extra: complete.extra ?? {} } };
    checkRules(rules, (expression) => evaluated(expression, bindings));
  });
  return { user: complete };
}

type Evaluate = (expression: ClaimExpression) => Value;

function evaluated({ source, program }: ClaimExpression, bindings: Readonly<Record<string, Value>>): Value {
  const outcome = program.evaluate(bindings, costLimit);
  if ("error" in outcome) throw new Error(`expression '${source}' resulted in error: ${outcome.error}`);
  return outcome.value;
}

function checkRules(rules: readonly ClaimExpression[], evaluate: Evaluate): void {
  const values = rules.map(evaluate);
  rules.forEach(({ source, message = "" }, at) => {
    if (values[at] !== true) throw new Error(`validation expression '${source}' failed: ${message}`);
  });
}

function withContext<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw new Error(`error evaluating ${what}: ${(error as Error).message}`, { cause: error });
  }
}

function nameOf(claims: Claims, source: ClaimSource, evaluate: Evaluate): string {
  if ("expression" in source) {
    const name = withContext("username claim expression", () => {
      const value = evaluate(source.expression);
      if (typeof value !== "string") throw new Error("username claim expression must return a string");
      return value;
    });
    if (name === "") throw new Error("empty username via CEL expression is not allowed");
    return name;
  }
  const { claim, prefix } = source;
  const name = claimText(claims, claim, `parse username claims ${JSON.stringify(claim)}`);
  const verified = claims["email_verified"];
  if (claim === "email" && verified !== undefined) {
    if (verified !== null && typeof verified !== "boolean")
      throw new Error(`parse 'email_verified' claim: ${wrongType(verified, "bool")}`);
    if (verified !== true) throw new Error("email not verified");
  }
  return `${prefix}${name}`;
}

/** Returns a required text claim. An empty one is a user without a name, whose groups count. */
function claimText(claims: Claims, claim: string, what: string): string {
  const claimed = claims[claim];
  if (claimed === undefined) throw new Error(`${what}: claim not present`);
  return textOf(claimed, what);
}

/** Returns a text claim; null is the empty string, as in Go. */
function textOf(claimed: unknown, what: string): string {
  if (typeof claimed !== "string" && claimed !== null)
    throw new Error(`${what}: ${wrongType(claimed, "string")}`);
  return claimed ?? "";
}

function wrongType(value: unknown, wanted: string): string {
  const found = jsonKind(value);
  return `json: cannot unmarshal ${found} into Go value of type ${wanted}`;
}

function groupsOf(claims: Claims, source: ClaimSource, evaluate: Evaluate): readonly string[] {
  if ("expression" in source)
    return withContext("group claim expression", () => textsOf(evaluate(source.expression)));
  const { claim, prefix } = source;
  const claimed = claims[claim] ?? [];
  const groups: readonly unknown[] = Array.isArray(claimed) ? claimed : [claimed];
  return groups.map((group) => {
    if (group !== null && typeof group !== "string")
      throw new Error(`parse groups claim ${JSON.stringify(claim)}: ${wrongType(claimed, "string")}`);
    return `${prefix}${group ?? ""}`;
  });
}

function uidOf(claims: Claims, source: ClaimSource, evaluate: Evaluate): string {
  if ("expression" in source)
    return withContext("uid claim expression", () => {
      const value = evaluate(source.expression);
      if (typeof value !== "string") throw new Error("uid claim expression must return a string");
      return value;
    });
  return claimText(claims, source.claim, `parse uid claims ${JSON.stringify(source.claim)}`);
}

/** Returns the non-empty strings of an expression's value. */
function textsOf(value: Value): readonly string[] {
  if (value === null) return [];
  const all = isList(value) ? elements(value) : [value];
  return all.filter((text): text is string => {
    if (typeof text !== "string") throw new Error("expression must return a string or a list of strings");
    return text !== "";
  });
}

/** Converts claims to values for expressions, in which every number is a double. */
function claimValue(json: unknown): Value {
  if (typeof json === "number") return new Double(json);
  if (Array.isArray(json)) return json.map(claimValue);
  if (typeof json === "object" && json !== null)
    return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, claimValue(value)]));
  return json as Value;
}
