// Fields of features that are on by default in this release and can be switched off: they are then accepted
// and dropped, unless the stored object has them.
import type { Strategy } from "./strategy.ts";

/** Path of the pod spec, by resource. */
const podSpecs: Readonly<Record<string, string>> = {
  pods: "spec",
  podtemplates: "template.spec",
  replicationcontrollers: "spec.template.spec",
  replicasets: "spec.template.spec",
  deployments: "spec.template.spec",
  statefulsets: "spec.template.spec",
  daemonsets: "spec.template.spec",
  jobs: "spec.template.spec",
  cronjobs: "spec.jobTemplate.spec.template.spec",
};

/** Field paths relative to the pod spec. A step into a list selects each of its items. */
const podFields: Readonly<Record<string, readonly string[]>> = {
  PodSchedulingReadiness: ["schedulingGates"],
  MinDomainsInPodTopologySpread: ["topologySpreadConstraints.minDomains"],
  MatchLabelKeysInPodTopologySpread: ["topologySpreadConstraints.matchLabelKeys"],
  NodeInclusionPolicyInPodTopologySpread: [
    "topologySpreadConstraints.nodeAffinityPolicy",
    "topologySpreadConstraints.nodeTaintsPolicy",
  ],
  ProbeTerminationGracePeriod: ["containers", "initContainers", "ephemeralContainers"].flatMap((list) => [
    `${list}.livenessProbe.terminationGracePeriodSeconds`,
    `${list}.startupProbe.terminationGracePeriodSeconds`,
  ]),
};

const otherFields: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  AnyVolumeDataSource: { persistentvolumeclaims: ["spec.dataSourceRef"] },
  CSINodeExpandSecret: { persistentvolumes: ["spec.csi.nodeExpandSecretRef"] },
  HPAContainerMetrics: { horizontalpodautoscalers: ["spec.metrics.containerResource"] },
  JobPodFailurePolicy: {
    jobs: ["spec.podFailurePolicy"],
    cronjobs: ["spec.jobTemplate.spec.podFailurePolicy"],
  },
  PDBUnhealthyPodEvictionPolicy: { poddisruptionbudgets: ["spec.unhealthyPodEvictionPolicy"] },
  StatefulSetAutoDeletePVC: { statefulsets: ["spec.persistentVolumeClaimRetentionPolicy"] },
  StatefulSetStartOrdinal: { statefulsets: ["spec.ordinals"] },
  TopologyAwareHints: { endpointslices: ["endpoints.hints"] },
};

export const gatesOfFields: readonly string[] = [...Object.keys(podFields), ...Object.keys(otherFields)];

/** Returns the paths of the resource's fields that are switched off. */
function switchedOff(resource: string, isOn: (gate: string) => boolean): readonly string[] {
  const place = podSpecs[resource];
  return gatesOfFields
    .filter((gate) => !isOn(gate))
    .flatMap((gate) => [
      ...(otherFields[gate]?.[resource] ?? []),
      ...(place === undefined ? [] : (podFields[gate] ?? []).map((field) => `${place}.${field}`)),
    ]);
}

export function withoutSwitchedOff(strategy: Strategy, isOn: (gate: string) => boolean): Strategy {
  const fields = strategy.custom ? [] : switchedOff(strategy.resource, isOn).map((path) => path.split("."));
  if (fields.length === 0) return strategy;
  const drop = (object: unknown, old: unknown): void => {
    for (const path of fields) if (!old || !holders(old, path).some(hasLast(path))) dropField(object, path);
  };
  const { restore } = strategy;
  return {
    ...strategy,
    // Fields that restore() would add on reads are dropped again, too.
    ...(restore && {
      restore: (object: never) => {
        const absent = fields.filter((path) => !holders(object, path).some(hasLast(path)));
        restore(object);
        for (const path of absent) dropField(object, path);
      },
    }),
    prepareForCreate: (object, ctx) => {
      drop(object, undefined);
      strategy.prepareForCreate?.(object, ctx);
    },
    prepareForUpdate: (object, old, ctx) => {
      drop(object, old);
      strategy.prepareForUpdate?.(object, old, ctx);
    },
  };
}

type Fields = Record<string, unknown>;

/** Returns the objects that may contain the last field of a path. */
function holders(object: unknown, path: readonly string[]): Fields[] {
  return path
    .slice(0, -1)
    .reduce((found, step) => found.flatMap((each) => each[step] ?? []) as Fields[], [object as Fields]);
}

const hasLast =
  (path: readonly string[]) =>
  (holder: Fields): boolean => {
    const value = holder[path.at(-1)!];
    return value !== undefined && !(Array.isArray(value) && value.length === 0);
  };

function dropField(object: unknown, path: readonly string[]): void {
  for (const holder of holders(object, path)) delete holder[path.at(-1)!];
}
