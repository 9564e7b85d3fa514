// CSI drivers, the drivers on each node, and storage capacity.
import { CSIDriver, type CSIDriverSpec, CSINode, type CSINodeDriver, CSIStorageCapacity } from "#api";
import { type FieldError, duplicate, invalidValue, parseQuantity, required } from "#base";
import { dns1123SubdomainProblems } from "#schema";
import { strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { joined, orNone } from "./cells/text.ts";
import { oldNodeLabel, termWarnings } from "./pod-warnings.ts";
import { formatErrors, qualifiedNameErrors } from "./rules/format.ts";
import { labelSelectorErrors } from "./rules/label-selector.ts";
import { notNegative } from "./rules/numbers.ts";
import { supported } from "./rules/one-of.ts";
import { repeats } from "./rules/repeats.ts";
import { same, unchanged } from "./rules/unchanged.ts";
import { driverNameErrors } from "./volume-rules.ts";

const minTokenSeconds = 600;
const maxTokenSeconds = 2 ** 32;

function tokenErrors({ tokenRequests }: CSIDriverSpec): FieldError[] {
  const audiences = new Set<string>();
  return (tokenRequests ?? []).flatMap(({ audience, expirationSeconds: seconds }, position) => {
    const at = `spec.tokenRequests[${position}]`;
    if (audiences.has(audience)) return [duplicate(`${at}.audience`, audience)];
    audiences.add(audience);
    const wrong = (detail: string): FieldError[] => [
      invalidValue(`${at}.expirationSeconds`, seconds, detail),
    ];
    if (seconds === undefined) return [];
    if (seconds < minTokenSeconds) return wrong("may not specify a duration less than 10 minutes");
    return seconds > maxTokenSeconds ? wrong("may not specify a duration larger than 2^32 seconds") : [];
  });
}

function driverErrors(spec: CSIDriverSpec): FieldError[] {
  const errors = spec.attachRequired === undefined ? [required("spec.attachedRequired")] : [];
  if (spec.podInfoOnMount === undefined) errors.push(required("spec.podInfoOnMount"));
  if (spec.storageCapacity === undefined) errors.push(required("spec.storageCapacity"));
  if (spec.fsGroupPolicy !== undefined)
    errors.push(
      ...supported(spec.fsGroupPolicy, "spec.fsGroupPolicy", ["File", "None", "ReadWriteOnceWithFSType"]),
    );
  errors.push(...tokenErrors(spec));
  for (const mode of spec.volumeLifecycleModes ?? [])
    errors.push(...supported(mode, "spec.volumeLifecycleModes", ["Persistent", "Ephemeral"]));
  return errors;
}

export const csiDriver = strategy<CSIDriver>({
  resource: "csidrivers",
  singular: "csidriver",
  scope: "Cluster",
  hub: CSIDriver,
  conditionalUpdate: true,
  returnsDeleted: true,
  prepareForCreate: ({ spec }, { settings }) => {
    if (settings.seLinuxMounts) spec.seLinuxMount ??= false;
    else delete spec.seLinuxMount;
  },
  prepareForUpdate: ({ metadata, spec }, { metadata: oldMeta, spec: old }, { settings }) => {
    if (settings.seLinuxMounts) spec.seLinuxMount ??= false;
    else if (old.seLinuxMount === undefined) delete spec.seLinuxMount;
    const renewed =
      !same(spec.tokenRequests, old.tokenRequests) ||
      spec.requiresRepublish !== old.requiresRepublish ||
      spec.seLinuxMount !== old.seLinuxMount;
    if (renewed) metadata.generation = (oldMeta.generation ?? 0) + 1;
  },
  validate: ({ spec }) => driverErrors(spec),
  validateUpdate: ({ spec }, { spec: old }) => [
    ...driverErrors(spec),
    ...unchanged(spec.attachRequired, old.attachRequired, "spec.attachedRequired"),
    ...unchanged(spec.fsGroupPolicy, old.fsGroupPolicy, "spec.fsGroupPolicy"),
    ...unchanged(spec.podInfoOnMount, old.podInfoOnMount, "spec.podInfoOnMount"),
    ...unchanged(spec.volumeLifecycleModes, old.volumeLifecycleModes, "spec.volumeLifecycleModes"),
    ...tokenErrors(spec),
  ],
  columns: [
    nameColumn,
    {
      name: "AttachRequired",
      type: "boolean",
      doc: "Whether volumes must be attached before they are mounted.",
      cell: ({ spec }: CSIDriver) => spec.attachRequired ?? true,
    },
    {
      name: "PodInfoOnMount",
      type: "boolean",
      doc: "Whether pod information is passed to the driver on mount.",
      cell: ({ spec }: CSIDriver) => spec.podInfoOnMount ?? false,
    },
    {
      name: "StorageCapacity",
      type: "boolean",
      doc: "Whether the scheduler considers the storage capacity.",
      cell: ({ spec }: CSIDriver) => spec.storageCapacity ?? false,
    },
    {
      name: "TokenRequests",
      type: "string",
      doc: "Audiences of the service account tokens passed to the driver.",
      cell: ({ spec }: CSIDriver) =>
        spec.tokenRequests ? joined(spec.tokenRequests.map(({ audience }) => audience)) : "<unset>",
    },
    {
      name: "RequiresRepublish",
      type: "boolean",
      doc: "Whether volumes are republished periodically.",
      cell: ({ spec }: CSIDriver) => spec.requiresRepublish ?? false,
    },
    {
      name: "Modes",
      type: "string",
      doc: "Lifecycle modes of volumes that the driver supports.",
      cell: ({ spec }: CSIDriver) => orNone(joined(spec.volumeLifecycleModes)),
    },
    ageColumn,
  ],
});

const maxNodeIdLength = 256;

function nodeDriverErrors(drivers: readonly CSINodeDriver[] | null): FieldError[] {
  const names = new Set<string>();
  return (drivers ?? []).flatMap(({ name, nodeID, allocatable, topologyKeys }, position) => {
    const at = `spec.drivers[${position}]`;
    const errors = driverNameErrors(name, `${at}.name`);
    if (!nodeID) errors.push(required(`${at}.nodeID`));
    else if (nodeID.length > maxNodeIdLength)
      errors.push(invalidValue(`${at}.nodeID`, nodeID, `must be ${maxNodeIdLength} characters or less`));
    errors.push(...notNegative(allocatable?.count, `${at}.allocatable.count`));
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    names.add(name);
    const repeated = repeats<string>();
    topologyKeys?.forEach((key) => {
      if (!key) errors.push(required(at));
      if (repeated(key)) errors.push(duplicate(at, key));
      errors.push(...qualifiedNameErrors(key, at));
    });
    return errors;
  });
}

export const csiNode = strategy<CSINode>({
  resource: "csinodes",
  singular: "csinode",
  scope: "Cluster",
  hub: CSINode,
  conditionalUpdate: true,
  returnsDeleted: true,
  metaChecks: { asNew: 2, asChange: 0 },
  validate: ({ spec }) => nodeDriverErrors(spec.drivers),
  // The reference validates a changed node twice and reports every error twice.
  validateUpdate: ({ spec }, { spec: old }) => {
    const errors = nodeDriverErrors(spec.drivers);
    const known = new Map((old.drivers ?? []).map((driver) => [driver.name, driver]));
    const changed = (spec.drivers ?? []).filter(
      (driver) => known.has(driver.name) && !same(known.get(driver.name), driver),
    );
    return [
      ...errors,
      ...errors,
      ...changed.map((driver) => invalidValue("CSINodeDriver", driver, "field is immutable")),
    ];
  },
  columns: [
    nameColumn,
    {
      name: "Drivers",
      type: "integer",
      doc: "Number of drivers on the node.",
      cell: ({ spec }: CSINode) => spec.drivers?.length ?? 0,
    },
    ageColumn,
  ],
});

function capacityErrors({ nodeTopology, storageClassName, capacity }: CSIStorageCapacity): FieldError[] {
  const errors = [
    ...labelSelectorErrors(nodeTopology, "nodeTopology"),
    ...formatErrors(storageClassName, "storageClassName", dns1123SubdomainProblems),
  ];
  return capacity !== undefined && parseQuantity(capacity).value < 0n
    ? [...errors, invalidValue("capacity", capacity, "must be greater than or equal to 0")]
    : errors;
}

export const csiStorageCapacity = strategy<CSIStorageCapacity>({
  resource: "csistoragecapacities",
  singular: "csistoragecapacity",
  scope: "Namespaced",
  hub: CSIStorageCapacity,
  metaChecks: { onCreate: 2, asNew: 1 },
  conditionalUpdate: true,
  // The reference validates a new capacity twice and reports every error twice.
  validate: (obj) => [...capacityErrors(obj), ...capacityErrors(obj)],
  validateUpdate: (obj, old) => [
    ...capacityErrors(obj),
    ...unchanged(obj.nodeTopology, old.nodeTopology, "nodeTopology"),
    ...unchanged(obj.storageClassName, old.storageClassName, "storageClassName"),
  ],
  warnings: ({ nodeTopology }, _old, { dialect }) => [
    ...termWarnings({ matchExpressions: nodeTopology?.matchExpressions }, dialect, "nodeTopology"),
    ...Object.keys(nodeTopology?.matchLabels ?? {}).flatMap((key) => {
      const text = oldNodeLabel(key, dialect);
      return text ? [`nodeTopology.matchLabels.${key}: ${text}`] : [];
    }),
  ],
});
