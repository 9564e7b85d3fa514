// Pod disruption budgets. Updates require a resource version.
import { PodDisruptionBudget } from "#api";
import { type FieldError, type IntOrString, invalidValue } from "#base";
import { pathSegment } from "../names.ts";
import { strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { statusPart } from "./parts.ts";
import { conditionErrors } from "./rules/conditions.ts";
import { labelSelectorErrors } from "./rules/label-selector.ts";
import { atMostWhole, countOrPercent } from "./rules/numbers.ts";
import { supported } from "./rules/one-of.ts";
import { counterErrors } from "./rules/workload.ts";

const shareErrors = (value: IntOrString | undefined, field: string): FieldError[] =>
  value === undefined ? [] : [...countOrPercent(value, field), ...atMostWhole(value, field)];

function errorsOf({ spec }: PodDisruptionBudget): FieldError[] {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: policy } = spec;
  const errors =
    minAvailable !== undefined && maxUnavailable !== undefined
      ? [invalidValue("spec", spec, "minAvailable and maxUnavailable cannot be both set")]
      : [];
  errors.push(
    ...shareErrors(minAvailable, "spec.minAvailable"),
    ...shareErrors(maxUnavailable, "spec.maxUnavailable"),
    ...labelSelectorErrors(selector, "spec.selector"),
  );
  if (policy !== undefined)
    errors.push(...supported(policy, "spec.unhealthyPodEvictionPolicy", ["AlwaysAllow", "IfHealthyBudget"]));
  return errors;
}

const shown = (value: IntOrString | undefined): string => String(value ?? "N/A");

export const podDisruptionBudget = strategy<PodDisruptionBudget>({
  resource: "poddisruptionbudgets",
  singular: "poddisruptionbudget",
  shortNames: ["pdb"],
  scope: "Namespaced",
  hub: PodDisruptionBudget,
  generation: true,
  status: "cleared",
  conditionalUpdate: true,
  metaChecks: { onCreate: 0, asChange: 0 },
  validateName: pathSegment,
  prepareForCreate: (obj) => {
    obj.status = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  },
  validate: errorsOf,
  subresources: {
    status: {
      ...statusPart<PodDisruptionBudget>(({ status }) => [
        ...conditionErrors(status.conditions, "status.conditions"),
        ...counterErrors(status, ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"]),
      ]),
      metaChecks: { asChange: 0 },
    },
  },
  columns: [
    nameColumn,
    {
      name: "Min Available",
      type: "string",
      doc: "Minimum number or percentage of available pods.",
      cell: ({ spec }: PodDisruptionBudget) => shown(spec.minAvailable),
    },
    {
      name: "Max Unavailable",
      type: "string",
      doc: "Maximum number or percentage of unavailable pods.",
      cell: ({ spec }: PodDisruptionBudget) => shown(spec.maxUnavailable),
    },
    {
      name: "Allowed Disruptions",
      type: "integer",
      doc: "Number of disruptions currently allowed.",
      cell: ({ status }: PodDisruptionBudget) => status.disruptionsAllowed,
    },
    ageColumn,
  ],
});
