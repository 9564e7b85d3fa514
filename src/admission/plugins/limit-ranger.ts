// Limit ranges of a namespace: default requests and limits of containers, and bounds on resources.
import {
  type Container,
  type LimitRange,
  type LimitRangeItem,
  type PersistentVolumeClaim,
  type Pod,
  runningContainers,
} from "#api";
import {
  type Quantity,
  addQuantity,
  compareQuantity,
  forbidden,
  formatQuantity,
  parseQuantity,
  quantityMilliValue,
  quantityOf,
  scaledValue,
} from "#base";
import type { Dialect } from "#dialect";
import { type AdmissionAttributes, type AdmissionPlugin, slot, typed } from "../attributes.ts";

type Amounts = Readonly<Record<string, string>>;

/** The ranges that set a pod's defaults also validate it. */
const applied = slot<readonly LimitRange[]>("applied");

export function limitRanger(
  { names }: Dialect,
  rangesIn: (namespace: string) => Promise<readonly LimitRange[]>,
): AdmissionPlugin {
  const applies = ({ operation, resource, subresource }: AdmissionAttributes): boolean =>
    resource.group === "" &&
    !subresource &&
    (resource.resource === "persistentvolumeclaims" ||
      (resource.resource === "pods" && operation === "CREATE"));
  const isBeingDeleted = ({ oldObject }: AdmissionAttributes): boolean =>
    (oldObject as { metadata?: { deletionTimestamp?: string } } | undefined)?.metadata?.deletionTimestamp !==
    undefined;
  return {
    name: "LimitRanger",
    handles: ["CREATE", "UPDATE"],
    resources: ["pods", "persistentvolumeclaims"],
    mutate: async (attributes) => {
      if (attributes.resource.resource !== "pods" || !applies(attributes)) return;
      const ranges = await rangesIn(attributes.namespace);
      attributes.state.set(applied, ranges);
      for (const range of ranges) fillIn(typed<Pod>(attributes.object), range, names.annotations.limitRanger);
    },
    validate: async (attributes) => {
      if (!applies(attributes) || isBeingDeleted(attributes)) return [];
      const problemsOf = attributes.resource.resource === "pods" ? podProblems : claimProblems;
      const ranges = attributes.state.get(applied) ?? (await rangesIn(attributes.namespace));
      for (const { spec } of ranges) {
        const found = [
          ...new Set(spec.limits?.flatMap((item) => problemsOf(item, attributes.object as never))),
        ];
        if (found.length > 0)
          throw forbidden(
            attributes.resource,
            attributes.name,
            found.length === 1 ? found[0]! : `[${found.join(", ")}]`,
          );
      }
      return [];
    },
  };
}

/** Sets the default requests and limits of containers, and records them in an annotation. */
function fillIn(pod: Pod, { spec }: LimitRange, annotation: string): void {
  const ofContainers = (spec.limits ?? []).filter(({ type }) => type === "Container");
  const limits: Amounts = Object.assign({}, ...ofContainers.map((item) => item.default));
  const requests: Amounts = Object.assign({}, ...ofContainers.map((item) => item.defaultRequest));
  const filled = [
    ...(pod.spec.containers ?? []).flatMap((container) =>
      fillContainer(container, limits, requests, "container"),
    ),
    ...(pod.spec.initContainers ?? []).flatMap((container) =>
      fillContainer(container, limits, requests, "init container"),
    ),
  ];
  if (filled.length > 0)
    pod.metadata.annotations = {
      ...pod.metadata.annotations,
      [annotation]: `LimitRanger plugin set: ${filled.join("; ")}`,
    };
}

function fillContainer(
  { name, resources }: Container,
  limits: Amounts,
  requests: Amounts,
  what: string,
): string[] {
  // prettier-ignore
  const missing = (given: Amounts | undefined, defaults: Amounts): string[] => Object.keys(defaults).filter((key) => given?.[key] === undefined).toSorted();
  const newRequests = missing(resources.requests, requests);
  const newLimits = missing(resources.limits, limits);
  for (const key of newLimits) resources.limits = { ...resources.limits, [key]: limits[key]! };
  for (const key of newRequests) resources.requests = { ...resources.requests, [key]: requests[key]! };
  return [
    ...(newRequests.length ? [`${newRequests.join(", ")} request for ${what} ${name}`] : []),
    ...(newLimits.length ? [`${newLimits.join(", ")} limit for ${what} ${name}`] : []),
  ];
}

function podProblems(item: LimitRangeItem, { spec }: Pod): string[] {
  const containers = spec.containers ?? [];
  const init = spec.initContainers ?? [];
  if (item.type === "Container")
    return [...containers, ...init].flatMap(({ resources }) =>
      problems(item, resources.requests ?? {}, resources.limits ?? {}),
    );
  if (item.type !== "Pod") return [];
  const total = (key: "requests" | "limits"): Amounts =>
    init.reduce(
      (most, { resources }) => largest(most, resources[key] ?? {}),
      sum(runningContainers(spec).map(({ resources }) => resources[key] ?? {})),
    );
  return problems(item, total("requests"), total("limits"));
}

function claimProblems(item: LimitRangeItem, { spec }: PersistentVolumeClaim): string[] {
  if (item.type !== "PersistentVolumeClaim") return [];
  const requests = spec.resources.requests ?? {};
  return [
    ...each(item.min, (name, least) => belowMinimum(item.type, name, least, requests, {})),
    ...each(item.max, (name, most) => requestAboveMaximum(item.type, name, most, requests)),
  ];
}

const problems = (
  { type, min, max, maxLimitRequestRatio }: LimitRangeItem,
  requests: Amounts,
  limits: Amounts,
): string[] => [
  ...each(min, (name, least) => belowMinimum(type, name, least, requests, limits)),
  ...each(max, (name, most) => aboveMaximum(type, name, most, requests, limits)),
  ...each(maxLimitRequestRatio, (name, most) => ratioExceeded(type, name, most, requests, limits)),
];

const each = (
  amounts: Amounts | undefined,
  problemsOf: (name: string, amount: string) => string | undefined,
): string[] => Object.entries(amounts ?? {}).flatMap(([name, amount]) => problemsOf(name, amount) ?? []);

const order = (a: string, b: string): number => compareQuantity(thousandths(a), thousandths(b));
const thousandths = (text: string): Quantity => quantityOf(scaledValue(parseQuantity(text), -3), -3);

function belowMinimum(
  type: string,
  name: string,
  least: string,
  requests: Amounts,
  limits: Amounts,
): string | undefined {
  const [request, limit] = [requests[name], limits[name]];
  const rule = `minimum ${name} usage per ${type} is ${least}`;
  if (request === undefined) return `${rule}.  No request is specified`;
  if (order(request, least) < 0) return `${rule}, but request is ${request}`;
  return limit !== undefined && order(limit, least) < 0 ? `${rule}, but limit is ${limit}` : undefined;
}

function requestAboveMaximum(
  type: string,
  name: string,
  most: string,
  requests: Amounts,
): string | undefined {
  const request = requests[name];
  const rule = `maximum ${name} usage per ${type} is ${most}`;
  if (request === undefined) return `${rule}.  No request is specified`;
  return order(request, most) > 0 ? `${rule}, but request is ${request}` : undefined;
}

function aboveMaximum(
  type: string,
  name: string,
  most: string,
  requests: Amounts,
  limits: Amounts,
): string | undefined {
  const [request, limit] = [requests[name], limits[name]];
  const rule = `maximum ${name} usage per ${type} is ${most}`;
  if (limit === undefined) return `${rule}.  No limit is specified`;
  if (order(limit, most) > 0) return `${rule}, but limit is ${limit}`;
  return request !== undefined && order(request, most) > 0 ? `${rule}, but request is ${request}` : undefined;
}

function ratioExceeded(
  type: string,
  name: string,
  most: string,
  requests: Amounts,
  limits: Amounts,
): string | undefined {
  const [request, limit] = [requests, limits].map((amounts) =>
    quantityMilliValue(parseQuantity(amounts[name] ?? "0")),
  ) as [number, number];
  const rule = `${name} max limit to request ratio per ${type} is ${most}`;
  if (request === 0) return `${rule}, but no request is specified or request is 0`;
  if (limit === 0) return `${rule}, but no limit is specified or limit is 0`;
  return (limit / request) * 1000 > quantityMilliValue(parseQuantity(most))
    ? `${rule}, but provided ratio is ${(limit / request).toFixed(6)}`
    : undefined;
}

/** Sums the amounts that all lists have; a resource that one of them lacks is omitted. */
function sum(lists: readonly Amounts[]): Amounts {
  const names = Object.keys(lists[0] ?? {}).filter((name) => lists.every((list) => list[name] !== undefined));
  const whole = (name: string, text: string): Quantity => {
    const scale = name === "cpu" ? -3 : 0;
    return quantityOf(scaledValue(parseQuantity(text), scale), scale);
  };
  return Object.fromEntries(
    names.map((name) => [
      name,
      formatQuantity(lists.map((list) => whole(name, list[name]!)).reduce(addQuantity)),
    ]),
  );
}

function largest(a: Amounts, b: Amounts): Amounts {
  const bigger = Object.entries(b).filter(
    ([name, amount]) =>
      a[name] === undefined || compareQuantity(parseQuantity(amount), parseQuantity(a[name])) > 0,
  );
  return { ...a, ...Object.fromEntries(bigger) };
}
