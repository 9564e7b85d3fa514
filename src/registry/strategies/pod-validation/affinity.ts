// Validation of node affinity, pod affinity and pod anti-affinity.
import type {
  Affinity,
  LabelSelector,
  NodeAffinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
} from "#api";
import { type FieldError, forbiddenField, invalidValue, required } from "#base";
import { dns1123LabelProblems, dns1123SubdomainProblems } from "#schema";
import { formatErrors, qualifiedNameErrors } from "../rules/format.ts";
import { labelSelectorErrors } from "../rules/label-selector.ts";

const requiredKey = "requiredDuringSchedulingIgnoredDuringExecution";
const preferredKey = "preferredDuringSchedulingIgnoredDuringExecution";

export function affinityErrors(
  affinity: Affinity | undefined,
  tolerateValues: boolean,
  path: string,
): FieldError[] {
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity ?? {};
  return [
    ...(nodeAffinity ? nodeAffinityErrors(nodeAffinity, `${path}.nodeAffinity`) : []),
    ...(podAffinity ? podAffinityErrors(podAffinity, tolerateValues, `${path}.podAffinity`) : []),
    ...(podAntiAffinity ? podAffinityErrors(podAntiAffinity, tolerateValues, `${path}.podAntiAffinity`) : []),
  ];
}

const weightErrors = (weight: number, field: string): FieldError[] =>
  weight < 1 || weight > 100 ? [invalidValue(field, weight, "must be in the range 1-100")] : [];

function nodeAffinityErrors(affinity: NodeAffinity, path: string): FieldError[] {
  const { [requiredKey]: needs, [preferredKey]: wishes } = affinity;
  return [
    ...(needs ? nodeSelectorErrors(needs, `${path}.${requiredKey}`) : []),
    ...(wishes ?? []).flatMap(({ weight, preference }, position) => {
      const at = `${path}.${preferredKey}[${position}]`;
      return [...weightErrors(weight, `${at}.weight`), ...nodeTermErrors(preference, `${at}.preference`)];
    }),
  ];
}

export function nodeSelectorErrors({ nodeSelectorTerms }: NodeSelector, path: string): FieldError[] {
  const at = `${path}.nodeSelectorTerms`;
  if (!nodeSelectorTerms?.length) return [required(at, "must have at least one node selector term")];
  return nodeSelectorTerms.flatMap((term, position) => nodeTermErrors(term, `${at}[${position}]`));
}

const nodeTermErrors = ({ matchExpressions, matchFields }: NodeSelectorTerm, path: string): FieldError[] => [
  ...(matchExpressions ?? []).flatMap((each, position) =>
    labelRequirementErrors(each, `${path}.matchExpressions[${position}]`),
  ),
  ...(matchFields ?? []).flatMap((each, position) =>
    fieldRequirementErrors(each, `${path}.matchFields[${position}]`),
  ),
];

function labelRequirementErrors(
  { key, operator, values }: NodeSelectorRequirement,
  at: string,
): FieldError[] {
  return [...operatorErrors(), ...qualifiedNameErrors(key, `${at}.key`)];

  function operatorErrors(): FieldError[] {
    switch (operator) {
      case "In":
      case "NotIn":
        return values?.length
          ? []
          : [required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
      case "Exists":
      case "DoesNotExist":
        return values?.length
          ? [
              forbiddenField(
                `${at}.values`,
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
              ),
            ]
          : [];
      case "Gt":
      case "Lt":
        return values?.length === 1
          ? []
          : [required(`${at}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
      default:
        return [invalidValue(`${at}.operator`, operator, "not a valid selector operator")];
    }
  }
}

function fieldRequirementErrors(
  { key, operator, values }: NodeSelectorRequirement,
  at: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (operator !== "In" && operator !== "NotIn")
    errors.push(invalidValue(`${at}.operator`, operator, "not a valid selector operator"));
  else if (values?.length !== 1)
    errors.push(
      required(
        `${at}.values`,
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
      ),
    );
  if (key !== "metadata.name")
    return [...errors, invalidValue(`${at}.key`, key, "not a valid field selector key")];
  return [
    ...errors,
    ...(values ?? []).flatMap((value, position) =>
      formatErrors(value, `${at}.values[${position}]`, dns1123SubdomainProblems),
    ),
  ];
}

function podAffinityErrors(affinity: PodAffinity, tolerateValues: boolean, path: string): FieldError[] {
  const { [requiredKey]: needs, [preferredKey]: wishes } = affinity;
  return [
    ...(needs ?? []).flatMap((term, position) =>
      podTermErrors(term, tolerateValues, `${path}.${requiredKey}[${position}]`),
    ),
    ...(wishes ?? []).flatMap(({ weight, podAffinityTerm }, position) => {
      const at = `${path}.${preferredKey}[${position}]`;
      return [
        ...weightErrors(weight, `${at}.weight`),
        ...podTermErrors(podAffinityTerm, tolerateValues, `${at}.podAffinityTerm`),
      ];
    }),
  ];
}

function podTermErrors(term: PodAffinityTerm, tolerateValues: boolean, at: string): FieldError[] {
  const { labelSelector, namespaceSelector, namespaces, topologyKey } = term;
  const selectorErrors = (selector: LabelSelector | undefined, field: string): FieldError[] =>
    labelSelectorErrors(selector, field).filter(
      (error) => !tolerateValues || !/\.values\[\d+\]$/.test(error.field),
    );
  const errors = [
    ...selectorErrors(labelSelector, `${at}.labelSelector`),
    ...selectorErrors(namespaceSelector, `${at}.namespaceSelector`),
  ];
  for (const name of namespaces ?? [])
    errors.push(...formatErrors(name, `${at}.namespace`, dns1123LabelProblems));
  errors.push(...labelKeyErrors(term, at));
  if (!topologyKey) errors.push(required(`${at}.topologyKey`, "can not be empty"));
  return [...errors, ...qualifiedNameErrors(topologyKey, `${at}.topologyKey`)];
}

function labelKeyErrors(
  { matchLabelKeys = [], mismatchLabelKeys = [], labelSelector }: PodAffinityTerm,
  at: string,
): FieldError[] {
  const namesOf = (keys: readonly string[], path: string): FieldError[] => {
    if (keys.length === 0) return [];
    if (!labelSelector) return [forbiddenField(path, "must not be specified when labelSelector is not set")];
    return keys.flatMap((key, position) => qualifiedNameErrors(key, `${path}[${position}]`));
  };
  const errors = [
    ...namesOf(matchLabelKeys, `${at}.matchLabelKeys`),
    ...namesOf(mismatchLabelKeys, `${at}.mismatchLabelKeys`),
  ];
  // The selector already has the requirements made from the keys: a key that it has twice is in both.
  const selected = new Set(Object.keys(labelSelector?.matchLabels ?? {}));
  for (const { key } of labelSelector?.matchExpressions ?? []) {
    const position = matchLabelKeys.lastIndexOf(key);
    if (position >= 0 && selected.has(key))
      errors.push(invalidValue(`${at}[${position}]`, key, "exists in both matchLabelKeys and labelSelector"));
    selected.add(key);
  }
  matchLabelKeys.forEach((key, position) => {
    if (mismatchLabelKeys.includes(key))
      errors.push(
        invalidValue(
          `${at}.matchLabelKeys[${position}]`,
          key,
          "exists in both matchLabelKeys and mismatchLabelKeys",
        ),
      );
  });
  return errors;
}
