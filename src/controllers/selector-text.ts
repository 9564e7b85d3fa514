// Formats a label selector the way the reference prints it in events.
import type { LabelSelector } from "#api";

/**
 * Returns e.g. `&LabelSelector{MatchLabels:map[string]string{app:
 * web,},MatchExpressions:[]LabelSelectorRequirement{},}`.
 */
export function selectorText(selector: LabelSelector | undefined): string {
  if (!selector) return "nil";
  const labels = Object.entries(selector.matchLabels ?? {})
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`);
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join("")}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join("")}},}`;
}
