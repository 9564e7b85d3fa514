// CEL validation rules of a schema: compiled once to a tree parallel to the schema, and evaluated with a
// bound on their total cost.
import {
  type CompileOptions,
  type Environment,
  type Program,
  type SchemaLike,
  type SchemaType,
  type Value,
  compileSteps,
  environment,
  escapeName,
  maxRequestBytes,
  optionalOf,
  optionalType,
  schemaTypeSteps,
  sizesOf,
  types,
  viewOf,
} from "#cel";
import { type FieldError, type Steps, duplicate, forbiddenField, invalidValue, required } from "#base";
import type { Dialect } from "#dialect";
import { fieldPathOf } from "./field-path.ts";
import { comparison, oldItems } from "./ratchet.ts";
import { type Structural, type ValidationRule, isObject, limit } from "./structural.ts";

/** Cost limit of a single rule, and of all rules for one object. */
const ruleLimit = 1_000_000;
const objectBudget = 10_000_000;
const maxMessageBytes = 5 * 1024;

export interface CompiledRule {
  readonly rule: ValidationRule;
  readonly program?: Program;
  readonly error?: string;
  readonly message?: Program;
  readonly messageError?: string;
  /** Path of the field that an error refers to, as errors show it. */
  readonly fieldPath?: string | undefined;
  /** Whether the rule uses the old value. */
  readonly transition: boolean;
  readonly maxCost: number;
  readonly messageMaxCost: number;
  /** Maximum number of values of this schema in one object. */
  readonly maxCardinality: number;
}

/** The variables available to rules, and the minor release whose functions are available. */
export interface RuleLanguage {
  readonly dialect: Dialect;
  readonly release: number;
}

const environments = new Map<string, Environment>();
const environmentOf = ({ dialect, release }: RuleLanguage): Environment =>
  environments.getOrInsertComputed(`${dialect.name} ${release}`, () =>
    environment({ typePrefix: dialect.cli.product, release }),
  );

const likes = new WeakMap<Structural, SchemaLike>();

/** Returns the view of the schema that expression types are derived from. */
export function* schemaLike(schema: Structural): Steps<SchemaLike> {
  const known = likes.get(schema);
  if (known) return known;
  yield;
  const { props, additional, items } = schema;
  const properties: Record<string, SchemaLike> = {};
  for (const [name, inner] of schema.properties) properties[name] = yield* schemaLike(inner);
  const like: SchemaLike = Object.fromEntries(
    Object.entries({
      type: schema.type || undefined,
      format: props["format"],
      items: items && (yield* schemaLike(items)),
      properties: schema.properties.size === 0 ? undefined : properties,
      additionalProperties:
        additional && (additional.of ? yield* schemaLike(additional.of) : additional.allowed),
      maxItems: limit(props, "maxItems"),
      maxLength: limit(props, "maxLength"),
      enumBytes: longestText(props["enum"]),
      maxProperties: limit(props, "maxProperties"),
      required: props["required"],
      default: schema.default,
      nullable: schema.nullable || undefined,
      intOrString: schema.intOrString || undefined,
      embeddedResource: schema.embedded || undefined,
      preserveUnknownFields: schema.preserveUnknown || undefined,
      listType: schema.listType,
      listMapKeys: schema.listKeys.length > 0 ? schema.listKeys : undefined,
    }).filter(([, value]) => value !== undefined),
  );
  likes.set(schema, like);
  return like;
}

function longestText(allowed: unknown): number | undefined {
  if (!Array.isArray(allowed) || allowed.length === 0) return undefined;
  let longest = 0;
  for (const value of allowed)
    if (typeof value === "string") longest = Math.max(longest, Buffer.byteLength(value));
  return longest;
}

/** Returns the type of a whole object or of a part of one. */
export function* ruleTypeOf(schema: Structural, root: boolean): Steps<SchemaType | undefined> {
  return yield* schemaTypeSteps(yield* schemaLike(schema), "selfType", root || schema.embedded);
}

/**
 * Returns the type of a property, of items, or of map values; undefined if it is not visible to expressions.
 */
export function* innerType(type: SchemaType, inner: Structural, key?: string): Steps<SchemaType | undefined> {
  if (key === undefined) return type.elem;
  const name = escapeName(key);
  return name === undefined ? yield* ruleTypeOf(inner, false) : type.fields?.get(name);
}

export function* compileRules(
  schema: Structural,
  type: SchemaType,
  language: RuleLanguage,
): Steps<readonly CompiledRule[]> {
  const env = environmentOf(language);
  const sizes = sizesOf(type, { enums: language.release >= 29 });
  const maxCardinality = Math.floor(maxRequestBytes / (type.minSize + 1));
  const compiled: CompiledRule[] = [];
  for (const rule of schema.rules) compiled.push(yield* compileRule(rule));
  return compiled;

  function* compileRule(rule: ValidationRule): Steps<CompiledRule> {
    const failed = (error: string): CompiledRule => ({ ...empty(rule, maxCardinality), error });
    if (rule.rule.trim() === "") return empty(rule, maxCardinality);
    const oldSelf = rule.optionalOldSelf ? optionalType(type.type) : type.type;
    const variables = { self: type.type, oldSelf };
    const compilation = yield* compileSteps(env, rule.rule, { variables, libraryCosts: true });
    if ("error" in compilation && compilation.stage === "compile")
      return failed(`compilation failed: ${compilation.error}`);
    const { resultType } = "error" in compilation ? compilation : compilation.program;
    if (resultType !== types.bool) return failed("cel expression must evaluate to a bool");
    if ("error" in compilation) return failed(`program instantiation failed: ${compilation.error}`);
    const { program } = compilation;
    return {
      rule,
      program,
      transition: program.reads("oldSelf"),
      maxCost: (yield* program.estimateCostSteps(sizes)).max,
      maxCardinality,
      messageMaxCost: 0,
      ...(rule.fieldPath && { fieldPath: fieldPathOf(rule.fieldPath, schema.props) }),
      ...(yield* compileMessage(rule.messageExpression, variables)),
    };
  }

  function* compileMessage(
    text: string,
    variables: CompileOptions["variables"],
  ): Steps<Partial<Pick<CompiledRule, "message" | "messageError" | "messageMaxCost">>> {
    if (text === "") return {};
    const compilation = yield* compileSteps(env, text, { variables, libraryCosts: true });
    if ("error" in compilation)
      return { messageError: `messageExpression compilation failed: ${compilation.error}` };
    const { program } = compilation;
    if (program.resultType !== types.string)
      return { messageError: "messageExpression must evaluate to a string" };
    return { message: program, messageMaxCost: (yield* program.estimateCostSteps(sizes)).max };
  }
}

const empty = (rule: ValidationRule, maxCardinality: number): CompiledRule => ({
  rule,
  transition: false,
  maxCost: 0,
  messageMaxCost: 0,
  maxCardinality,
});

/** The rules of a schema and of all schemas below; undefined without any rules. */
interface RuleTree {
  readonly schema: Structural;
  /** Root and embedded objects expose their kind and metadata even if the schema does not declare them. */
  readonly like: SchemaLike;
  readonly rules: readonly CompiledRule[];
  readonly items: RuleTree | undefined;
  readonly values: RuleTree | undefined;
  readonly properties: ReadonlyMap<string, RuleTree>;
}

/** Receives the time rules took, including time yielded to other work. */
export interface RuleObserver {
  compiled(seconds: number): void;
  evaluated(seconds: number): void;
}

export interface RuleSet {
  /**
   * Evaluates the rules for a value. Transition rules are skipped without an old value. With ratcheting,
   * other rules are skipped for unchanged values, and rules with an optional old value are evaluated without
   * one.
   */
  errors(value: unknown, old: unknown, path: string, ratcheting?: boolean): Steps<FieldError[]>;
}

export function* ruleSet(
  schema: Structural | undefined,
  root: boolean,
  language: RuleLanguage,
  observer?: RuleObserver,
): Steps<RuleSet | undefined> {
  if (!schema?.hasRules) return undefined;
  const began = performance.now();
  const type = yield* ruleTypeOf(schema, root);
  const tree = type && (yield* treeOf(schema, type, root, language));
  observer?.compiled(secondsSince(began));
  return (
    tree && {
      errors: function* (value, old, path, ratcheting = false) {
        const same = ratcheting ? comparison() : () => false;
        const state: State = { errors: [], budget: objectBudget, same, ratcheting };
        const started = performance.now();
        yield* run(tree, { value, old, path, kept: false }, state);
        observer?.evaluated(secondsSince(started));
        return state.errors;
      },
    }
  );
}

const secondsSince = (began: number): number => (performance.now() - began) / 1000;

function* treeOf(
  schema: Structural,
  type: SchemaType,
  root: boolean,
  language: RuleLanguage,
): Steps<RuleTree | undefined> {
  const properties = new Map<string, RuleTree>();
  for (const [key, inner] of schema.properties) {
    const of = inner.hasRules ? yield* innerType(type, inner, key) : undefined;
    const tree = of && (yield* treeOf(inner, of, inner.embedded, language));
    if (tree) properties.set(key, tree);
  }
  const below = function* (inner: Structural | undefined): Steps<RuleTree | undefined> {
    if (!inner?.hasRules || !type.elem) return undefined;
    return yield* treeOf(inner, type.elem, inner.embedded, language);
  };
  const items = yield* below(schema.items);
  const values = yield* below(schema.additional?.of);
  const rules = schema.rules.length > 0 ? yield* compileRules(schema, type, language) : [];
  if (rules.length === 0 && !items && !values && properties.size === 0) return undefined;
  const own = yield* schemaLike(schema);
  const like = root ? { ...own, embeddedResource: true } : own;
  return { schema, like, rules, items, values, properties };
}

interface State {
  readonly errors: FieldError[];
  /** Remaining cost budget. Negative once it is exhausted and evaluation has stopped. */
  budget: number;
  /** Reports whether a value is unchanged, so that its rules are skipped. */
  readonly same: (value: unknown, old: unknown) => boolean;
  readonly ratcheting: boolean;
}

interface Location {
  readonly value: unknown;
  readonly old: unknown;
  readonly path: string;
  /** Whether the value is part of an unchanged one. */
  readonly kept: boolean;
}

const below = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);

function* run(tree: RuleTree, { value, old, path, kept: within }: Location, state: State): Steps<void> {
  if (value === null || value === undefined || state.budget < 0) return;
  const kept = within || state.same(value, old);
  yield* runRules(tree, { value, old: old ?? undefined, path: path === "" ? "<nil>" : path, kept }, state);
  if (Array.isArray(value) && tree.items) {
    const before = oldItems(tree.schema, old);
    for (let i = 0; i < value.length && state.budget >= 0; i++)
      yield* run(tree.items, { value: value[i], old: before(value[i]), path: `${path}[${i}]`, kept }, state);
  } else if (isObject(value)) {
    const before = isObject(old) ? old : {};
    for (const key in value) {
      if (state.budget < 0) return;
      const property = tree.properties.get(key);
      const at = { value: value[key], old: before[key], kept };
      if (property) yield* run(property, { ...at, path: below(path, key) }, state);
      else if (tree.values && !tree.schema.properties.has(key))
        yield* run(tree.values, { ...at, path: `${path}[${key}]` }, state);
    }
  }
}

function* runRules(tree: RuleTree, { value, old, path, kept }: Location, state: State): Steps<void> {
  if (tree.rules.length === 0) return;
  const { type } = tree.schema;
  const say = (detail: string): void => void state.errors.push(invalidValue(path, type, detail));
  const bindings = {
    get self() {
      return viewOf(value, tree.like);
    },
    get oldSelf() {
      return viewOf(old, tree.like);
    },
  };
  for (const compiled of tree.rules) {
    const { rule, program, error, transition } = compiled;
    const optional = rule.optionalOldSelf === true;
    if (error !== undefined) say(`rule compile error: ${error}`);
    const skipped = transition ? old === undefined && !(optional && state.ratcheting) : kept;
    if (!program || skipped) continue;
    const outcome = evaluated(program, optional ? withOptionalOld(bindings, old) : bindings, transition);
    yield;
    state.budget -= outcome.cost;
    if (state.budget < 0)
      return say(
        "validation failed due to running out of cost budget, no further validation rules will be run",
      );
    if ("error" in outcome) {
      if (outcome.exceeded) {
        say(
          `'${outcome.error}': no further validation rules will be run due to call cost exceeds limit for rule: ${textOf(rule)}`,
        );
        state.budget = -1;
        return;
      }
      say(
        outcome.error.startsWith("no such overload")
          ? `'${outcome.error}': call arguments did not match a supported operator, function or macro signature for rule: ${textOf(rule)}`
          : `${outcome.error} evaluating rule: ${textOf(rule)}`,
      );
    } else if (outcome.value !== true) {
      const detail = messageOf(compiled, bindings, old !== undefined, state);
      const field = compiled.fieldPath ? joined(path, compiled.fieldPath) : path;
      // An error about the cost of a rule's message does not use the rule's reason.
      const reason = state.budget < 0 ? undefined : rule.reason;
      state.errors.push(broken(reason, field, type, detail));
    }
  }
}

const joined = (path: string, below: string): string => (path === "<nil>" ? below : `${path}.${below}`);

/** Returns the error for a value that violates a rule. */
function broken(reason: string | undefined, field: string, type: string, detail: string): FieldError {
  switch (reason) {
    case "FieldValueForbidden":
      return forbiddenField(field, detail);
    case "FieldValueRequired":
      return required(field, detail);
    case "FieldValueDuplicate":
      return duplicate(field, type);
    default:
      return invalidValue(field, type, detail);
  }
}

type Outcome = ReturnType<Program["evaluate"]>;

interface RuleBindings {
  readonly self: Value;
  readonly oldSelf: Value;
}

const withOptionalOld = (bindings: RuleBindings, old: unknown): RuleBindings => ({
  get self() {
    return bindings.self;
  },
  get oldSelf() {
    return optionalOf(old === undefined ? undefined : bindings.oldSelf);
  },
});

function evaluated(program: Program, bindings: RuleBindings, withOld: boolean): Outcome {
  try {
    const { self } = bindings;
    return program.evaluate(withOld ? { self, oldSelf: bindings.oldSelf } : { self }, ruleLimit);
  } catch (error) {
    // The value does not match its schema.
    return { error: (error as Error).message, cost: 0, exceeded: false };
  }
}

const textOf = ({ rule, message }: ValidationRule): string => (message || rule).trim();

/**
 * Returns the message of a failed rule: the result of its messageExpression, its message, or the rule itself.
 */
function messageOf(compiled: CompiledRule, bindings: RuleBindings, withOld: boolean, state: State): string {
  const { rule, message } = compiled;
  const usual = rule.message ? rule.message.trim() : `failed rule: ${rule.rule.trim()}`;
  if (!message) return usual;
  const outcome = evaluated(message, bindings, withOld && message.reads("oldSelf"));
  state.budget -= outcome.cost;
  if (state.budget < 0)
    return "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run";
  if ("error" in outcome) {
    if (!outcome.exceeded) return usual;
    state.budget = -1;
    return `no further validation rules will be run due to call cost exceeds limit for messageExpression: "${rule.messageExpression}"`;
  }
  const text = typeof outcome.value === "string" ? outcome.value.trim() : "";
  return text === "" || text.includes("\n") || Buffer.byteLength(text) > maxMessageBytes ? usual : text;
}
