// The context of pod validation: the dialect, the server's settings, and errors tolerated because the stored
// object has them.
import type { ObjectMeta, PodSpec } from "#api";
import type { Dialect } from "#dialect";
import { environmentNameProblems } from "#schema";
import type { RequestContext } from "../../strategy.ts";
import { allowedModes } from "../rules/access-modes.ts";
import { labelSelectorErrors } from "../rules/label-selector.ts";
import { deletionCostErrors } from "./deletion-cost.ts";
import { isExpanded } from "./dns.ts";
import { hasIndivisibleHugePages } from "./resources.ts";

export interface PodRules {
  readonly dialect: Dialect;
  readonly allowPrivileged: boolean;
  /** Whether more and longer DNS search paths than six are allowed. */
  readonly expandedDns: boolean;
  /** Whether environment variables may refer to all addresses of the node. */
  readonly hostIps: boolean;
  /** Whether names of environment variables may have any printable character but `=`. */
  readonly relaxedVariables: boolean;
  /** Search paths of the stored pod, which may exceed the limits as long as they are unchanged. */
  readonly keptSearches?: readonly string[] | undefined;
  /** Allowed access modes of claim templates in a pod. */
  readonly claimModes: readonly string[];
  /** Whether hooks may sleep for zero seconds. */
  readonly zeroSleeps: boolean;
  /** Name of the pod; undefined for templates. */
  readonly podName?: string | undefined;
  /** Errors that a stored object already has are tolerated on updates. */
  readonly tolerated: {
    readonly hugePages: boolean;
    readonly affinityValues: boolean;
    readonly spreadSelectors: boolean;
    readonly deletionCost: boolean;
  };
}

const nothing = { hugePages: false, affinityValues: false, spreadSelectors: false, deletionCost: false };

const sleepsZero = ({ initContainers, containers }: PodSpec): boolean =>
  [...(initContainers ?? []), ...(containers ?? [])].some(
    ({ lifecycle }) => lifecycle?.preStop?.sleep?.seconds === 0 || lifecycle?.postStart?.sleep?.seconds === 0,
  );

/** Reports whether environment variables have names that only later releases accept. */
const usesRelaxedNames = ({ initContainers, containers, ephemeralContainers }: PodSpec): boolean =>
  [...(initContainers ?? []), ...(containers ?? []), ...(ephemeralContainers ?? [])]
    .flatMap(({ env, envFrom }) => [
      ...(env ?? []).map(({ name }) => name),
      ...(envFrom ?? []).map(({ prefix }) => prefix ?? ""),
    ])
    .some((name) => name !== "" && environmentNameProblems(name).length > 0);

interface PodLike {
  readonly metadata: ObjectMeta;
  readonly spec: PodSpec;
}

export function podRules(
  { dialect, settings }: RequestContext,
  podName: string | undefined,
  old?: PodLike,
): PodRules {
  const freeCosts = settings.deletionCosts === false;
  const ctx = {
    dialect,
    allowPrivileged: settings.allowPrivileged,
    expandedDns: settings.expandedDns !== false,
    hostIps: settings.hostIps === true,
    relaxedVariables: settings.relaxedVariables === true || (old !== undefined && usesRelaxedNames(old.spec)),
    claimModes: allowedModes(settings),
    zeroSleeps: settings.zeroSleeps === true || (old !== undefined && sleepsZero(old.spec)),
    podName,
  };
  if (!old) return { ...ctx, tolerated: { ...nothing, deletionCost: freeCosts } };
  const { affinity, topologySpreadConstraints } = old.spec;
  const terms = [affinity?.podAffinity, affinity?.podAntiAffinity].flatMap((each) => [
    ...(each?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(each?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
      ({ podAffinityTerm }) => podAffinityTerm,
    ),
  ]);
  const { searches = [] } = old.spec.dnsConfig ?? {};
  return {
    ...ctx,
    ...(isExpanded(searches) && { keptSearches: searches }),
    tolerated: {
      hugePages: hasIndivisibleHugePages(old.spec),
      affinityValues: terms.some(({ labelSelector, namespaceSelector }) =>
        [labelSelector, namespaceSelector].some((each) => labelSelectorErrors(each, "").length > 0),
      ),
      spreadSelectors: (topologySpreadConstraints ?? []).some(
        ({ labelSelector }) => labelSelectorErrors(labelSelector, "").length > 0,
      ),
      deletionCost: freeCosts || deletionCostErrors(old.metadata.annotations, dialect, "").length > 0,
    },
  };
}
