// Resource quotas: limits on the total use of a namespace, and the scopes of what is counted.
import { ResourceQuota, type ResourceQuotaSpec } from "#api";
import { type FieldError, type LiteralValue, invalidValue, own, required } from "#base";
import type { Dialect } from "#dialect";
import { strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { statusPart } from "./parts.ts";
import { goScopeSelector, goTexts } from "./rules/go-syntax.ts";
import { amountErrors, isQuotaResource, quotaResourceErrors } from "./rules/resource-name.ts";
import { roundUp } from "./rules/round-up.ts";
import { same } from "./rules/unchanged.ts";

const podResources = [
  "pods",
  "cpu",
  "memory",
  "limits.cpu",
  "limits.memory",
  "requests.cpu",
  "requests.memory",
];
/** The resources that each scope can restrict. */
const scopes: Readonly<Record<string, readonly string[]>> = {
  Terminating: podResources,
  NotTerminating: podResources,
  BestEffort: ["pods"],
  NotBestEffort: podResources,
  PriorityClass: podResources,
  CrossNamespacePodAffinity: podResources,
};
// prettier-ignore
const opposites = [["BestEffort", "NotBestEffort"], ["Terminating", "NotTerminating"]] as const;

const listErrors = (
  amounts: Readonly<Record<string, string>> | undefined,
  path: string,
  dialect: Dialect,
): FieldError[] =>
  Object.entries(amounts ?? {}).flatMap(([name, amount]) => {
    const field = `${path}[${name}]`;
    return [...quotaResourceErrors(name, field), ...amountErrors(name, amount, field, dialect)];
  });

/** Returns the resources of the quota that the scope cannot restrict. */
const misfits = (scope: string, hard: ResourceQuotaSpec["hard"]): string[] => {
  const fitting = own(scopes, scope);
  return fitting
    ? Object.keys(hard ?? {}).filter((name) => isQuotaResource(name) && !fitting.includes(name))
    : [];
};
const scopesText = (given: ResourceQuotaSpec["scopes"]): LiteralValue =>
  goTexts("core.ResourceQuotaScope", given);

const conflicting = (given: readonly string[]): number =>
  opposites.filter(([one, other]) => given.includes(one) && given.includes(other)).length;

function specErrors(spec: ResourceQuotaSpec, dialect: Dialect): FieldError[] {
  const errors = listErrors(spec.hard, "spec.hard", dialect);
  const given = spec.scopes ?? [];
  const wrong = (detail: string): FieldError => invalidValue("spec.scopes", scopesText(given), detail);
  for (const scope of given) {
    if (!own(scopes, scope)) errors.push(wrong("unsupported scope"));
    for (const _name of misfits(scope, spec.hard))
      errors.push(wrong("unsupported scope applied to resource"));
  }
  for (let pairs = conflicting(given); pairs > 0; pairs--) errors.push(wrong("conflicting scopes"));
  return [
    ...errors,
    ...(spec.scopeSelector ? selectorErrors(spec, "spec.scopeSelector.matchExpressions") : []),
  ];
}

function selectorErrors({ scopeSelector, hard }: ResourceQuotaSpec, path: string): FieldError[] {
  const expressions = scopeSelector?.matchExpressions ?? [];
  const errors = expressions.flatMap(({ scopeName, operator, values }) => {
    const found: FieldError[] = own(scopes, scopeName)
      ? []
      : [invalidValue(`${path}.scopeName`, scopeName, "unsupported scope")];
    for (const _name of misfits(scopeName, hard))
      found.push(
        invalidValue(path, goScopeSelector(scopeSelector!), "unsupported scope applied to resource"),
      );
    const present = own(scopes, scopeName) !== undefined && scopeName !== "PriorityClass";
    if (present && operator !== "Exists")
      found.push(
        invalidValue(
          `${path}.operator`,
          operator,
          "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
        ),
      );
    if (operator === "In" || operator === "NotIn") {
      if (!values?.length)
        found.push(
          required(
            `${path}.values`,
            "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
          ),
        );
    } else if (operator === "Exists" || operator === "DoesNotExist") {
      if (values?.length)
        found.push(
          invalidValue(
            `${path}.values`,
            values,
            "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
          ),
        );
    } else found.push(invalidValue(`${path}.operator`, operator, "not a valid selector operator"));
    return found;
  });
  for (let pairs = conflicting(expressions.map(({ scopeName }) => scopeName)); pairs > 0; pairs--)
    errors.push(invalidValue(path, scopeSelector, "conflicting scopes"));
  return errors;
}

const usageText =
  (ofLimits: boolean) =>
  ({ status }: ResourceQuota): string =>
    Object.keys(status.hard ?? {})
      .toSorted()
      .filter((name) => name.startsWith("limits.") === ofLimits)
      .map((name) => `${name}: ${status.used?.[name] ?? "0"}/${status.hard![name]}`)
      .join(", ");

export const resourceQuota = strategy<ResourceQuota>({
  resource: "resourcequotas",
  singular: "resourcequota",
  shortNames: ["quota"],
  scope: "Namespaced",
  hub: ResourceQuota,
  status: "cleared",
  returnsDeleted: true,
  defaults: ({ spec, status }) => {
    roundUp(spec.hard);
    roundUp(status.hard);
    roundUp(status.used);
  },
  prepareForCreate: (obj) => {
    obj.status = {};
  },
  validate: ({ spec }, { dialect }) => specErrors(spec, dialect),
  validateUpdate: ({ spec }, { spec: old }, { dialect }) => {
    const changed = !same(new Set(spec.scopes), new Set(old.scopes));
    return [
      ...specErrors(spec, dialect),
      ...(changed ? [invalidValue("spec.scopes", scopesText(spec.scopes), "field is immutable")] : []),
    ];
  },
  subresources: {
    status: statusPart(({ status }, _old, { dialect }) => [
      ...listErrors(status.hard, "status.hard", dialect),
      ...listErrors(status.used, "status.used", dialect),
    ]),
  },
  columns: [
    nameColumn,
    ageColumn,
    {
      name: "Request",
      type: "string",
      doc: "Used and hard amounts of requests and object counts.",
      cell: usageText(false),
    },
    { name: "Limit", type: "string", doc: "Used and hard amounts of limits.", cell: usageText(true) },
  ],
});
