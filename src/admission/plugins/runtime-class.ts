// Sets the overhead and scheduling constraints of a pod's runtime class.
import type { Pod, RuntimeClass } from "#api";
import { compareQuantity, forbidden, parseQuantity } from "#base";
import { type AdmissionPlugin, type AdmissionAttributes, typed } from "../attributes.ts";
import { mergeTolerations } from "./merge-tolerations.ts";

type Amounts = Readonly<Record<string, string>>;

export function runtimeClassPlugin(
  find: (name: string) => Promise<RuntimeClass | undefined>,
): AdmissionPlugin {
  const applies = ({ resource, subresource }: AdmissionAttributes): boolean =>
    resource.group === "" && resource.resource === "pods" && !subresource;
  const classOf = async (
    attributes: AdmissionAttributes,
    { spec }: Pod,
  ): Promise<RuntimeClass | undefined> => {
    if (spec.runtimeClassName === undefined) return undefined;
    const found = await find(spec.runtimeClassName);
    if (!found) throw refused(attributes, `pod rejected: RuntimeClass "${spec.runtimeClassName}" not found`);
    return found;
  };
  return {
    name: "RuntimeClass",
    handles: ["CREATE"],
    resources: ["pods"],
    mutate: async (attributes) => {
      if (!applies(attributes)) return;
      const pod = typed<Pod>(attributes.object);
      const found = await classOf(attributes, pod);
      const fixed = overheadOf(found);
      if (fixed && pod.spec.overhead && !sameAmounts(fixed, pod.spec.overhead))
        throw refused(
          attributes,
          "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
        );
      if (fixed) pod.spec.overhead = { ...fixed };
      if (found?.scheduling) applyScheduling(attributes, pod, found.scheduling);
    },
    validate: async (attributes) => {
      if (!applies(attributes)) return [];
      const pod = typed<Pod>(attributes.object);
      const fixed = overheadOf(await classOf(attributes, pod));
      if (fixed && !sameAmounts(fixed, pod.spec.overhead ?? {}))
        throw refused(
          attributes,
          "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
        );
      if (!fixed && pod.spec.overhead)
        throw refused(
          attributes,
          "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
        );
      return [];
    },
  };
}

/**
 * Returns the overhead of a class in addition to its containers: an overhead without amounts is empty, not
 * absent.
 */
const overheadOf = (found: RuntimeClass | undefined): Amounts | undefined =>
  found?.overhead && (found.overhead.podFixed ?? {});

const refused = (attributes: AdmissionAttributes, why: string): Error =>
  forbidden(attributes.resource, attributes.name, why);

function sameAmounts(a: Amounts, b: Amounts): boolean {
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every(
      (key) => b[key] !== undefined && compareQuantity(parseQuantity(a[key]!), parseQuantity(b[key])) === 0,
    )
  );
}

function applyScheduling(
  attributes: AdmissionAttributes,
  { spec }: Pod,
  { nodeSelector, tolerations }: NonNullable<RuntimeClass["scheduling"]>,
): void {
  for (const [key, value] of Object.entries(nodeSelector ?? {})) {
    const own = spec.nodeSelector?.[key];
    if (own !== undefined && own !== value)
      throw refused(
        attributes,
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`,
      );
  }
  if (nodeSelector) spec.nodeSelector = { ...spec.nodeSelector, ...nodeSelector };
  const merged = mergeTolerations(spec.tolerations ?? [], tolerations ?? []);
  if (merged.length) spec.tolerations = merged;
}
