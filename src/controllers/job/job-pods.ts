// Pods of a job: their construction, failure detection, and deletion order.
import type { Container, Job, Pod } from "#api";
import type { AnyObject, Draft } from "#client";
import type { Dialect } from "#dialect";
import { compareByAge } from "../pod-ranking.ts";
import { type SeenPod, isDeleting, isFinished, podFromTemplate } from "../pods.ts";

export type SeenJob = Job & AnyObject;

export const isIndexed = ({ spec }: Job): boolean => spec.completionMode === "Indexed";
export const isSuspended = ({ spec }: Job): boolean => spec.suspend === true;
export const isJobFinished = ({ status }: Job): boolean =>
  (status.conditions ?? []).some(
    ({ type, status: is }) => (type === "Complete" || type === "Failed") && is === "True",
  );

/** Returns the completion index of a pod; -1 if it has none. */
export function indexOf({ metadata }: Pick<AnyObject, "metadata">, { names }: Dialect): number {
  const text = metadata.annotations?.[names.labels.jobCompletionIndex];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : -1;
}

export function hasValidIndex(job: Job, pod: Pick<AnyObject, "metadata">, dialect: Dialect): boolean {
  const index = indexOf(pod, dialect);
  return !isIndexed(job) || (index >= 0 && index < (job.spec.completions ?? 0));
}

/** Job behaviour controlled by feature gates. */
export interface JobRules {
  /** Whether pod failure policies are honoured. */
  readonly failurePolicies: boolean;
  /**
   * Whether deleted pods always end in phase Failed or Succeeded, so that a deletion need not count as a
   * failure.
   */
  readonly deletedPodsFail: boolean;
  /** Whether indexes may fail by a limit of their own. */
  readonly failedIndexes: boolean;
  /** Whether jobs may have their pods replaced only once these have failed, and report terminating pods. */
  readonly replacementPolicies: boolean;
  /** Whether jobs may succeed before all of their indexes have. */
  readonly successPolicies: boolean;
  /** Whether other controllers may manage jobs. */
  readonly otherManagers: boolean;
  /** Whether the completion index is a label, too. */
  readonly indexLabels: boolean;
}

/** Reports whether a job finishes only when its last pod has terminated, and announces its end before. */
export const announcesEnd = ({ replacementPolicies, otherManagers }: JobRules): boolean =>
  replacementPolicies || otherManagers;
export const isTerminating = (pod: SeenPod): boolean => isDeleting(pod) && !isFinished(pod);

/** Reports whether another controller manages the job. */
export const isManagedElsewhere = ({ spec }: Job, rules: JobRules, { names }: Dialect): boolean =>
  rules.otherManagers && typeof spec.managedBy === "string" && spec.managedBy !== names.jobManager;

/** Returns the pod failure policy that is in effect. */
export const failurePolicyOf = ({ spec }: Job, rules: JobRules): Job["spec"]["podFailurePolicy"] =>
  rules.failurePolicies ? spec.podFailurePolicy : undefined;

/** Reports whether pods are replaced only once they have failed. */
export const replacesFailedOnly = (job: Job, rules: JobRules): boolean =>
  rules.replacementPolicies &&
  (job.spec.podReplacementPolicy === "Failed" || Boolean(failurePolicyOf(job, rules)));

/** Reports whether only its phase decides that a pod has finished; otherwise a deletion does, too. */
export const endsByPhase = (job: Job, rules: JobRules): boolean =>
  replacesFailedOnly(job, rules) || (rules.deletedPodsFail && Boolean(failurePolicyOf(job, rules)));

/** Reports whether the pod counts as failed for the job. */
export function hasFailed({ status, metadata }: SeenPod, job: Job, rules: JobRules): boolean {
  if (status.phase === "Failed") return true;
  if (endsByPhase(job, rules)) return false;
  return Boolean(metadata.deletionTimestamp) && status.phase !== "Succeeded";
}

export function isPastRestartLimit({ spec }: Job, pods: readonly SeenPod[]): boolean {
  if (spec.template.spec.restartPolicy !== "OnFailure") return false;
  const restarts = pods
    .filter(({ status }) => status.phase === "Running" || status.phase === "Pending")
    .flatMap(({ status }) => [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])])
    .reduce((total, { restartCount }) => total + (restartCount ?? 0), 0);
  const limit = spec.backoffLimit ?? 6;
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

const longestGenerateName = 58;

/** The completion index of a new pod, and annotations that depend on it. */
export interface PodIndex {
  readonly index: number;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Whether the index is a label, too. */
  readonly labelled?: boolean;
}

export function newJobPod(job: SeenJob, given: PodIndex | undefined, dialect: Dialect): Draft<Pod> {
  const pod = podFromTemplate(job.spec.template, job);
  const finalizer = dialect.names.finalizers.jobTracking;
  const finalizers = [...(pod.metadata.finalizers ?? []).filter((each) => each !== finalizer), finalizer];
  if (given === undefined) return { ...pod, metadata: { ...pod.metadata, finalizers } };
  const { index, annotations, labelled = false } = given;
  const key = dialect.names.labels.jobCompletionIndex;
  const fieldPath = `metadata.${labelled ? "labels" : "annotations"}['${key}']`;
  const suffix = `-${index}-`;
  const name = job.metadata.name!;
  const withIndex = (container: Container): Container =>
    container.env?.some((each) => each.name === "JOB_COMPLETION_INDEX")
      ? container
      : {
          ...container,
          env: [
            ...(container.env ?? []),
            {
              name: "JOB_COMPLETION_INDEX",
              valueFrom: { fieldRef: { apiVersion: "v1", fieldPath } },
            },
          ],
        };
  const { initContainers } = pod.spec;
  return {
    metadata: {
      ...pod.metadata,
      generateName: name.slice(0, longestGenerateName - suffix.length) + suffix,
      ...(labelled && { labels: { ...pod.metadata.labels, [key]: String(index) } }),
      annotations: { ...pod.metadata.annotations, [key]: String(index), ...annotations },
      finalizers,
    },
    spec: {
      ...pod.spec,
      hostname: `${name}-${index}`,
      containers: (pod.spec.containers ?? []).map(withIndex),
      ...(initContainers && { initContainers: initContainers.map(withIndex) }),
    },
  };
}

/**
 * Returns the active pods to delete: those with an invalid or duplicate index, and as many others as needed.
 */
export function podsToRemove(
  job: SeenJob,
  active: readonly SeenPod[],
  atLeast: number,
  dialect: Dialect,
): SeenPod[] {
  const remove: SeenPod[] = [];
  const keep: SeenPod[] = [];
  if (isIndexed(job)) {
    const byIndex = new Map<number, SeenPod[]>();
    for (const pod of active) {
      const index = indexOf(pod, dialect);
      if (index < 0 || index >= (job.spec.completions ?? 0)) remove.push(pod);
      else byIndex.set(index, [...(byIndex.get(index) ?? []), pod]);
    }
    for (const same of byIndex.values()) {
      const ranked = same.toSorted(compareByAge);
      remove.push(...ranked.slice(0, -1));
      keep.push(ranked.at(-1)!);
    }
  } else keep.push(...active);
  if (remove.length < atLeast) remove.push(...keep.toSorted(compareByAge).slice(0, atLeast - remove.length));
  return remove;
}
