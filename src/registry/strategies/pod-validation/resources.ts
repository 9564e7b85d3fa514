// Validation of resource requests, limits and claims of containers.
import type { PodSpec, ResourceClaim, ResourceRequirements } from "#api";
import {
  type FieldError,
  type Quantity,
  compareQuantity,
  duplicate,
  forbiddenField,
  invalidValue,
  parseQuantity,
  quantityOf,
  required,
  isWholeQuantity,
  scaledValue,
} from "#base";
import { amountErrors, containerResourceErrors, mayOvercommit } from "../rules/resource-name.ts";
import type { PodRules } from "./rules.ts";

const hugePagesPrefix = "hugepages-";
const zero = quantityOf(0);

const isHugePages = (name: string): boolean => name.startsWith(hugePagesPrefix);

function isDivisible(name: string, quantity: Quantity): boolean {
  try {
    const page = parseQuantity(name.slice(hugePagesPrefix.length));
    return (
      compareQuantity(page, zero) > 0 &&
      isWholeQuantity(page) &&
      scaledValue(quantity, 0) % scaledValue(page, 0) === 0n
    );
  } catch {
    return false;
  }
}

export function hasIndivisibleHugePages({
  containers,
  initContainers,
  ephemeralContainers,
  overhead,
}: PodSpec): boolean {
  const lists = [...(containers ?? []), ...(initContainers ?? []), ...(ephemeralContainers ?? [])].flatMap(
    ({ resources }) => [resources.limits, resources.requests],
  );
  // On each update of a pod: loops are several times cheaper than entries.
  for (const list of [...lists, overhead])
    for (const name in list)
      if (isHugePages(name) && !isDivisible(name, parseQuantity(list[name]!))) return true;
  return false;
}

/** The part of the rules that amounts depend on, also outside of pods. */
type AmountRules = Pick<PodRules, "dialect"> & {
  readonly tolerated: Pick<PodRules["tolerated"], "hugePages">;
};

function containerAmountErrors(
  name: string,
  text: string,
  { dialect, tolerated }: AmountRules,
  field: string,
): FieldError[] {
  const errors = [
    ...containerResourceErrors(name, field, dialect),
    ...amountErrors(name, text, field, dialect),
  ];
  if (isHugePages(name) && !tolerated.hugePages && !isDivisible(name, parseQuantity(text)))
    errors.push(invalidValue(field, text, `${text} is not positive integer multiple of ${name}`));
  return errors;
}

export function resourceErrors(
  { limits = {}, requests = {}, claims }: Partial<ResourceRequirements>,
  claimNames: ReadonlySet<string>,
  rules: AmountRules,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const [name, text] of Object.entries(limits))
    errors.push(...containerAmountErrors(name, text, rules, `${path}.limits[${name}]`));
  for (const [name, text] of Object.entries(requests)) {
    errors.push(...containerAmountErrors(name, text, rules, `${path}.requests[${name}]`));
    const limit = Object.hasOwn(limits, name) ? limits[name] : undefined;
    const exact = !mayOvercommit(name, rules.dialect);
    if (limit === undefined) {
      if (exact)
        errors.push(required(`${path}.limits`, "Limit must be set for non overcommitable resources"));
      continue;
    }
    const order = compareQuantity(parseQuantity(text), parseQuantity(limit));
    if (exact && order !== 0)
      errors.push(invalidValue(`${path}.requests`, text, `must be equal to ${name} limit of ${limit}`));
    else if (order > 0)
      errors.push(
        invalidValue(`${path}.requests`, text, `must be less than or equal to ${name} limit of ${limit}`),
      );
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHugePages) && !names.includes("cpu") && !names.includes("memory"))
    errors.push(forbiddenField(path, "HugePages require cpu or memory"));
  return [...errors, ...claimErrors(claims, claimNames, `${path}.claims`)];
}

function claimErrors(
  claims: readonly ResourceClaim[] | undefined,
  known: ReadonlySet<string>,
  path: string,
): FieldError[] {
  const seen = new Set<string>();
  const among = known.size === 0 ? " which is empty" : `: ${[...known].toSorted().join(", ")}`;
  return (claims ?? []).flatMap(({ name }, position) => {
    const at = `${path}[${position}]`;
    if (!name) return [required(at)];
    const errors: FieldError[] = seen.has(name) ? [duplicate(at, name)] : [];
    seen.add(name);
    if (!known.has(name))
      errors.push({
        type: "FieldValueNotFound",
        field: at,
        value: name,
        detail: `must be one of the names in pod.spec.resourceClaims${among}`,
      });
    return errors;
  });
}
