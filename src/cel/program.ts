// Environments and programs: the public interface of this module.

import { type Steps, TimeSlice, finishSteps, firstRelease } from "#base";
import { type Expression, someNode } from "./ast.ts";
import { type Checked, check } from "./checker.ts";
import { estimateCost } from "./cost-estimate.ts";
import type { Interval, SizeHint } from "./interval.ts";
import { type FunctionDeclaration, type Library, functionsOf } from "./declarations.ts";
import { CostExceeded, Evaluation, Suspended } from "./evaluation.ts";
import {
  type AuthorizerTypes,
  authorizerLibrary,
  authorizerTypes,
  checkSelectorsLibrary,
} from "./library/authorizer.ts";
import { formatProblems } from "./format-check.ts";
import { type HotPath, hotPath } from "./hot-path.ts";
import { addressTypeNames, addressesLibrary } from "./library/addresses.ts";
import { listsLibrary } from "./library/lists.ts";
import { mapInsertLibrary } from "./library/map-insert.ts";
import { mixedComparisons } from "./library/mixed-comparisons.ts";
import { namedFormatsLibrary } from "./library/named-formats.ts";
import { optionalTypeName, optionalsLibrary } from "./library/optionals.ts";
import { quantitiesLibrary } from "./library/quantities.ts";
import { regexLibrary } from "./library/regex.ts";
import { setsLibrary } from "./library/sets.ts";
import { matchesFunction, standardLibrary, typeNames } from "./library/standard.ts";
import { stringsLibrary } from "./library/strings.ts";
import { textFormatLibrary } from "./library/text-format.ts";
import { urlsLibrary } from "./library/urls.ts";
import { parseSteps } from "./parser.ts";
import { type Plan, PlanError, plan } from "./plan.ts";
import { formatErrors } from "./source.ts";
import { type CelType, types } from "./types.ts";
import { EvaluationError, type Value } from "./values.ts";
import { withWalkLimit } from "./walk-limit.ts";

export interface Environment {
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly typeNames: ReadonlyMap<string, CelType>;
  readonly authorizer: AuthorizerTypes;
  /** Enables the syntax and macros of optional values. */
  readonly optionals: boolean;
  /** Enables the macros with two variables. */
  readonly twoVariables: boolean;
  /** Whether estimates assume that a macro results in as many elements as it iterates over. */
  readonly foldSizes: boolean;
}

export interface EnvironmentOptions {
  /** Prefix of library type names in error messages. */
  readonly typePrefix?: string;
  /** The minor release whose functions are available. */
  readonly release?: number;
}

export function environment({
  typePrefix = "orch",
  release = firstRelease,
}: EnvironmentOptions = {}): Environment {
  const authorizer = authorizerTypes(typePrefix);
  const since = (first: number, ...libraries: Library[]): Library[] => (release >= first ? libraries : []);
  const functions = functionsOf([
    standardLibrary,
    urlsLibrary(typePrefix),
    regexLibrary,
    listsLibrary,
    authorizerLibrary(authorizer),
    stringsLibrary,
    ...since(28, matchesFunction, mixedComparisons, optionalsLibrary, quantitiesLibrary(typePrefix)),
    ...since(29, textFormatLibrary, setsLibrary),
    ...since(30, addressesLibrary),
    ...since(31, namedFormatsLibrary(typePrefix)),
    ...since(32, mapInsertLibrary, checkSelectorsLibrary(authorizer)),
  ]);
  const named = [
    ...typeNames,
    ...(release >= 28 ? [optionalTypeName] : []),
    ...(release >= 30 ? addressTypeNames : []),
  ];
  const [optionals, foldSizes, twoVariables] = [release >= 28, release >= 30, release >= 32];
  return { functions, typeNames: new Map(named), authorizer, optionals, foldSizes, twoVariables };
}

export interface CompileOptions {
  readonly variables: Readonly<Record<string, CelType>>;
  /**
   * Whether library functions cost what their libraries declare, rather than 1; so in custom resources, but
   * not in policies.
   */
  readonly libraryCosts?: boolean;
}

export type Compilation =
  | { readonly program: Program }
  | { readonly error: string; readonly stage: "compile" }
  /** The expression is well-typed but can never succeed. */
  | { readonly error: string; readonly stage: "instantiate"; readonly resultType: CelType };

export type Outcome =
  | { readonly value: Value; readonly cost: number }
  | { readonly error: string; readonly cost: number; readonly exceeded: boolean };

export type Bindings = Readonly<Record<string, Value>>;

export interface Program {
  readonly resultType: CelType;
  /** Reports whether the expression reads the variable. */
  reads(variable: string): boolean;
  /** Reports whether the expression selects a member of the variable by name, or tests for it. */
  selects(variable: string, field: string): boolean;
  estimateCost(sizeHint?: SizeHint): Interval;
  /** Like estimateCost, in steps that can yield to other work. */
  estimateCostSteps(sizeHint?: SizeHint): Steps<Interval>;
  evaluate(bindings: Bindings, costLimit: number): Outcome;
  /** Like evaluate, for expressions with asynchronous functions. */
  evaluateWaiting(bindings: Bindings, costLimit: number, signal: AbortSignal): Promise<Outcome>;
}

export const compile = (env: Environment, source: string, options: CompileOptions): Compilation =>
  finishSteps(compileSteps(env, source, options));

/** The reference declares two type names as values, which are never set. */
const typesTakenForValues = Object.entries({ duration: types.duration, timestamp: types.timestamp });

/** Compiles an expression in steps that can yield to other work. */
export function* compileSteps(env: Environment, source: string, options: CompileOptions): Steps<Compilation> {
  const parsed = yield* parseSteps(source, env);
  yield;
  if (parsed.errors) return { error: formatErrors(source, parsed.errors), stage: "compile" };
  const { expression } = parsed;
  const variables = new Map([...typesTakenForValues, ...Object.entries(options.variables)]);
  const checked = yield* check(expression, { functions: env.functions, variables, typeNames: env.typeNames });
  yield;
  const errors =
    checked.errors.length > 0
      ? checked.errors
      : env.functions.has("format")
        ? formatProblems(expression, checked)
        : [];
  if (errors.length > 0) return { error: formatErrors(source, errors), stage: "compile" };
  const resultType = checked.types[expression.id] ?? types.dyn;
  try {
    const planning = { libraryCosts: options.libraryCosts ?? false };
    const planned = plan(expression, checked, planning);
    yield;
    const estimate = (sizeHint: SizeHint = () => undefined) =>
      estimateCost(expression, checked, { sizeHint, foldSizes: env.foldSizes });
    const run = runnerOf(planned, () => hotPath(expression, checked, planned.inputs, planning));
    return { program: programOf(run, checked, resultType, { expression, estimate }) };
  } catch (error) {
    if (error instanceof PlanError) return { error: error.message, stage: "instantiate", resultType };
    throw error;
  }
}

function programOf(
  run: Program["evaluate"],
  checked: Checked,
  resultType: CelType,
  of: { readonly expression: Expression; readonly estimate: (sizeHint?: SizeHint) => Steps<Interval> },
): Program {
  const names = new Set<string>();
  for (const reference of checked.references) if (reference?.kind === "variable") names.add(reference.name);
  return {
    resultType,
    reads: (variable) => names.has(variable),
    selects: (variable, field) =>
      someNode(
        of.expression,
        (node) =>
          node.kind === "select" &&
          node.field === field &&
          node.operand.kind === "identifier" &&
          node.operand.name === variable,
      ),
    estimateCost: (sizeHint) => finishSteps(of.estimate(sizeHint)),
    estimateCostSteps: of.estimate,
    evaluate: run,
    evaluateWaiting: async (bindings, costLimit, signal) => {
      const slice = new TimeSlice();
      while (true) {
        try {
          return run(bindings, costLimit);
        } catch (error) {
          if (!(error instanceof Suspended)) throw error;
          await error.until;
          signal.throwIfAborted();
          if (slice.expired) await slice.yield();
        }
      }
    },
  };
}

/** Number of runs after which a hot path is compiled. */
const runsBeforeHot = 200;
/** A hot path that gives up in more than a quarter of its runs is discarded. */
const maxBailouts = 50;

/** Returns a function that runs a plan; the state of a run is reused. */
function runnerOf({ run, inputs, slots }: Plan, makeHot: () => HotPath | undefined): Program["evaluate"] {
  const names = [...inputs.keys()];
  const places = [...inputs.values()];
  let idle: Evaluation | undefined;
  let hot: HotPath | undefined;
  let runs = 0;
  let bailouts = 0;
  const evaluate = (state: Evaluation): Value => {
    runs += 1;
    if (runs === runsBeforeHot) hot = makeHot();
    if (!hot) return run(state);
    const value = attempt(hot, state);
    if (value !== undefined) return value;
    state.walked = 0;
    bailouts += 1;
    if (bailouts > maxBailouts && bailouts * 4 > runs) hot = undefined;
    return run(state);
  };
  return (bindings, costLimit) => {
    const state = idle ?? new Evaluation(slots);
    idle = undefined;
    state.cost = 0;
    state.copied = 0;
    state.walked = 0;
    state.limit = costLimit;
    for (let at = 0; at < names.length; at += 1) state.slots[places[at]!] = bindings[names[at]!];
    try {
      return { value: withWalkLimit(state, () => evaluate(state)), cost: state.cost };
    } catch (error) {
      if (error instanceof EvaluationError)
        return { error: error.message, cost: state.cost, exceeded: false };
      if (error instanceof CostExceeded) return { error: error.message, cost: state.cost, exceeded: true };
      throw error;
    } finally {
      // Release the variables until the next run.
      for (let at = 0; at < slots; at += 1) state.slots[at] = undefined;
      idle = state;
    }
  };
}

/** Errors on the hot path are ignored; the plan then reproduces and reports them. */
function attempt(hot: HotPath, state: Evaluation): Value | undefined {
  try {
    return hot(state);
  } catch {
    return undefined;
  }
}
