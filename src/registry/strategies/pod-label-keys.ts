// Label keys of pod affinity terms: requirements with the pod's own values are added to their selectors when
// the pod is created, so that the scheduler needs to know nothing about them.
import type { Pod, PodAffinityTerm } from "#api";

export function applyLabelKeys({ metadata, spec: { affinity } }: Pod): void {
  for (const each of [affinity?.podAffinity, affinity?.podAntiAffinity]) {
    for (const { podAffinityTerm } of each?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
      applyToTerm(podAffinityTerm, metadata.labels ?? {});
    for (const term of each?.requiredDuringSchedulingIgnoredDuringExecution ?? [])
      applyToTerm(term, metadata.labels ?? {});
  }
}

function applyToTerm(term: PodAffinityTerm, labels: Readonly<Record<string, string>>): void {
  const { labelSelector: selector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  // Without a selector the term matches no pods.
  if (!selector) return;
  const requirements = [
    ...matchLabelKeys.map((key) => ({ key, operator: "In" })),
    ...mismatchLabelKeys.map((key) => ({ key, operator: "NotIn" })),
  ]
    .filter(({ key }) => Object.hasOwn(labels, key))
    .map((each) => ({ ...each, values: [labels[each.key]!] }));
  if (requirements.length > 0)
    selector.matchExpressions = [...(selector.matchExpressions ?? []), ...requirements];
}
