export {
  type CelType,
  formatType,
  listOf,
  mapOf,
  objectType,
  optionalType,
  sameType,
  types,
} from "./types.ts";
export {
  type Value,
  Double,
  Duration,
  Timestamp,
  Uint,
  View,
  evaluationError,
  isList,
  optionalOf,
} from "./values.ts";
export { elements } from "./operations.ts";
export {
  type Bindings,
  type Compilation,
  type CompileOptions,
  type Environment,
  type Outcome,
  type Program,
  compile,
  compileSteps,
  environment,
} from "./program.ts";
export { type Interval, type SizeHint, unbounded } from "./interval.ts";
export {
  type SchemaLike,
  type SchemaType,
  maxRequestBytes,
  schemaTypeSteps,
  sizesOf,
  typeOfSchema,
} from "./schema/schema-type.ts";
export { escapeName } from "./schema/escape.ts";
export { viewOf } from "./schema/view.ts";
export {
  type AuthorizationDecision,
  type AuthorizationQuery,
  type Decide,
  type ResourceQuery,
  authorizerValues,
} from "./library/authorizer.ts";
export { type Pattern, compilePattern } from "./regex/pattern.ts";
