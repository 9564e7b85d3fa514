// Evaluates a job's pod failure policy for a failed pod.
import type { Job, Pod } from "#api";

type Policy = NonNullable<Job["spec"]["podFailurePolicy"]>;
type Rule = NonNullable<Policy["rules"]>[number];

export interface FailureVerdict {
  readonly counts: boolean;
  /** The action of the rule that matched. */
  readonly action?: string;
  /** The message if the whole job fails. */
  readonly failsJob?: string;
}

/** Rules with actions of later releases are skipped unless these are enabled. */
export function judgeFailure(policy: Policy | undefined, pod: Pod, failsIndexes = false): FailureVerdict {
  for (const [index, rule] of (policy?.rules ?? []).entries()) {
    const match = matchOf(rule, pod);
    if (match === undefined) continue;
    const { action } = rule;
    if (action === "Ignore") return { counts: false, action };
    if (action === "Count" || (action === "FailIndex" && failsIndexes)) return { counts: true, action };
    if (action === "FailJob")
      return { counts: true, action, failsJob: `${match} matching FailJob rule at index ${index}` };
  }
  return { counts: true };
}

/** Returns a message describing which part of the pod matches the rule; undefined if none does. */
function matchOf({ onExitCodes, onPodConditions }: Rule, { metadata, status }: Pod): string | undefined {
  const name = `${metadata.namespace}/${metadata.name}`;
  if (onExitCodes) {
    const statuses = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])];
    const found = statuses.find((each) => {
      const code = each.state?.terminated?.exitCode;
      if (!code || (onExitCodes.containerName && onExitCodes.containerName !== each.name)) return false;
      const isListed = (onExitCodes.values ?? []).includes(code);
      return onExitCodes.operator === "In" ? isListed : onExitCodes.operator === "NotIn" && !isListed;
    });
    const code = found?.state?.terminated?.exitCode;
    if (found) return `Container ${found.name} for pod ${name} failed with exit code ${code}`;
  } else
    for (const pattern of onPodConditions ?? [])
      if (status.conditions?.some((each) => each.type === pattern.type && each.status === pattern.status))
        return `Pod ${name} has condition ${pattern.type}`;
  return undefined;
}
