// Validating admission policies and their bindings.
import { admissionExpressions, compileVariables } from "#admission";
import {
  type AuditAnnotation,
  type MatchResources,
  type NamedRuleWithOperations,
  type ParamKind,
  type ParamRef,
  type PolicyValidation,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  laterPolicies,
} from "#api";
import { type FieldError, duplicate, forbiddenField, invalidValue, required } from "#base";
import { type CelType, types } from "#cel";
import { dns1035LabelProblems, dns1123SubdomainProblems } from "#schema";
import { isDeepStrictEqual } from "node:util";
import { pathSegment } from "../names.ts";
import { type KindSchema, type RequestContext, type Strategy, strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { bareStatusPart } from "./parts.ts";
import { conditionErrors } from "./rules/conditions.ts";
import { qualifiedNameErrors } from "./rules/format.ts";
import { labelSelectorErrors } from "./rules/label-selector.ts";
import { matchConditionErrors } from "./rules/match-conditions.ts";
import { supported } from "./rules/one-of.ts";
import { repeats } from "./rules/repeats.ts";
import { ruleErrors } from "./webhook-configuration.ts";

type Spec = ValidatingAdmissionPolicy["spec"];

const maxAnnotations = 20;
const maxValueExpressionBytes = 5 * 1024;
const reasons = ["Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"];
const actions = ["Audit", "Deny", "Warn"];

type Seen = Parameters<ReturnType<typeof admissionExpressions>["compile"]>[2];

const expressionsFor = ({ dialect, settings }: RequestContext): ReturnType<typeof admissionExpressions> =>
  admissionExpressions(dialect.cli.product, settings.expressionRelease, settings.strictPolicyCosts);

/**
 * Validates a policy. Policies of later releases also have variables and access to the object's namespace.
 */
function policyErrors(
  policy: ValidatingAdmissionPolicy,
  ctx: RequestContext,
  later: boolean,
  old?: Spec,
): FieldError[] {
  const { spec, metadata } = policy;
  const withParams = spec.paramKind !== undefined;
  const composed = compileVariables(expressionsFor(ctx), spec);
  const seen: Seen = { params: withParams, later: later ? { variables: composed.types } : undefined };
  const errors = [
    ...supported(spec.failurePolicy ?? "", "spec.failurePolicy", ["Fail", "Ignore"]),
    ...(spec.paramKind ? paramKindErrors(spec.paramKind, "spec.paramKind") : []),
    ...constraintErrors(spec.matchConstraints),
  ];
  if (
    !old ||
    !isDeepStrictEqual([spec.matchConditions, withParams], [old.matchConditions, old.paramKind !== undefined])
  )
    errors.push(
      ...matchConditionErrors(
        spec.matchConditions,
        "spec.matchConditions",
        ctx,
        ctx.settings.strictPolicyCosts,
        {
          params: withParams,
          later: later ? {} : undefined,
        },
      ),
    );
  spec.variables?.forEach((variable, position) =>
    errors.push(...variableErrors(variable, composed.variables[position]?.compiled.error, position)),
  );
  const { validations = [], auditAnnotations = [] } = spec;
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const detail = "validations or auditAnnotations must contain at least one item";
    return [...errors, required("spec.validations", detail), required("spec.auditAnnotations", detail)];
  }
  validations.forEach((validation, position) =>
    errors.push(...validationErrors(validation, `spec.validations[${position}]`, ctx, seen)),
  );
  return [...errors, ...annotationErrors(auditAnnotations, metadata.name ?? "", ctx, seen)];
}

/** A valid CEL identifier. */
const identifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
const reserved = new Set(
  "as break const continue else false for function if import in let loop namespace null package return true var void while".split(
    " ",
  ),
);

function variableErrors(
  { name, expression }: NonNullable<Spec["variables"]>[number],
  problem: string | undefined,
  position: number,
): FieldError[] {
  const at = `spec.variables[${position}]`;
  const errors: FieldError[] = [];
  if (name.trim() === "") errors.push(required(`${at}.name`, "name is not specified"));
  else if (!identifier.test(name) || reserved.has(name))
    errors.push(invalidValue(`${at}.name`, name, "name is not a valid CEL identifier"));
  if (expression.trim() === "") errors.push(required(`${at}.expression`, "expression is not specified"));
  else if (problem !== undefined) errors.push(invalidValue(`${at}.expression`, expression, problem));
  return errors;
}

function constraintErrors(constraints: MatchResources | undefined): FieldError[] {
  const path = "spec.matchConstraints";
  if (!constraints) return [required(path)];
  const errors = matchResourcesErrors(constraints, path);
  return constraints.resourceRules?.length ? errors : [...errors, required(`${path}.resourceRules`)];
}

function paramKindErrors({ apiVersion = "", kind = "" }: ParamKind, at: string): FieldError[] {
  const errors: FieldError[] = [];
  const [first = "", second, ...more] = apiVersion.split("/");
  const [group, version] = second === undefined ? ["", first] : [first, second];
  const wrong = (value: string, problems: readonly string[]) => {
    if (problems.length > 0) errors.push(invalidValue(`${at}.apiVersion`, value, problems.join(",")));
  };
  if (apiVersion === "") errors.push(required(`${at}.apiVersion`));
  else if (more.length > 0) wrong(apiVersion, [`unexpected GroupVersion string: ${apiVersion}`]);
  else {
    if (group !== "") wrong(group, dns1123SubdomainProblems(group));
    if (version === "") wrong(apiVersion, ["version must be specified"]);
    else wrong(version, dns1035LabelProblems(version));
  }
  const problems = dns1035LabelProblems(kind.toLowerCase());
  if (kind === "") errors.push(required(`${at}.kind`));
  else if (problems.length > 0)
    errors.push(
      invalidValue(
        `${at}.kind`,
        kind,
        `may have mixed case, but should otherwise match: ${problems.join(",")}`,
      ),
    );
  return errors;
}

function matchResourcesErrors(resources: MatchResources, at: string): FieldError[] {
  const named = (rules: readonly NamedRuleWithOperations[] | undefined, path: string) =>
    (rules ?? []).flatMap((rule, position) => namedRuleErrors(rule, `${path}[${position}]`));
  return [
    ...supported(resources.matchPolicy ?? "", `${at}.matchPolicy`, ["Equivalent", "Exact"]),
    ...labelSelectorErrors(resources.namespaceSelector, `${at}.namespaceSelector`),
    // The reference reports this selector under another field name.
    ...labelSelectorErrors(resources.objectSelector, `${at}.labelSelector`),
    ...named(resources.resourceRules, `${at}.resourceRules`),
    ...named(resources.excludeResourceRules, `${at}.excludeResourceRules`),
  ];
}

function namedRuleErrors(rule: NamedRuleWithOperations, at: string): FieldError[] {
  const repeated = repeats<string>();
  const errors = (rule.resourceNames ?? []).flatMap((name, position) => {
    const field = `${at}.resourceNames[${position}]`;
    const problems = pathSegment(name).map((detail) => invalidValue(field, name, detail));
    return repeated(name) ? [...problems, duplicate(field, name)] : problems;
  });
  return [...errors, ...ruleErrors(rule, at)];
}

/** Returns the compilation error of the expression. */
function expressionErrors(
  source: string,
  field: string,
  results: readonly CelType[],
  ctx: RequestContext,
  variables: Seen,
  shown = source,
): FieldError[] {
  const { error } = expressionsFor(ctx).compile(source, results, variables);
  return error === undefined ? [] : [invalidValue(field, shown, error)];
}

function validationErrors(
  { expression, message = "", messageExpression = "", reason }: PolicyValidation,
  at: string,
  ctx: RequestContext,
  seen: Seen,
): FieldError[] {
  const errors =
    expression.trim() === ""
      ? [required(`${at}.expression`, "expression is not specified")]
      : expressionErrors(expression, `${at}.expression`, [types.bool], ctx, seen);
  if (messageExpression !== "" && messageExpression.trim() === "")
    errors.push(invalidValue(`${at}.messageExpression`, messageExpression, "must be non-empty if specified"));
  else if (messageExpression !== "") {
    const variables = { ...seen, authorizer: false };
    errors.push(
      ...expressionErrors(messageExpression, `${at}.messageExpression`, [types.string], ctx, variables),
    );
  }
  if (message !== "" && message.trim() === "")
    errors.push(invalidValue(`${at}.message`, message, "message must be non-empty if specified"));
  else if (/[\n\r]/.test(message.trim()))
    errors.push(invalidValue(`${at}.message`, message, "message must not contain line breaks"));
  if (reason !== undefined) errors.push(...supported(reason, `${at}.reason`, allowedReasons));
  return errors;
}

const allowedReasons = reasons.filter((reason) => reason !== "Unauthorized");

function annotationErrors(
  annotations: readonly AuditAnnotation[],
  policy: string,
  ctx: RequestContext,
  seen: Seen,
): FieldError[] {
  const path = "spec.auditAnnotations";
  const errors: FieldError[] = [];
  if (annotations.length > maxAnnotations)
    errors.push(
      invalidValue(path, annotations, `must not have more than ${maxAnnotations} auditAnnotations`),
    );
  const repeated = repeats<string>();
  annotations.forEach(({ key, valueExpression }, position) => {
    const at = `${path}[${position}]`;
    if (policy === "") errors.push(invalidValue(`${at}.key`, key, "requires metadata.name be non-empty"));
    else errors.push(...qualifiedNameErrors(`${policy}/${key}`, `${at}.key`));
    const field = `${at}.valueExpression`;
    const source = valueExpression.trim();
    if (source === "") errors.push(required(field, "valueExpression is not specified"));
    else if (Buffer.byteLength(source) > maxValueExpressionBytes)
      errors.push(required(field, `must not exceed ${maxValueExpressionBytes} bytes in length`));
    else
      errors.push(...expressionErrors(source, field, [types.string, types.null], ctx, seen, valueExpression));
    if (repeated(key)) errors.push(duplicate(`${at}.key`, key));
  });
  return errors;
}

function statusErrors({ status }: ValidatingAdmissionPolicy): FieldError[] {
  const path = "status.typeChecking.expressionWarnings";
  const warnings = status.typeChecking?.expressionWarnings ?? [];
  return [
    ...warnings.flatMap(({ fieldRef, warning }, position) => [
      ...(warning === "" ? [required(`${path}[${position}].warning`)] : []),
      ...(fieldRef.trim() === "" ? [required(`${path}[${position}].fieldRef`)] : []),
    ]),
    ...conditionErrors(status.conditions, "status.conditions"),
  ];
}

function bindingErrors({ spec }: ValidatingAdmissionPolicyBinding, later: boolean): FieldError[] {
  const { policyName = "", paramRef, matchResources, validationActions = [] } = spec;
  return [
    ...(policyName === ""
      ? [required("spec.policyName")]
      : dns1123SubdomainProblems(policyName).map((detail) =>
          invalidValue("spec.policyName", policyName, detail),
        )),
    ...(paramRef ? (later ? laterParamRefErrors(paramRef) : paramRefErrors(paramRef)) : []),
    // The reference misspells the field.
    ...(matchResources ? matchResourcesErrors(matchResources, "spec.matchResouces") : []),
    ...actionErrors(validationActions, "spec.validationActions"),
  ];
}

const paramRefErrors = ({ name = "" }: ParamRef): FieldError[] =>
  pathSegment(name).map((detail) => invalidValue("spec.paramRef.name", name, detail));

function laterParamRefErrors(ref: ParamRef): FieldError[] {
  const { name = "", selector, parameterNotFoundAction: action = "" } = ref;
  const at = "spec.paramRef";
  const exclusive = "name and selector are mutually exclusive";
  return [
    ...(name === "" ? [] : paramRefErrors(ref)),
    ...(name !== "" && selector ? [forbiddenField(`${at}.name`, exclusive)] : []),
    ...labelSelectorErrors(selector, `${at}.selector`),
    ...(name !== "" && selector ? [forbiddenField(`${at}.selector`, exclusive)] : []),
    ...(name === "" && !selector ? [required(at, "one of name or selector must be specified")] : []),
    ...(action === ""
      ? [required(`${at}.parameterNotFoundAction`)]
      : supported(action, `${at}.parameterNotFoundAction`, ["Deny", "Allow"])),
  ];
}

function actionErrors(given: readonly string[], path: string): FieldError[] {
  const repeated = repeats<string>();
  const errors = given.flatMap((action, position) => {
    const field = `${path}[${position}]`;
    const unknown = supported(action, field, actions);
    return repeated(action) ? [...unknown, duplicate(field, action)] : unknown;
  });
  if (given.includes("Deny") && given.includes("Warn"))
    errors.push(
      invalidValue(
        path,
        given,
        "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)",
      ),
    );
  if (given.length === 0) errors.push(required(path, "at least one validation action is required"));
  return errors;
}

const shared = {
  scope: "Cluster",
  generation: true,
  conditionalUpdate: true,
  metaChecks: { asNew: 1, asChange: 0, anyFinalizer: true },
  categories: ["api-extensions"],
} as const;

interface Versions {
  readonly hub: KindSchema;
  readonly served?: readonly { readonly schema: KindSchema }[];
}

const policyStrategy = (versions: Versions, later: boolean) =>
  strategy<ValidatingAdmissionPolicy>({
    ...shared,
    ...versions,
    resource: "validatingadmissionpolicies",
    singular: "validatingadmissionpolicy",
    status: "cleared",
    prepareForCreate: (obj) => {
      obj.status = {};
    },
    validate: (obj, ctx) => policyErrors(obj, ctx, later),
    validateUpdate: (obj, old, ctx) => policyErrors(obj, ctx, later, old.spec),
    subresources: { status: bareStatusPart(statusErrors) },
    columns: [
      nameColumn,
      {
        name: "Validations",
        type: "integer",
        doc: "Number of validation rules.",
        cell: ({ spec }) => spec.validations?.length ?? 0,
      },
      {
        name: "ParamKind",
        type: "string",
        doc: "Kind of the parameters of the policy.",
        cell: ({ spec: { paramKind } }) =>
          paramKind ? `${paramKind.apiVersion ?? ""}/${paramKind.kind ?? ""}` : "<unset>",
      },
      ageColumn,
    ],
  });

const bindingStrategy = (versions: Versions, later: boolean) =>
  strategy<ValidatingAdmissionPolicyBinding>({
    ...shared,
    ...versions,
    resource: "validatingadmissionpolicybindings",
    singular: "validatingadmissionpolicybinding",
    validate: (obj) => bindingErrors(obj, later),
    columns: [
      nameColumn,
      {
        name: "PolicyName",
        type: "string",
        doc: "Name of the policy that is bound.",
        cell: ({ spec }) => spec.policyName ?? "",
      },
      {
        name: "ParamRef",
        type: "string",
        doc: "Namespace and name of the parameters.",
        cell: ({ spec: { paramRef } }) =>
          paramRef ? [paramRef.namespace, paramRef.name].filter(Boolean).join("/") : "<unset>",
      },
      ageColumn,
    ],
  });

export const validatingAdmissionPolicy = policyStrategy({ hub: ValidatingAdmissionPolicy }, false);
export const validatingAdmissionPolicyBinding = bindingStrategy(
  { hub: ValidatingAdmissionPolicyBinding },
  false,
);

const { v1, v1beta1, v1alpha1 } = laterPolicies;
const later = [v1, v1beta1, v1alpha1];
const laterPolicy = policyStrategy(
  {
    hub: v1.ValidatingAdmissionPolicy,
    served: later.map((each) => ({ schema: each.ValidatingAdmissionPolicy })),
  },
  true,
);
const laterBinding = bindingStrategy(
  {
    hub: v1.ValidatingAdmissionPolicyBinding,
    served: later.map((each) => ({ schema: each.ValidatingAdmissionPolicyBinding })),
  },
  true,
);

/** Replaces the strategies of policies by those of releases from 1.28 on, with three versions. */
export const withLaterPolicies = (strategies: readonly Strategy[]): readonly Strategy[] =>
  strategies.map((each) => {
    if (each === validatingAdmissionPolicy) return laterPolicy;
    return each === validatingAdmissionPolicyBinding ? laterBinding : each;
  });
