// CEL expressions about requests: the variables available to webhook match conditions and policies, and their
// evaluation within a cost budget.

import { TimeSlice, firstRelease, lastRelease } from "#base";
import {
  type CelType,
  type Compilation,
  type Decide,
  type Environment,
  type Program,
  type Value,
  authorizerValues,
  compile,
  environment,
  formatType,
  listOf,
  mapOf,
  objectType,
  sameType,
  types,
} from "#cel";
import { type AdmissionAttributes, type Equivalent, type VersionedObjects, slot } from "../attributes.ts";
import { requestOf } from "../webhooks/review.ts";
import { namespaceOf } from "../webhooks/matching.ts";

/** Cost limit of one expression, and the budgets of one policy and of one webhook's conditions. */
export const costLimit = 1_000_000;
export const policyBudget = 10_000_000;
export const conditionsBudget = 2_500_000;

export interface CompiledExpression {
  readonly source: string;
  readonly program?: Program;
  /** Why the expression did not compile. */
  readonly error?: string;
}

/** The variables available in addition to the object and the request. */
export interface VariableChoice {
  readonly params: boolean;
  /** Whether the authorizer is available; default true. */
  readonly authorizer?: boolean;
  /**
   * Set for policies of later releases, which also have the namespace of the object, their own variables if
   * any, and the functions of these releases.
   */
  readonly later?: { readonly variables?: Readonly<Record<string, CelType>> | undefined } | undefined;
}

export interface Expressions {
  /** Compiles an expression that must have one of the result types; any type if the list is empty. */
  compile(source: string, results: readonly CelType[], variables: VariableChoice): CompiledExpression;
  /** Returns the type of an expression about objects of known types, or the compilation error. */
  checkTypes(
    source: string,
    variables: TypedVariables,
  ): { readonly type: CelType } | { readonly problem: string } | undefined;
  readonly environment: Environment;
}

export interface TypedVariables {
  readonly object: CelType;
  /** Present if the policy has parameters; undefined if their type is unknown. */
  readonly params?: CelType | undefined;
  /** The variables of a policy of a later release. */
  readonly later?: VariableChoice["later"];
}

function requestType(prefix: string): CelType {
  const { bool, dyn, string } = types;
  const kind = objectType(`${prefix}.GroupVersionKind`, { group: string, version: string, kind: string });
  const resource = objectType(`${prefix}.GroupVersionResource`, {
    group: string,
    version: string,
    resource: string,
  });
  const userInfo = objectType(`${prefix}.UserInfo`, {
    username: string,
    uid: string,
    groups: listOf(string),
    extra: mapOf(string, listOf(string)),
  });
  return objectType(`${prefix}.AdmissionRequest`, {
    kind,
    resource,
    subResource: string,
    requestKind: kind,
    requestResource: resource,
    requestSubResource: string,
    name: string,
    namespace: string,
    operation: string,
    userInfo,
    dryRun: bool,
    options: dyn,
  });
}

function namespaceType(prefix: string): CelType {
  const { int, string, timestamp } = types;
  const texts = mapOf(string, string);
  const metadata = objectType(`${prefix}.NamespaceMetadata`, {
    name: string,
    generateName: string,
    namespace: string,
    labels: texts,
    annotations: texts,
    UID: string,
    creationTimestamp: timestamp,
    deletionGracePeriodSeconds: int,
    deletionTimestamp: timestamp,
    generation: int,
    resourceVersion: string,
    finalizers: listOf(string),
  });
  return objectType(`${prefix}.Namespace`, {
    metadata,
    spec: objectType(`${prefix}.NamespaceSpec`, { finalizers: listOf(string) }),
    status: objectType(`${prefix}.NamespaceStatus`, { phase: string }),
  });
}

const made = new Map<string, Expressions>();

/**
 * Created once per release and dialect, whose product name prefixes type names. With strict costs, expressions are
 * charged for functions of libraries, too.
 */
export const admissionExpressions = (
  typePrefix: string,
  release = firstRelease,
  strictCosts = false,
): Expressions =>
  made.getOrInsertComputed(`${typePrefix} ${release} ${strictCosts}`, () =>
    makeExpressions(typePrefix, release, strictCosts),
  );

function makeExpressions(typePrefix: string, release: number, libraryCosts: boolean): Expressions {
  const env = environment({ typePrefix, release });
  let made: Environment | undefined;
  const laterEnvironment = (): Environment => (made ??= environment({ typePrefix, release: lastRelease }));
  const always = { object: types.dyn, oldObject: types.dyn, request: requestType(typePrefix) };
  const authorizer = {
    authorizer: env.authorizer.authorizer,
    "authorizer.requestResource": env.authorizer.resourceCheck,
  };
  const laterVariables = ({ later }: Pick<VariableChoice, "later">): Readonly<Record<string, CelType>> => ({
    ...(later && { namespaceObject: namespaceType(typePrefix) }),
    ...(later?.variables && { variables: objectType(`${typePrefix}.variables`, later.variables) }),
  });
  const variablesOf = (choice: VariableChoice): Readonly<Record<string, CelType>> => ({
    ...always,
    ...(choice.params && { params: types.dyn }),
    ...(choice.authorizer !== false && authorizer),
    ...laterVariables(choice),
  });
  return {
    environment: env,
    compile: (source, results, choice) => {
      const within = choice.later ? laterEnvironment() : env;
      const compiled = compile(within, source, { variables: variablesOf(choice), libraryCosts });
      if ("error" in compiled && compiled.stage === "compile")
        return { source, error: compileError(compiled) };
      const { resultType } = "error" in compiled ? compiled : compiled.program;
      const fits = results.length === 0 || results.some((type) => sameType(type, resultType));
      if (!fits) return { source, error: wrongResult(results) };
      return "error" in compiled
        ? { source, error: compileError(compiled) }
        : { source, program: compiled.program };
    },
    checkTypes: (source, { object, later, ...others }) => {
      const params = "params" in others && { params: others.params ?? types.dyn };
      // Release 1.27 checks types without the authorizer, so policies that use it get a warning.
      const more = later ? { ...authorizer, ...laterVariables({ later }) } : {};
      const variables = { request: always.request, object, oldObject: object, ...params, ...more };
      const compiled = compile(later ? laterEnvironment() : env, source, { variables, libraryCosts });
      if ("program" in compiled) return { type: compiled.program.resultType };
      return compiled.stage === "compile" ? { problem: compiled.error } : undefined;
    },
  };
}

const compileError = ({ stage, error }: Extract<Compilation, { error: string }>): string =>
  stage === "compile" ? `compilation failed: ${error}` : `program instantiation failed: ${error}`;

const wrongResult = (results: readonly CelType[]): string =>
  results.length === 1
    ? `must evaluate to ${formatType(results[0]!)}`
    : `must evaluate to one of [${results.map(typeWord).join(" ")}]`;

/** Returns the name of a type in expressions. */
const typeWord = (type: CelType): string => (type.kind === "null" ? "null_type" : formatType(type));

export interface RequestView {
  readonly attributes: AdmissionAttributes;
  readonly matched: Equivalent;
  readonly objects: VersionedObjects;
  /** Undefined if the policy has no parameters; null if the binding has none. */
  readonly params?: Value;
  /** The namespace of the object, for expressions of later releases; null for cluster-scoped objects. */
  readonly namespace?: Value;
  readonly decide: Decide;
}

/** Returns the variables of one request. */
export function bindingsOf(env: Environment, view: RequestView): Readonly<Record<string, Value>> {
  const { attributes, objects } = view;
  const requested = { resource: attributes.resource, kind: attributes.requestKind };
  const { authorizer, requestResource } = authorizerValues(env.authorizer, view.decide, {
    group: attributes.resource.group,
    resource: attributes.resource.resource,
    subresource: attributes.subresource,
    namespace: namespaceOf(attributes),
    name: attributes.name,
  });
  return {
    object: (objects.object ?? null) as Value,
    oldObject: (objects.oldObject ?? null) as Value,
    request: requestOf(attributes, requested) as Value,
    params: view.params ?? null,
    namespaceObject: view.namespace ?? null,
    authorizer,
    "authorizer.requestResource": requestResource,
  };
}

export type Evaluated = { readonly value: Value } | { readonly error: string };

/** The budget is exceeded: no further expressions are evaluated. */
export class BudgetExceeded extends Error {
  override readonly name = "BudgetExceeded";
}

const slices = slot<TimeSlice>("time slice of expressions");

/** Returns the time slice that all expressions about a request share. */
export function sliceOf({ state }: AdmissionAttributes): TimeSlice {
  const slice = state.get(slices) ?? new TimeSlice();
  state.set(slices, slice);
  return slice;
}

/**
 * Evaluates expressions in sequence until their budget is exceeded, and yields to other work in between. A
 * small object is no guarantee of short work.
 */
export class Evaluator {
  readonly #bindings: Readonly<Record<string, Value>>;
  readonly #slice: TimeSlice;
  readonly #elsewhere: () => number;
  #left: number;

  /** `elsewhere` is called after each expression and returns the cost of the variables it read. */
  constructor(
    bindings: Readonly<Record<string, Value>>,
    budget: number,
    slice: TimeSlice,
    elsewhere: () => number = () => 0,
  ) {
    this.#bindings = bindings;
    this.#left = budget;
    this.#slice = slice;
    this.#elsewhere = elsewhere;
  }

  async run({ source, program, error }: CompiledExpression): Promise<Evaluated> {
    if (!program) return { error: `compilation error: ${error ?? ""}` };
    if (this.#slice.expired) await this.#slice.yield();
    const outcome = await program.evaluateWaiting(this.#bindings, costLimit, never);
    const cost = outcome.cost + this.#elsewhere();
    if (cost > this.#left)
      throw new BudgetExceeded(
        "validation failed due to running out of cost budget, no further validation rules will be run",
      );
    this.#left -= cost;
    if ("value" in outcome) return { value: outcome.value };
    return { error: `expression '${source}' resulted in error: ${outcome.error}` };
  }
}

const never = new AbortController().signal;
