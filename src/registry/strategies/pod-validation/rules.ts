// What the rules of pods depend on beside the pod: the dialect, the server's settings, and what an older
// version already broke.
import type { ObjectMeta, PodSpec } from "#api";
import type { Dialect } from "#dialect";
import type { RequestContext } from "../../strategy.ts";
import { allowedModes } from "../rules/access-modes.ts";
import { labelSelectorErrors } from "../rules/label-selector.ts";
import { deletionCostErrors } from "./deletion-cost.ts";
import { isExpanded } from "./names.ts";
import { hasIndivisibleHugePages } from "./resources.ts";

export interface PodRules {
  readonly dialect: Dialect;
  readonly allowPrivileged: boolean;
  /** Whether more than six search paths, and longer ones, are allowed. */
  readonly expandedDns: boolean;
  /** More than that, which a stored pod has and may keep. */
  readonly keptSearches?: readonly string[] | undefined;
  /** How the volumes of claims in a pod may be mounted. */
  readonly claimModes: readonly string[];
  /** The pod's own name; templates have none yet. */
  readonly podName?: string | undefined;
  /** Faults that a stored object has may stay in it: rules came later than objects. */
  readonly tolerated: {
    readonly hugePages: boolean;
    readonly affinityValues: boolean;
    readonly spreadSelectors: boolean;
    readonly deletionCost: boolean;
  };
}

const nothing = { hugePages: false, affinityValues: false, spreadSelectors: false, deletionCost: false };

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
    claimModes: allowedModes(settings),
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
