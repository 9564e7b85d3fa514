// The authorizer variable, which checks whether a user is authorized. Decisions are asynchronous: evaluation
// is suspended for each one and restarts when it is available.

import { type FunctionDeclaration, type Library, declare, method } from "../declarations.ts";
import { Suspended } from "../evaluation.ts";
import { type ObjectType, objectType, types } from "../types.ts";
import { Opaque, type Value, evaluationError, noSuchOverload } from "../values.ts";
import { chargeWalk } from "../walk-limit.ts";

const { bool, string } = types;

export interface ResourceQuery {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

/** An authorization query about the requesting user or about a service account. */
export interface AuthorizationQuery {
  readonly verb: string;
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
  readonly path?: string;
  readonly resource?: ResourceQuery;
}

export interface AuthorizationDecision {
  readonly allowed: boolean;
  readonly reason: string;
}

export type Decide = (query: AuthorizationQuery) => Promise<AuthorizationDecision>;

export interface AuthorizerTypes {
  readonly authorizer: ObjectType;
  readonly pathCheck: ObjectType;
  readonly groupCheck: ObjectType;
  readonly resourceCheck: ObjectType;
  readonly decision: ObjectType;
}

export function authorizerTypes(typePrefix: string): AuthorizerTypes {
  const named = (name: string) => objectType(`${typePrefix}.authorization.${name}`);
  return {
    authorizer: named("Authorizer"),
    pathCheck: named("PathCheck"),
    groupCheck: named("GroupCheck"),
    resourceCheck: named("ResourceCheck"),
    decision: named("Decision"),
  };
}

/** Checks restart the evaluation, so each counts like many visits: an expression can make 50 of them. */
const checkCost = 20_000;

/** The decisions of one evaluation; each is requested once. */
class Decisions {
  readonly #decide: Decide;
  readonly #known = new Map<string, AuthorizationDecision | Error>();

  constructor(decide: Decide) {
    this.#decide = decide;
  }

  for(query: AuthorizationQuery): AuthorizationDecision {
    chargeWalk(checkCost);
    const key = JSON.stringify(query);
    const known = this.#known.get(key);
    if (known instanceof Error) throw evaluationError(`error in authorization check: ${known.message}`);
    if (known) return known;
    throw new Suspended(
      this.#decide(query).then(
        (decision) => this.#known.set(key, decision),
        (error: unknown) => this.#known.set(key, error instanceof Error ? error : new Error(String(error))),
      ),
    );
  }
}

type Subject = Pick<AuthorizationQuery, "serviceAccount">;

/** An intermediate value between the authorizer and a decision. */
class CheckValue extends Opaque {
  readonly type: ObjectType;
  readonly decisions: Decisions;
  readonly subject: Subject;
  readonly path: string | undefined;
  readonly resource: ResourceQuery | undefined;

  constructor(
    type: ObjectType,
    decisions: Decisions,
    about: Subject & { path?: string; resource?: ResourceQuery },
  ) {
    super();
    this.type = type;
    this.decisions = decisions;
    this.subject = about.serviceAccount ? { serviceAccount: about.serviceAccount } : {};
    this.path = about.path;
    this.resource = about.resource;
  }
}

class DecisionValue extends Opaque {
  readonly type: ObjectType;
  readonly decision: AuthorizationDecision;
  constructor(type: ObjectType, decision: AuthorizationDecision) {
    super();
    this.type = type;
    this.decision = decision;
  }
}

/** Returns the values of the variables `authorizer` and `authorizer.requestResource`. */
export function authorizerValues(
  named: AuthorizerTypes,
  decide: Decide,
  request: ResourceQuery,
): { readonly authorizer: Value; readonly requestResource: Value } {
  const decisions = new Decisions(decide);
  return {
    authorizer: new CheckValue(named.authorizer, decisions, {}),
    requestResource: new CheckValue(named.resourceCheck, decisions, { resource: request }),
  };
}

const check = (value: Value | undefined): CheckValue => {
  if (value instanceof CheckValue) return value;
  throw noSuchOverload();
};

const serviceAccountName = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
const namespaceName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

export function authorizerLibrary(named: AuthorizerTypes): Library {
  return [...builders(named), ...refinements(named), ...decisions(named)];
}

function builders(named: AuthorizerTypes): FunctionDeclaration[] {
  return [
    declare(
      "path",
      method("authorizer_path", [named.authorizer, string], named.pathCheck, (value, path) => {
        const { decisions, subject } = check(value);
        if ((path as string).trim() === "") throw evaluationError("path must not be empty");
        return new CheckValue(named.pathCheck, decisions, { ...subject, path: path as string });
      }),
    ),
    declare(
      "group",
      method("authorizer_group", [named.authorizer, string], named.groupCheck, (value, group) => {
        const { decisions, subject } = check(value);
        const resource = { group: group as string, resource: "", subresource: "", namespace: "", name: "" };
        return new CheckValue(named.groupCheck, decisions, { ...subject, resource });
      }),
    ),
    declare(
      "serviceAccount",
      method(
        "authorizer_serviceaccount",
        [named.authorizer, string, string],
        named.authorizer,
        (value, namespaceValue, nameValue) => {
          const namespace = namespaceValue as string;
          const name = nameValue as string;
          if (!serviceAccountName.test(name) || name.length > 253)
            throw evaluationError("Invalid service account name");
          if (!namespaceName.test(namespace) || namespace.length > 63)
            throw evaluationError("Invalid service account namespace");
          return new CheckValue(named.authorizer, check(value).decisions, {
            serviceAccount: { namespace, name },
          });
        },
      ),
    ),
    declare(
      "resource",
      method("groupcheck_resource", [named.groupCheck, string], named.resourceCheck, (value, resource) => {
        if ((resource as string).trim() === "") throw evaluationError("resource must not be empty");
        return refined(named, check(value), { resource: resource as string });
      }),
    ),
  ];
}

const refined = (named: AuthorizerTypes, value: CheckValue, change: Partial<ResourceQuery>): CheckValue =>
  new CheckValue(named.resourceCheck, value.decisions, {
    ...value.subject,
    resource: { ...value.resource!, ...change },
  });

function refinements(named: AuthorizerTypes): FunctionDeclaration[] {
  return (["subresource", "namespace", "name"] as const).map((field) =>
    declare(
      field,
      method(`resourcecheck_${field}`, [named.resourceCheck, string], named.resourceCheck, (value, text) =>
        refined(named, check(value), { [field]: text as string }),
      ),
    ),
  );
}

/** Selectors that narrow a check of lists, watches or deletions of many objects. */
export const checkSelectorsLibrary = (named: AuthorizerTypes): Library =>
  (["fieldSelector", "labelSelector"] as const).map((field) =>
    declare(
      field,
      method(
        `authorizer_${field.toLowerCase()}`,
        [named.resourceCheck, string],
        named.resourceCheck,
        (value, text) => refined(named, check(value), { [field]: text as string }),
      ),
    ),
  );

function decisions(named: AuthorizerTypes): FunctionDeclaration[] {
  const decide = (value: Value | undefined, verb: Value | undefined): Value => {
    const { decisions: requestDecisions, subject, path, resource } = check(value);
    const about = resource ? { resource } : { path: path ?? "" };
    return new DecisionValue(
      named.decision,
      requestDecisions.for({ verb: verb as string, ...subject, ...about }),
    );
  };
  const read = (value: Value | undefined): AuthorizationDecision => {
    if (value instanceof DecisionValue) return value.decision;
    throw noSuchOverload();
  };
  return [
    declare(
      "check",
      method("pathcheck_check", [named.pathCheck, string], named.decision, decide),
      method("resourcecheck_check", [named.resourceCheck, string], named.decision, decide),
    ),
    declare(
      "allowed",
      method("decision_allowed", [named.decision], bool, (value) => read(value).allowed),
    ),
    declare(
      "reason",
      method("decision_reason", [named.decision], string, (value) => read(value).reason),
    ),
  ];
}
