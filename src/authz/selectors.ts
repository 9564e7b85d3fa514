// The selectors of requests as authorizers see them: of a request, of an access review, and in a review for a
// webhook. A selector only narrows what is requested, so requirements that cannot be understood are dropped.
import type {
  FieldSelectorAttributes,
  FieldSelectorRequirement,
  LabelSelectorAttributes,
  ResourceAttributes,
} from "#api";
import {
  type FieldError,
  type Requirement,
  forbiddenField,
  invalidValue,
  isLabelValue,
  isQualifiedName,
  parseFieldSelector,
  parseLabelSelector,
  required,
} from "#base";
import { labelValueProblems, qualifiedNameProblems } from "#schema";
import type { Selectors } from "./authorizer.ts";

/** Returns the selectors of query parameters; undefined without any requirement. */
export const selectorsOf = (fields: string, labels: string): Selectors | undefined =>
  nonEmpty({ fields: parsed(fields, parseFieldSelector), labels: parsed(labels, parseLabelSelector) });

const nonEmpty = (selectors: Selectors): Selectors | undefined =>
  selectors.fields.length + selectors.labels.length > 0 ? selectors : undefined;

function parsed(text: string, parse: (text: string) => readonly Requirement[]): readonly Requirement[] {
  if (text === "") return [];
  try {
    return parse(text);
  } catch {
    return [];
  }
}

type Given = FieldSelectorAttributes | LabelSelectorAttributes | undefined;
/** Both kinds of requirements have the same fields. */
type StatedRequirement = FieldSelectorRequirement;

/** Returns the selectors of an access review. */
export const reviewedSelectors = ({
  fieldSelector,
  labelSelector,
}: ResourceAttributes): Selectors | undefined =>
  nonEmpty({
    fields: fieldSelector?.requirements?.length
      ? fieldSelector.requirements.flatMap(fieldRequirement)
      : parsed(fieldSelector?.rawSelector ?? "", parseFieldSelector),
    labels: labelSelector?.requirements?.length
      ? labelSelector.requirements.flatMap(labelRequirement)
      : parsed(labelSelector?.rawSelector ?? "", parseLabelSelector),
  });

const operators = { In: "in", NotIn: "notin", Exists: "exists", DoesNotExist: "!" } as const;
const operatorOf = (name: string): Requirement["operator"] | undefined =>
  Object.hasOwn(operators, name) ? operators[name as keyof typeof operators] : undefined;

/** Fields are compared with exactly one value. */
function fieldRequirement({ key, operator: name, values = [] }: StatedRequirement): Requirement[] {
  const operator = operatorOf(name);
  return (operator === "in" || operator === "notin") && values.length === 1
    ? [{ key, operator, values }]
    : [];
}

function labelRequirement({ key, operator: name, values = [] }: StatedRequirement): Requirement[] {
  const operator = operatorOf(name);
  if (operator === undefined || !isQualifiedName(key) || !values.every(isLabelValue)) return [];
  return [{ key, operator, values: values.toSorted() }];
}

/** Returns the errors of the selectors of an access review. Unknown operators may be those of later releases. */
export function selectorErrors({ fieldSelector, labelSelector }: ResourceAttributes): FieldError[] {
  const path = "spec.resourceAttributes";
  return [
    ...attributeErrors(fieldSelector, `${path}.fieldSelector`, ({ key }, at) =>
      key === "" ? [required(`${at}.key`, "must be specified")] : [],
    ),
    ...attributeErrors(labelSelector, `${path}.labelSelector`, ({ key, values }, at) => [
      ...qualifiedNameProblems(key).map((problem) => invalidValue(`${at}.key`, key, problem)),
      ...(values ?? []).flatMap((value, index) =>
        labelValueProblems(value).map((problem) => invalidValue(`${at}.values[${index}]`, value, problem)),
      ),
    ]),
  ];
}

function attributeErrors(
  given: Given,
  path: string,
  others: (requirement: StatedRequirement, at: string) => FieldError[],
): FieldError[] {
  if (!given) return [];
  const { rawSelector = "", requirements = [] } = given;
  const errors: FieldError[] = [];
  if (rawSelector !== "" && requirements.length > 0)
    errors.push(
      invalidValue(`${path}.rawSelector`, rawSelector, "may not specified at the same time as requirements"),
    );
  if (rawSelector === "" && requirements.length === 0)
    errors.push(
      required(`${path}.requirements`, `when ${path} is specified, requirements or rawSelector is required`),
    );
  requirements.forEach((requirement, index) => {
    const at = `${path}.requirements[${index}]`;
    errors.push(...valueErrors(requirement, `${at}.values`), ...others(requirement, at));
  });
  return errors;
}

function valueErrors({ operator, values = [] }: StatedRequirement, at: string): FieldError[] {
  if ((operator === "In" || operator === "NotIn") && values.length === 0)
    return [required(at, "must be specified when `operator` is 'In' or 'NotIn'")];
  if ((operator === "Exists" || operator === "DoesNotExist") && values.length > 0)
    return [forbiddenField(at, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
  return [];
}

const names: Readonly<Partial<Record<Requirement["operator"], string>>> = {
  in: "In",
  notin: "NotIn",
  exists: "Exists",
  "!": "DoesNotExist",
};

/** Returns the fields of a review that state the selectors; requirements without a name there are omitted. */
export function selectorAttributes(selectors: Selectors | undefined): {
  readonly fieldSelector?: { readonly requirements: readonly object[] };
  readonly labelSelector?: { readonly requirements: readonly object[] };
} {
  const stated = (requirements: readonly Requirement[]): object[] =>
    requirements.flatMap(({ key, operator, values }) => {
      const name = names[operator];
      return name === undefined ? [] : [{ key, operator: name, ...(values.length > 0 && { values }) }];
    });
  const [fields, labels] = [stated(selectors?.fields ?? []), stated(selectors?.labels ?? [])];
  return {
    ...(fields.length > 0 && { fieldSelector: { requirements: fields } }),
    ...(labels.length > 0 && { labelSelector: { requirements: labels } }),
  };
}
