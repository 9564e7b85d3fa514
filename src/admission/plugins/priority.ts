// Pods get their priority from a class: the one they name, or the one that is the default.
import type { Pod, PriorityClass } from "#api";
import { forbidden } from "#base";
import { type Dialect, groupName } from "#dialect";
import type { AdmissionPlugin, Attempt } from "../attempt.ts";

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
    mutate: async (attempt) => {
      if (attempt.subresource || attempt.resource.group !== "" || attempt.resource.resource !== "pods")
        return;
      const { spec } = attempt.object as unknown as Pod;
      if (attempt.operation === "UPDATE") {
        const { spec: old } = attempt.oldObject as unknown as Pod;
        if (old.priority !== undefined) spec.priority ??= old.priority;
        if (old.preemptionPolicy !== undefined) spec.preemptionPolicy ??= old.preemptionPolicy;
        return;
      }
      const { name, value, preemptionPolicy } = await classFor(attempt, spec.priorityClassName);
      if (name) spec.priorityClassName = name;
      const computed = (found: number | string): string =>
        `priority admission controller computed ${found} from the given PriorityClass name`;
      if (spec.priority !== undefined && spec.priority !== value)
        throw refused(
          attempt,
          `the integer value of priority (${spec.priority}) must not be provided in pod spec; ${computed(value)}`,
        );
      spec.priority = value;
      if (preemptionPolicy === undefined) return;
      if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy)
        throw refused(
          attempt,
          `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; ${computed(preemptionPolicy)}`,
        );
      spec.preemptionPolicy = preemptionPolicy;
    },
    validate: async (attempt) => {
      if (
        attempt.subresource ||
        attempt.resource.group !== group ||
        attempt.resource.resource !== "priorityclasses"
      )
        return [];
      const given = attempt.object as unknown as PriorityClass;
      const present = given.globalDefault ? await defaultClass() : undefined;
      if (present && (attempt.operation === "CREATE" || present.metadata.name !== given.metadata.name))
        throw refused(
          attempt,
          `PriorityClass ${present.metadata.name} is already marked as default. Only one default can exist`,
        );
      return [];
    },
  };

  async function classFor(
    attempt: Attempt,
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
    if (name) throw refused(attempt, `no PriorityClass with name ${name} was found`);
    return { name: "", value: 0, preemptionPolicy: "PreemptLowerPriority" };
  }

  /** Of several that call themselves the default, the lowest counts. */
  async function defaultClass(): Promise<PriorityClass | undefined> {
    return (await all())
      .filter(({ globalDefault }) => globalDefault)
      .toSorted((a, b) => a.value - b.value)[0];
  }
}

const refused = (attempt: Attempt, why: string): Error => forbidden(attempt.resource, attempt.name, why);
