// The strategy of a custom kind, derived from its schema.
import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from "#api";
import { type FieldError, type FieldErrorType, type Steps, invalidValue } from "#base";
import type { Dialect } from "#dialect";
import { type ApiObject, type Served, type Strategy, type Verb, strategy } from "#registry";
import type { DefinitionGates } from "../definitions/disabled-fields.ts";
import { selectableValues } from "../definitions/selectable-fields.ts";
import { embeddedErrors } from "../structural/embedded.ts";
import { listTypeErrors } from "../structural/list-types.ts";
import { changedErrors } from "../structural/ratchet.ts";
import { type RuleObserver, type RuleSet, ruleSet } from "../structural/rules.ts";
import { type ValueCheck, compileValues, valueErrors } from "../structural/values.ts";
import { customColumns } from "./columns.ts";
import type { CustomKind } from "./kind.ts";
import { customScale, scaleSpecErrors, scaleStatusErrors } from "./scale.ts";

/** In the order of discovery. */
const verbs: readonly Verb[] = [
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "create",
  "update",
  "watch",
];

type Part = "spec" | "status";

export interface CustomStrategyOptions {
  readonly definition: CustomResourceDefinition;
  readonly version: CustomResourceDefinitionVersion;
  readonly kind: CustomKind;
  /** All served versions, so that field owners of each are understood. */
  readonly served: readonly Served[];
  readonly dialect: Dialect;
  readonly ruleObserver?: RuleObserver | undefined;
  readonly gates: DefinitionGates;
  /** The minor release whose functions are available to rules. */
  readonly expressionRelease: number;
  terminating(): boolean;
}

export function customStrategy(options: CustomStrategyOptions): Strategy {
  const { definition, version, kind, served, dialect, gates } = options;
  const { ratcheting } = gates;
  const { spec, status } = definition;
  const names = status.acceptedNames.plural ? status.acceptedNames : spec.names;
  const open = kind.schema.more.open!;
  const { status: statusPart, scale } = version.subresources ?? {};
  let check: ValueCheck | undefined;
  const values = (object: ApiObject): FieldError[] =>
    kind.props ? valueErrors((check ??= compileValues(kind.props, { dialect })), object, "") : [];
  let rules: { readonly set: RuleSet | undefined } | undefined;
  const errorsOf = function* (
    object: ApiObject,
    old: ApiObject | undefined,
    part: Part,
    earlier: readonly FieldError[],
  ): Steps<FieldError[]> {
    const structural = kind.structural();
    const found = values(object);
    const errors = [
      ...(ratcheting && old && found.length > 0 ? changedErrors(found, object, old, structural) : found),
      ...(part === "spec" ? scaleSpecErrors(object, scale) : []),
      ...scaleStatusErrors(object, scale),
      ...(part === "spec" ? embeddedErrors(object, structural) : []),
    ];
    // Lists that already contained duplicates need not become unique.
    if (!old || listTypeErrors(old, structural).length === 0)
      errors.push(...listTypeErrors(object, structural));
    const language = { dialect, release: options.expressionRelease };
    rules ??= {
      set: gates.expressions ? yield* ruleSet(structural, true, language, options.ruleObserver) : undefined,
    };
    if (!rules.set) return errors;
    const isBlocking = ({ type }: FieldError): boolean =>
      blocking.has(type) || (type === "FieldValueNotSupported" && language.release >= 29);
    return [...earlier, ...errors].some(isBlocking)
      ? [...errors, notChecked]
      : [...errors, ...(yield* rules.set.errors(object, old, "", ratcheting))];
  };
  return strategy<ApiObject>({
    custom: true,
    terminating: () => options.terminating(),
    resource: spec.names.plural,
    singular: names.singular ?? "",
    ...(names.shortNames && { shortNames: names.shortNames }),
    ...(names.categories && { categories: names.categories }),
    scope: spec.scope === "Cluster" ? "Cluster" : "Namespaced",
    hub: kind.schema,
    served,
    storagePath: `${spec.group}/${spec.names.plural}`,
    verbs,
    metaChecks: { anyFinalizer: true },
    fields: selectableValues(version, (object) => open.applyDefaults(object)),
    conditionalUpdate: true,
    generation: true,
    ...(statusPart ? { status: "cleared" } : { generationCountsStatus: true }),
    restore: (object) => {
      // Objects stored by early releases have no generation.
      object.metadata.generation ||= 1;
      open.dropNulls(object as unknown as Record<string, unknown>);
      open.applyDefaults(object as unknown as Record<string, unknown>);
    },
    // Applies defaults to the initial status.
    prepareForCreate: (object) => open.applyDefaults(object as unknown as Record<string, unknown>),
    validateInSteps: (object, old, _ctx, earlier) => errorsOf(object, old, "spec", earlier),
    columns: customColumns(version.additionalPrinterColumns),
    ...(scale && { scale: customScale(scale, spec) }),
    subresources: statusPart
      ? {
          status: {
            merge: (sent, old) => withStatus(sent, old),
            validateInSteps: (object, old, _ctx, earlier) => errorsOf(object, old, "status", earlier),
            resets: ["spec"],
          },
        }
      : {},
  });
}

/** Errors after which rules are not evaluated, as they rely on a valid structure. */
const blocking: ReadonlySet<FieldErrorType> = new Set<FieldErrorType>([
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);
const notChecked = invalidValue(
  "<nil>",
  null,
  "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
);

/** Returns the old object with only the status and managedFields that were sent. */
function withStatus(sent: ApiObject, old: ApiObject): ApiObject {
  const { resourceVersion, managedFields } = sent.metadata;
  const { status: _, ...rest } = old as ApiObject & { status?: unknown };
  const { status } = sent as ApiObject & { status?: unknown };
  return {
    ...rest,
    metadata: { ...old.metadata, resourceVersion, managedFields },
    ...(status !== undefined && { status }),
  };
}
