// Priority classes: named, immutable priorities; the highest are reserved for the system.
import { PriorityClass } from "#api";
import { type FieldError, forbiddenField } from "#base";
import { strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { oneOf } from "./rules/one-of.ts";
import { unchanged } from "./rules/unchanged.ts";

const systemPrefix = "system-";
/** Names and values of the built-in classes. */
export const systemClasses: Readonly<Record<string, number>> = {
  "system-node-critical": 2_000_001_000,
  "system-cluster-critical": 2_000_000_000,
};
const highest = 1_000_000_000;

function errorsOf({ metadata, value, globalDefault, preemptionPolicy: policy }: PriorityClass): FieldError[] {
  const errors: FieldError[] = [];
  const name = metadata.name ?? "";
  if (name.startsWith(systemPrefix)) {
    const known = Object.hasOwn(systemClasses, name) && systemClasses[name] === value && !globalDefault;
    if (!known)
      errors.push(
        forbiddenField(
          "metadata.name",
          `priority class names with '${systemPrefix}' prefix are reserved for system use only. error: ${metadata.name ?? ""} is not a known system priority class`,
        ),
      );
  } else if (value > highest)
    errors.push(forbiddenField("value", `maximum allowed value of a user defined priority is ${highest}`));
  if (policy !== undefined)
    errors.push(...oneOf(policy, "preemptionPolicy", ["PreemptLowerPriority", "Never"]));
  return errors;
}

export const priorityClass = strategy<PriorityClass>({
  resource: "priorityclasses",
  singular: "priorityclass",
  shortNames: ["pc"],
  scope: "Cluster",
  hub: PriorityClass,
  prepareForCreate: ({ metadata }) => {
    metadata.generation = 1;
  },
  validate: errorsOf,
  validateUpdate: (obj, old) => [
    ...(obj.value === old.value ? [] : [forbiddenField("value", "may not be changed in an update.")]),
    ...unchanged(obj.preemptionPolicy, old.preemptionPolicy, "preemptionPolicy"),
  ],
  deletionForbidden: (name) =>
    Object.hasOwn(systemClasses, name) ? "this is a system priority class and cannot be deleted" : undefined,
  columns: [
    nameColumn,
    {
      name: "Value",
      type: "integer",
      doc: "Priority of pods of this class.",
      cell: ({ value }: PriorityClass) => value,
    },
    {
      name: "Global-Default",
      type: "boolean",
      doc: "Whether pods without a priority class get this one.",
      cell: ({ globalDefault }: PriorityClass) => globalDefault ?? false,
    },
    ageColumn,
  ],
});
