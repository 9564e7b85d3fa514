// Assigns the priority of pods from their priority class, or from the default class.
import type { Pod, PriorityClass } from "#api";
import { forbidden } from "#base";
import { type Dialect, groupName } from "#dialect";
import { type AdmissionPlugin, type AdmissionAttributes, typed } from "../attributes.ts";

export interface PriorityOptions {
  readonly dialect: Dialect;
  readonly find: (name: string) => Promise<PriorityClass | undefined>;
  readonly all: () => Promise<readonly PriorityClass[]>;
}

export function priorityPlugin({ dialect, find, all }: PriorityOptions): AdmissionPlugin {
  const group = groupName(dialect, { group: "scheduling", branded: true });
  return {
    name: "Priority",
    handles: ["CREATE", "UPDATE"],
    resources: ["pods", "priorityclasses"],
    mutate: async (attributes) => {
      if (
        attributes.subresource ||
        attributes.resource.group !== "" ||
        attributes.resource.resource !== "pods"
      )
        return;
      const { spec } = typed<Pod>(attributes.object);
      if (attributes.operation === "UPDATE") {
        const { spec: old } = typed<Pod>(attributes.oldObject);
        if (old.priority !== undefined) spec.priority ??= old.priority;
        if (old.preemptionPolicy !== undefined) spec.preemptionPolicy ??= old.preemptionPolicy;
        return;
      }
      const { name, value, preemptionPolicy } = await classFor(attributes, spec.priorityClassName);
      if (name) spec.priorityClassName = name;
      const computed = (found: number | string): string =>
        `priority admission controller computed ${found} from the given PriorityClass name`;
      if (spec.priority !== undefined && spec.priority !== value)
        throw refused(
          attributes,
          `the integer value of priority (${spec.priority}) must not be provided in pod spec; ${computed(value)}`,
        );
      spec.priority = value;
      if (preemptionPolicy === undefined) return;
      if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy)
        throw refused(
          attributes,
          `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; ${computed(preemptionPolicy)}`,
        );
      spec.preemptionPolicy = preemptionPolicy;
    },
    validate: async (attributes) => {
      if (
        attributes.subresource ||
        attributes.resource.group !== group ||
        attributes.resource.resource !== "priorityclasses"
      )
        return [];
      const given = typed<PriorityClass>(attributes.object);
      const present = given.globalDefault ? await defaultClass() : undefined;
      if (present && (attributes.operation === "CREATE" || present.metadata.name !== given.metadata.name))
        throw refused(
          attributes,
          `PriorityClass ${present.metadata.name} is already marked as default. Only one default can exist`,
        );
      return [];
    },
  };

  async function classFor(
    attributes: AdmissionAttributes,
    name: string | undefined,
  ): Promise<{
    readonly name: string;
    readonly value: number;
    readonly preemptionPolicy: string | undefined;
  }> {
    const found = name ? await find(name) : await defaultClass();
    if (found)
      return {
        name: found.metadata.name ?? "",
        value: found.value,
        preemptionPolicy: found.preemptionPolicy,
      };
    if (name) throw refused(attributes, `no PriorityClass with name ${name} was found`);
    return { name: "", value: 0, preemptionPolicy: "PreemptLowerPriority" };
  }

  /** Returns the default class; the one with the lowest value if there are several. */
  async function defaultClass(): Promise<PriorityClass | undefined> {
    return (await all())
      .filter(({ globalDefault }) => globalDefault)
      .toSorted((a, b) => a.value - b.value)[0];
  }
}

const refused = (attributes: AdmissionAttributes, why: string): Error =>
  forbidden(attributes.resource, attributes.name, why);
