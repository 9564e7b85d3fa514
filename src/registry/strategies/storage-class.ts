// Storage classes: how volumes are provisioned. Most fields are immutable.
import { StorageClass, type TopologySelectorLabelRequirement } from "#api";
import { type FieldError, duplicate, forbiddenField, invalidValue, required, tooLong } from "#base";
import { strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { isDefaultClass } from "./cells/volume.ts";
import { oldNodeLabel } from "./pod-warnings.ts";
import { qualifiedNameErrors } from "./rules/format.ts";
import { supported } from "./rules/one-of.ts";
import { repeats } from "./rules/repeats.ts";
import { same, unchanged } from "./rules/unchanged.ts";

const maxParameters = 512;
const maxParametersBytes = 256 * 1024;
/** Bounds the number of errors for equal terms, which would grow with the square of the number of terms. */
const maxDuplicates = 1000;

function errorsOf({
  provisioner,
  parameters,
  reclaimPolicy,
  volumeBindingMode: mode,
  allowedTopologies,
}: StorageClass): FieldError[] {
  const errors = provisioner
    ? qualifiedNameErrors(provisioner.toLowerCase(), "provisioner")
    : [required("provisioner")];
  errors.push(...parameterErrors(Object.entries(parameters ?? {})));
  if (reclaimPolicy) errors.push(...supported(reclaimPolicy, "reclaimPolicy", ["Delete", "Retain"]));
  errors.push(
    ...(mode === undefined
      ? [required("volumeBindingMode")]
      : supported(mode, "volumeBindingMode", ["Immediate", "WaitForFirstConsumer"])),
  );
  return [...errors, ...topologyErrors(allowedTopologies ?? [])];
}

function parameterErrors(parameters: readonly (readonly [string, string])[]): FieldError[] {
  if (parameters.length > maxParameters) return [tooLong("parameters", "", maxParameters)];
  const errors = parameters
    .filter(([key]) => key === "")
    .map(([key]) => invalidValue("parameters", key, "field can not be empty."));
  const size = parameters.reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
  return size > maxParametersBytes ? [...errors, tooLong("parameters", "", maxParametersBytes)] : errors;
}

/** Returns the keys and their values, independent of their order. */
const shapeOf = (expressions: readonly TopologySelectorLabelRequirement[]): string =>
  JSON.stringify(
    [...new Map(expressions.map(({ key, values }) => [key, [...new Set(values)].toSorted()]))].toSorted(
      ([a], [b]) => (a < b ? -1 : 1),
    ),
  );
const emptyShape = shapeOf([]);

function topologyErrors(terms: NonNullable<StorageClass["allowedTopologies"]>): FieldError[] {
  const earlier = new Map<string, number>();
  let left = maxDuplicates;
  return terms.flatMap(({ matchLabelExpressions }, position) => {
    const path = `allowedTopologies[${position}].matchLabelExpressions`;
    const keys = new Set<string>();
    const errors = (matchLabelExpressions ?? []).flatMap(({ key, values }, index) => {
      const at = `${path}[${index}]`;
      const found: FieldError[] = values?.length ? [] : [required(`${at}.values`)];
      const repeated = repeats<string>();
      values?.forEach((value, place) => {
        if (repeated(value)) found.push(duplicate(`${at}.values[${place}]`, value));
      });
      found.push(...qualifiedNameErrors(key, `${at}.key`));
      if (keys.has(key)) found.push(duplicate(`${at}.key`, key));
      keys.add(key);
      return found;
    });
    // As in the reference, an empty term equals every position that is not filled yet.
    const shape = shapeOf(matchLabelExpressions ?? []);
    const alike = earlier.get(shape) ?? 0;
    earlier.set(shape, alike + 1);
    const reported = Math.min(left, alike + (shape === emptyShape ? terms.length : 0));
    left -= reported;
    return [...errors, ...Array.from({ length: reported }, () => duplicate(path, ""))];
  });
}

function changeErrors(obj: StorageClass, old: StorageClass): FieldError[] {
  const fixed = (["parameters", "provisioner", "reclaimPolicy"] as const).filter(
    (key) => !same(obj[key], old[key]),
  );
  return [
    ...fixed.map((key) => forbiddenField(key, `updates to ${key} are forbidden.`)),
    ...unchanged(obj.volumeBindingMode, old.volumeBindingMode, "volumeBindingMode"),
  ];
}

export const storageClass = strategy<StorageClass>({
  resource: "storageclasses",
  singular: "storageclass",
  shortNames: ["sc"],
  scope: "Cluster",
  hub: StorageClass,
  metaChecks: { asNew: 1 },
  returnsDeleted: true,
  validate: errorsOf,
  validateUpdate: (obj, old) => [...errorsOf(obj), ...changeErrors(obj, old)],
  warnings: ({ allowedTopologies }, _old, { dialect }) =>
    (allowedTopologies ?? []).flatMap(({ matchLabelExpressions }, position) =>
      (matchLabelExpressions ?? []).flatMap(({ key }, index) => {
        const text = oldNodeLabel(key, dialect);
        return text ? [`allowedTopologies[${position}].matchLabelExpressions[${index}].key: ${text}`] : [];
      }),
    ),
  columns: [
    {
      ...nameColumn,
      cell: ({ metadata }: StorageClass) =>
        `${metadata.name ?? ""}${isDefaultClass(metadata) ? " (default)" : ""}`,
    },
    {
      name: "Provisioner",
      type: "string",
      doc: "Provisioner of the volumes.",
      cell: ({ provisioner }: StorageClass) => provisioner,
    },
    {
      name: "ReclaimPolicy",
      type: "string",
      doc: "What happens to a volume when its claim is deleted.",
      cell: ({ reclaimPolicy }: StorageClass) => reclaimPolicy ?? "Delete",
    },
    {
      name: "VolumeBindingMode",
      type: "string",
      doc: "When volumes are bound and provisioned.",
      cell: ({ volumeBindingMode }: StorageClass) => volumeBindingMode ?? "Immediate",
    },
    {
      name: "AllowVolumeExpansion",
      type: "string",
      doc: "Whether volumes may be expanded.",
      cell: ({ allowVolumeExpansion }: StorageClass) => allowVolumeExpansion ?? false,
    },
    ageColumn,
  ],
});
