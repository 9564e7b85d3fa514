// Pods of a runtime class get what that class costs, and go where it is to be found.
import type { Pod, RuntimeClass } from "#api";
import { compareQuantity, forbidden, parseQuantity } from "#base";
import type { AdmissionPlugin, Attempt } from "../attempt.ts";
import { mergeTolerations } from "./merge-tolerations.ts";

type Amounts = Readonly<Record<string, string>>;

export function runtimeClassPlugin(
  find: (name: string) => Promise<RuntimeClass | undefined>,
): AdmissionPlugin {
  const concerned = ({ resource, subresource }: Attempt): boolean =>
    resource.group === "" && resource.resource === "pods" && !subresource;
  const classOf = async (attempt: Attempt, { spec }: Pod): Promise<RuntimeClass | undefined> => {
    if (spec.runtimeClassName === undefined) return undefined;
    const found = await find(spec.runtimeClassName);
    if (!found) throw refused(attempt, `pod rejected: RuntimeClass "${spec.runtimeClassName}" not found`);
    return found;
  };
  return {
    name: "RuntimeClass",
    handles: ["CREATE"],
    resources: ["pods"],
    mutate: async (attempt) => {
      if (!concerned(attempt)) return;
      const pod = attempt.object as unknown as Pod;
      const found = await classOf(attempt, pod);
      const fixed = found?.overhead?.podFixed;
      if (fixed && pod.spec.overhead && !sameAmounts(fixed, pod.spec.overhead))
        throw refused(attempt, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
      if (fixed) pod.spec.overhead = { ...fixed };
      if (found?.scheduling) place(attempt, pod, found.scheduling);
    },
    validate: async (attempt) => {
      if (!concerned(attempt)) return [];
      const pod = attempt.object as unknown as Pod;
      const fixed = (await classOf(attempt, pod))?.overhead?.podFixed;
      if (fixed && !sameAmounts(fixed, pod.spec.overhead ?? {}))
        throw refused(attempt, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
      if (!fixed && pod.spec.overhead)
        throw refused(
          attempt,
          "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
        );
      return [];
    },
  };
}

const refused = (attempt: Attempt, why: string): Error => forbidden(attempt.resource, attempt.name, why);

function sameAmounts(a: Amounts, b: Amounts): boolean {
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every(
      (key) => b[key] !== undefined && compareQuantity(parseQuantity(a[key]!), parseQuantity(b[key])) === 0,
    )
  );
}

function place(
  attempt: Attempt,
  { spec }: Pod,
  { nodeSelector, tolerations }: NonNullable<RuntimeClass["scheduling"]>,
): void {
  for (const [key, value] of Object.entries(nodeSelector ?? {})) {
    const own = spec.nodeSelector?.[key];
    if (own !== undefined && own !== value)
      throw refused(
        attempt,
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`,
      );
  }
  if (nodeSelector) spec.nodeSelector = { ...spec.nodeSelector, ...nodeSelector };
  const merged = mergeTolerations(spec.tolerations ?? [], tolerations ?? []);
  if (merged.length) spec.tolerations = merged;
}
