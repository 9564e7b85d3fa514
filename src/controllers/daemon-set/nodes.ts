// Daemon placement: which nodes match, and the pod template for a node.
import {
  type Affinity,
  type DaemonSet,
  type Node,
  type PodTemplateSpec,
  type Toleration,
  tolerates,
  podMatchesNode,
} from "#api";
import type { AnyObject } from "#client";
import type { Dialect } from "#dialect";
import type { SeenPod } from "../pods.ts";

export type SeenDaemonSet = DaemonSet & AnyObject;
export type SeenNode = Node & AnyObject;

const nameField = "metadata.name";

/** Returns the tolerations added to every daemon pod. */
export function daemonTolerations({ names }: Dialect, hostNetwork: boolean): Toleration[] {
  const { taints } = names;
  const on = (key: string, effect: string): Toleration => ({ key, operator: "Exists", effect });
  return [
    on(taints.notReady, "NoExecute"),
    on(taints.unreachable, "NoExecute"),
    on(taints.diskPressure, "NoSchedule"),
    on(taints.memoryPressure, "NoSchedule"),
    on(taints.pidPressure, "NoSchedule"),
    on(taints.unschedulable, "NoSchedule"),
    ...(hostNetwork ? [on(taints.networkUnavailable, "NoSchedule")] : []),
  ];
}

export interface Fitness {
  readonly shouldRun: boolean;
  /** Whether an existing daemon pod may keep running. */
  readonly mayStay: boolean;
}

export function fitnessOf(node: SeenNode, set: SeenDaemonSet, dialect: Dialect): Fitness {
  const { spec } = set.spec.template;
  if (spec.nodeName && spec.nodeName !== node.metadata.name) return { shouldRun: false, mayStay: false };
  if (!podMatchesNode(spec, { name: node.metadata.name!, labels: node.metadata.labels ?? {} }))
    return { shouldRun: false, mayStay: false };
  const tolerations = [...(spec.tolerations ?? []), ...daemonTolerations(dialect, Boolean(spec.hostNetwork))];
  const untolerated = (node.spec.taints ?? []).filter(
    (taint) =>
      (taint.effect === "NoExecute" || taint.effect === "NoSchedule") &&
      !tolerations.some((each) => tolerates(each, taint)),
  );
  return {
    shouldRun: untolerated.length === 0,
    mayStay: !untolerated.some(({ effect }) => effect === "NoExecute"),
  };
}

/** Returns the template of a daemon pod for one node, pinned to it by node affinity. */
export function templateFor(
  set: SeenDaemonSet,
  nodeName: string,
  hash: string,
  generation: string | undefined,
  dialect: Dialect,
): PodTemplateSpec {
  const { metadata, spec } = set.spec.template;
  const daemon = daemonTolerations(dialect, Boolean(spec.hostNetwork));
  // A given toleration is replaced only by one that matches the same taints, regardless of its seconds.
  const others = (spec.tolerations ?? []).filter(
    ({ key, effect, operator, value }) =>
      operator !== "Exists" || value || !daemon.some((each) => each.key === key && each.effect === effect),
  );
  const affinity: Affinity = {
    ...spec.affinity,
    nodeAffinity: {
      ...spec.affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchFields: [{ key: nameField, operator: "In", values: [nodeName] }] }],
      },
    },
  };
  return {
    metadata: {
      ...metadata,
      labels: {
        ...metadata.labels,
        ...(generation !== undefined && { [generationLabel]: generation }),
        [hashLabel]: hash,
      },
    },
    spec: { ...spec, affinity, tolerations: [...others, ...daemon] },
  };
}

export const hashLabel = "controller-revision-hash";
export const generationLabel = "pod-template-generation";
export const generationAnnotation = "deprecated.daemonset.template.generation";

/** Returns the node that a daemon pod runs on or is assigned to. */
export function targetNode({ spec }: SeenPod): string | undefined {
  if (spec.nodeName) return spec.nodeName;
  const terms =
    spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return terms
    .flatMap(({ matchFields }) => matchFields ?? [])
    .find(({ key, operator, values }) => key === nameField && operator === "In" && values?.length === 1)
    ?.values?.[0];
}
