// Serves access and rules reviews. Reviews are passed decoded; the response is the review with its status
// set.

import type {
  LocalSubjectAccessReview,
  NonResourceAttributes,
  ResourceAttributes,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  SubjectAccessReviewSpec,
  SubjectAccessReviewStatus,
} from "#api";
import type { User } from "#authn";
import { ApiError, badRequest, type FieldError, fieldErrorText, invalidValue } from "#base";
import { type Dialect, groupName } from "#dialect";
import type { Attributes, Authorizer } from "./authorizer.ts";
import { type AccessExplainer, explanationAnnotation } from "./explain.ts";
import { reviewedSelectors, selectorErrors } from "./selectors.ts";

/** Serves a SubjectAccessReview: whether a given user may perform an action. */
export async function reviewAccess(
  review: SubjectAccessReview,
  authorizer: Authorizer,
  dialect: Dialect,
): Promise<SubjectAccessReview> {
  rejectInvalid(
    [...actionErrors(review.spec), ...userErrors(review.spec), ...metadataErrors(review.metadata, [])],
    dialect,
  );
  return { ...review, status: await statusOf(authorizer, attributesOf(review.spec)) };
}

/** Adds an explanation to a review, for clients that request it. */
export async function explainReview(
  review: SubjectAccessReview,
  requester: User,
  explainer: AccessExplainer,
): Promise<SubjectAccessReview> {
  const explanation = await explainer.explain(attributesOf(review.spec), requester);
  const annotations = { [explanationAnnotation]: JSON.stringify(explanation) };
  return { ...review, metadata: { ...review.metadata, annotations } };
}

/**
 * Serves a LocalSubjectAccessReview: whether a given user may perform an action in the request's namespace.
 */
export async function reviewLocalAccess(
  review: LocalSubjectAccessReview,
  namespace: string,
  authorizer: Authorizer,
  dialect: Dialect,
): Promise<LocalSubjectAccessReview> {
  const { spec, metadata } = review;
  const namespaceOfReview = metadata.namespace || namespace;
  const errors = [...actionErrors(spec), ...userErrors(spec), ...metadataErrors(metadata, ["namespace"])];
  const requestedNamespace = spec.resourceAttributes?.namespace ?? "";
  if (spec.resourceAttributes && requestedNamespace !== namespaceOfReview)
    errors.push(
      invalidValue("spec.resourceAttributes.namespace", requestedNamespace, "must match metadata.namespace"),
    );
  if (spec.nonResourceAttributes)
    errors.push(
      invalidValue(
        "spec.nonResourceAttributes",
        spec.nonResourceAttributes,
        "disallowed on this kind of request",
      ),
    );
  rejectInvalid(errors, dialect);
  if (namespace !== namespaceOfReview)
    throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`);
  return { ...review, status: await statusOf(authorizer, attributesOf(spec)) };
}

/** Serves a SelfSubjectAccessReview: whether the requester may perform an action. */
export async function reviewOwnAccess(
  review: SelfSubjectAccessReview,
  user: User,
  authorizer: Authorizer,
  dialect: Dialect,
): Promise<SelfSubjectAccessReview> {
  rejectInvalid([...actionErrors(review.spec), ...metadataErrors(review.metadata, [])], dialect);
  return { ...review, status: await statusOf(authorizer, actionOf(user, review.spec)) };
}

/** Serves a SelfSubjectRulesReview: all actions the requester may perform in a namespace. */
export function reviewOwnRules(
  review: SelfSubjectRulesReview,
  user: User,
  authorizer: Authorizer,
): SelfSubjectRulesReview {
  const { namespace } = review.spec;
  if (!namespace) throw badRequest("no namespace on request");
  const { resourceRules, nonResourceRules, incomplete, error } = authorizer.rulesFor(user, namespace);
  return {
    ...review,
    // Clients read the status only; the spec is not echoed.
    metadata: { creationTimestamp: null },
    spec: {},
    status: {
      resourceRules: [...resourceRules],
      nonResourceRules: [...nonResourceRules],
      incomplete,
      ...(error && { evaluationError: error }),
    },
  };
}

interface Action {
  readonly resourceAttributes?: ResourceAttributes | undefined;
  readonly nonResourceAttributes?: NonResourceAttributes | undefined;
}

function actionOf(user: User, { resourceAttributes: on, nonResourceAttributes: path }: Action): Attributes {
  if (!on) return { user, verb: path?.verb ?? "", path: path?.path ?? "" };
  const {
    verb = "",
    group = "",
    version = "",
    resource = "",
    subresource = "",
    namespace = "",
    name = "",
  } = on;
  const target = { group, version, resource, subresource, namespace, name };
  const selectors = reviewedSelectors(on);
  return { user, verb, resource: target, ...(selectors && { selectors }) };
}

function attributesOf(spec: SubjectAccessReviewSpec): Attributes {
  const user: User = {
    name: spec.user ?? "",
    groups: spec.groups ?? [],
    ...(spec.uid && { uid: spec.uid }),
    ...(spec.extra && { extra: presentValues(spec.extra) }),
  };
  return actionOf(user, spec);
}

const presentValues = (
  extra: Readonly<Record<string, readonly string[] | null>>,
): Record<string, readonly string[]> =>
  Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, values ?? []]));

async function statusOf(authorizer: Authorizer, attributes: Attributes): Promise<SubjectAccessReviewStatus> {
  const { verdict, reason, error } = await authorizer.decide(attributes);
  return {
    allowed: verdict === "allow",
    ...(verdict === "deny" && { denied: true }),
    ...(reason && { reason }),
    ...(error && { evaluationError: error }),
  };
}

function actionErrors({ resourceAttributes, nonResourceAttributes }: Action): FieldError[] {
  if (resourceAttributes && nonResourceAttributes)
    return [
      invalidValue(
        "spec.nonResourceAttributes",
        nonResourceAttributes,
        "cannot be specified in combination with resourceAttributes",
      ),
    ];
  if (!resourceAttributes && !nonResourceAttributes)
    return [
      invalidValue(
        "spec.resourceAttributes",
        null,
        "exactly one of nonResourceAttributes or resourceAttributes must be specified",
      ),
    ];
  return resourceAttributes ? selectorErrors(resourceAttributes) : [];
}

const userErrors = ({ user, groups }: SubjectAccessReviewSpec): FieldError[] =>
  user || groups?.length
    ? []
    : [invalidValue("spec.user", user ?? "", "at least one of user or group must be specified")];

function metadataErrors(metadata: object, allowed: readonly string[]): FieldError[] {
  const given = Object.entries(metadata).filter(
    ([key, value]) => key !== "managedFields" && !allowed.includes(key) && !isEmpty(value),
  );
  return given.length
    ? [
        invalidValue(
          "metadata",
          metadata,
          allowed.length ? `must be empty except for ${allowed.join(", ")}` : "must be empty",
        ),
      ]
    : [];
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === "" ||
  value === 0 ||
  (typeof value === "object" && Object.keys(value).length === 0);

/** Throws a 422. The error names the group, but neither kind nor name, as reviews have none. */
function rejectInvalid(errors: readonly FieldError[], dialect: Dialect): void {
  if (!errors.length) return;
  const group = groupName(dialect, { group: "authorization", branded: true });
  const texts = errors.map(fieldErrorText);
  const message = `.${group} "" is invalid: ${texts.length === 1 ? texts[0]! : `[${texts.join(", ")}]`}`;
  throw new ApiError(422, "Invalid", message, {
    group,
    causes: errors.map((error) => ({
      reason: error.type,
      message: fieldErrorText(error).slice(error.field.length + 2),
      field: error.field,
    })),
  });
}
