// The strategy of a kind that is defined at run time: what its schema says, and no more.
import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from "#api";
import { type FieldError, type FieldErrorType, type Steps, invalidValue } from "#base";
import type { Dialect } from "#dialect";
import { type ApiObject, type Served, type Strategy, type Verb, strategy } from "#registry";
import type { DefinitionGates } from "../definitions/disabled-fields.ts";
import { embeddedErrors } from "../structural/embedded.ts";
import { listTypeErrors } from "../structural/list-types.ts";
import { changedErrors } from "../structural/ratchet.ts";
import { type RuleObserver, type RuleSet, ruleSet } from "../structural/rules.ts";
import { type ValueCheck, compileValues, valueErrors } from "../structural/values.ts";
import { customColumns } from "./columns.ts";
import type { CustomKind } from "./kind.ts";
import { customScale, scaleSpecErrors, scaleStatusErrors } from "./scale.ts";

/** In the order in which discovery lists them. */
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
  /** All versions, so that owners of fields are understood in whichever they speak. */
  readonly served: readonly Served[];
  readonly dialect: Dialect;
  readonly ruleObserver?: RuleObserver | undefined;
  readonly gates: DefinitionGates;
  /** The minor release whose functions rules have. */
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
  ): Steps<FieldError[]> {
    const structural = kind.structural();
    const found = values(object);
    const errors = [
      ...(ratcheting && old && found.length > 0 ? changedErrors(found, object, old, structural) : found),
      ...(part === "spec" ? scaleSpecErrors(object, scale) : []),
      ...scaleStatusErrors(object, scale),
      ...(part === "spec" ? embeddedErrors(object, structural) : []),
    ];
    // Lists that were not unique before need not become so.
    if (!old || listTypeErrors(old, structural).length === 0)
      errors.push(...listTypeErrors(object, structural));
    const language = { dialect, release: options.expressionRelease };
    rules ??= {
      set: gates.expressions ? yield* ruleSet(structural, true, language, options.ruleObserver) : undefined,
    };
    if (!rules.set) return errors;
    return errors.some(({ type }) => blocking.has(type))
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
    fields: () => ({}),
    conditionalUpdate: true,
    generation: true,
    ...(statusPart ? { status: "cleared" } : { generationCountsStatus: true }),
    restore: (object) => {
      // Objects of early releases have none.
      object.metadata.generation ||= 1;
      open.dropNulls(object as unknown as Record<string, unknown>);
      open.applyDefaults(object as unknown as Record<string, unknown>);
    },
    // What is shown of a status nobody has written yet.
    prepareForCreate: (object) => open.applyDefaults(object as unknown as Record<string, unknown>),
    validateInSteps: (object, old) => errorsOf(object, old, "spec"),
    columns: customColumns(version.additionalPrinterColumns),
    ...(scale && { scale: customScale(scale, spec) }),
    subresources: statusPart
      ? {
          status: {
            merge: (sent, old) => withStatus(sent, old),
            validateInSteps: (object, old) => errorsOf(object, old, "status"),
            resets: ["spec"],
          },
        }
      : {},
  });
}

/** Rules are written for objects that have the right shape. */
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

/** Nothing but the status is taken from what was sent, and who owns it. */
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
