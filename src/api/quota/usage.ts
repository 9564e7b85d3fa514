// The quota usage of an object: pods by their requests and limits, claims by size, services by ports, and
// everything else by count.
import type { PodAffinityTerm } from "../core/affinity.ts";
import type { Container } from "../core/container.ts";
import type { Pod } from "../core/pod.ts";
import type { ScopedResourceSelectorRequirement } from "../core/quota.ts";
import { effectiveRequests } from "../core/resize.ts";
import { peakUsage } from "../core/sidecars.ts";
import type { Service } from "../core/service.ts";
import type { PersistentVolumeClaim } from "../core/volume-claim.ts";
import { compareQuantity, quantityOf, scaledValue } from "#base";
import type { Dialect } from "#dialect";
import { type Amounts, amountsOf, isZero, largerOf, sumOf } from "./amounts.ts";

export interface QuotaEvaluator {
  /** The operations that may change the usage. */
  readonly operations: readonly ("CREATE" | "UPDATE")[];
  /** Reports whether the evaluator counts a resource of a quota. */
  counts(resource: string): boolean;
  usage(object: object): Amounts;
  /** Returns an error message about values that the quota requires and the object lacks. */
  missing?(resources: readonly string[], object: object): string | undefined;
  /** Reports whether an object is in a scope; without this function, no object is in any scope. */
  inScope?(scope: ScopedResourceSelectorRequirement, object: object): boolean;
}

const one = quantityOf(1);
const counted = (...names: string[]): Amounts => new Map(names.map((name) => [name, one]));
const aliased = ["configmaps", "resourcequotas", "replicationcontrollers", "secrets"];

export function quotaEvaluator(
  { group, resource }: { readonly group: string; readonly resource: string },
  dialect: Dialect,
  now: () => number,
): QuotaEvaluator {
  const count = `count/${resource}${group && `.${group}`}`;
  if (group === "" && resource === "pods") return podEvaluator(count, dialect, now);
  if (group === "" && resource === "persistentvolumeclaims") return claimEvaluator(count, dialect);
  if (group === "" && resource === "services") return serviceEvaluator(count);
  const names = group === "" && aliased.includes(resource) ? [count, resource] : [count];
  return { operations: ["CREATE"], counts: (name) => names.includes(name), usage: () => counted(...names) };
}

function serviceEvaluator(count: string): QuotaEvaluator {
  const [services, nodePorts, loadBalancers] = [
    "services",
    "services.nodeports",
    "services.loadbalancers",
  ] as const;
  return {
    operations: ["CREATE", "UPDATE"],
    counts: (name) => [count, services, nodePorts, loadBalancers].includes(name),
    usage: (object) => {
      const { type, ports = [], allocateLoadBalancerNodePorts } = (object as Service).spec;
      const balanced = type === "LoadBalancer";
      // Ports are allocated later: the requested ones count.
      const requested =
        balanced && allocateLoadBalancerNodePorts === false
          ? ports.filter(({ nodePort }) => nodePort)
          : balanced || type === "NodePort"
            ? ports
            : [];
      return new Map([
        ...counted(count, services),
        [loadBalancers, quantityOf(balanced ? 1 : 0)],
        [nodePorts, quantityOf(requested.length)],
      ]);
    },
  };
}

function claimEvaluator(count: string, { names }: Dialect): QuotaEvaluator {
  const marker = names.resources.storageClassMarker;
  const [claims, storage] = ["persistentvolumeclaims", "requests.storage"] as const;
  return {
    operations: ["CREATE", "UPDATE"],
    counts: (name) =>
      name === count ||
      name === claims ||
      name === storage ||
      name.endsWith(marker + claims) ||
      name.endsWith(marker + storage),
    usage: (object) => {
      const { metadata, spec, status } = object as PersistentVolumeClaim;
      const className =
        metadata.annotations?.[names.annotations.betaStorageClass] ?? spec.storageClassName ?? "";
      const requested = amountsOf(spec.resources.requests).get("storage");
      // A claim whose request was reduced counts the size already allocated, if larger.
      const allocated = amountsOf(status?.allocatedResources).get("storage");
      const more =
        requested && allocated && compareQuantity(allocated, requested) > 0 ? allocated : requested;
      const size = more && (more.scale < 0 ? quantityOf(scaledValue(more, 0), 0, more.format) : more);
      const named = (name: string): string[] => (className ? [name, className + marker + name] : [name]);
      return new Map([
        ...counted(count, ...named(claims)),
        ...(size ? named(storage).map((name) => [name, size] as const) : []),
      ]);
    },
  };
}

const compute = ["cpu", "memory", "ephemeral-storage"];
const computeNames = compute.flatMap((name) => [name, `requests.${name}`, `limits.${name}`]);
/** Quotas for these resources require every container to specify them. */
const wanted = ["cpu", "memory"].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]);

function podEvaluator(count: string, { names }: Dialect, now: () => number): QuotaEvaluator {
  const isForeign = (name: string): boolean =>
    name.includes("/") && !name.includes(names.resources.nativePrefix);
  const isHugePages = (name: string): boolean => name.startsWith("hugepages-");
  const spent = (requests: Amounts, limits: Amounts): Amounts => {
    const result = new Map([["pods", one]]);
    for (const [name, amount] of requests) {
      if (compute.includes(name) || isHugePages(name))
        result.set(name, amount).set(`requests.${name}`, amount);
      else if (isForeign(name) && !name.startsWith("requests.")) result.set(`requests.${name}`, amount);
    }
    for (const [name, amount] of limits) if (compute.includes(name)) result.set(`limits.${name}`, amount);
    return result;
  };
  return {
    operations: ["CREATE"],
    counts: (name) =>
      name === count ||
      name === "pods" ||
      computeNames.includes(name) ||
      isHugePages(name) ||
      name.startsWith("requests.hugepages-") ||
      (isForeign(name) && name.startsWith("requests.")),
    usage: (object) => {
      const pod = object as Pod;
      return isSpent(pod, now()) ? counted(count) : sumOf(counted(count), spent(...totals(pod)));
    },
    missing: (resources, object) => {
      const { containers, initContainers } = (object as Pod).spec;
      const required = wanted.filter((name) => resources.includes(name)).toSorted();
      const without = new Map<string, Set<string>>();
      for (const { name: container, resources: own } of [...(containers ?? []), ...(initContainers ?? [])]) {
        const specified = spent(amountsOf(own.requests), amountsOf(own.limits));
        for (const name of required)
          if (!specified.has(name)) without.set(name, (without.get(name) ?? new Set()).add(container));
      }
      const parts = required.flatMap((name) =>
        without.has(name) ? [`${name} for: ${[...without.get(name)!].toSorted().join(",")}`] : [],
      );
      return parts.length ? `must specify ${parts.join("; ")}` : undefined;
    },
    inScope: (scope, object) => podInScope(scope, object as Pod),
  };
}

/** Reports whether a pod has terminated, or should have by now; such pods use no quota. */
function isSpent({ metadata, status }: Pod, now: number): boolean {
  if (status?.phase === "Failed" || status?.phase === "Succeeded") return true;
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  return (
    deletionTimestamp !== undefined &&
    deletionGracePeriodSeconds !== undefined &&
    now > Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000
  );
}

function totals(pod: Pod): [requests: Amounts, limits: Amounts] {
  const { spec } = pod;
  const total = (of: (container: Container) => Amounts): Amounts =>
    peakUsage<Amounts>(spec, of, { none: new Map(), sum: sumOf, larger: largerOf });
  const overhead = amountsOf(spec.overhead);
  const limits = total(({ resources }) => amountsOf(resources.limits));
  return [
    sumOf(
      total((container) => amountsOf(effectiveRequests(pod, container))),
      overhead,
    ),
    sumOf(limits, new Map([...overhead].filter(([name]) => limits.has(name)))),
  ];
}

function podInScope(
  { scopeName, operator, values = [] }: ScopedResourceSelectorRequirement,
  { spec }: Pod,
): boolean {
  const name = spec.priorityClassName ?? "";
  switch (scopeName) {
    case "Terminating":
      return (spec.activeDeadlineSeconds ?? -1) >= 0;
    case "NotTerminating":
      return (spec.activeDeadlineSeconds ?? -1) < 0;
    case "BestEffort":
      return isBestEffort(spec);
    case "NotBestEffort":
      return !isBestEffort(spec);
    case "CrossNamespacePodAffinity":
      return affinityTerms(spec).some(
        ({ namespaces, namespaceSelector }) => Boolean(namespaces?.length) || namespaceSelector !== undefined,
      );
    case "PriorityClass":
      return operator === "In"
        ? values.includes(name) && name !== ""
        : operator === "NotIn"
          ? !values.includes(name) || name === ""
          : (operator === "Exists") === (name !== "");
    default:
      return false;
  }
}

const isBestEffort = ({ containers, initContainers }: Pod["spec"]): boolean =>
  [...(containers ?? []), ...(initContainers ?? [])].every(({ resources }) =>
    [resources.requests, resources.limits].every((amounts) =>
      [...amountsOf(amounts)].every(
        ([name, amount]) => (name !== "cpu" && name !== "memory") || isZero(amount),
      ),
    ),
  );

const affinityTerms = ({ affinity }: Pod["spec"]): PodAffinityTerm[] =>
  [affinity?.podAffinity, affinity?.podAntiAffinity].flatMap((each) => [
    ...(each?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(each?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
      ({ podAffinityTerm }) => podAffinityTerm,
    ),
  ]);
