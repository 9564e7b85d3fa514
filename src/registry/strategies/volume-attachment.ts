// Volume attachments: the intent to attach a volume to a node.
import { VolumeAttachment } from "#api";
import { type FieldError, forbiddenField, invalidValue, required, tooLong } from "#base";
import type { Dialect } from "#dialect";
import { dns1123SubdomainProblems } from "#schema";
import { strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { bareStatusPart } from "./parts.ts";
import { formatErrors } from "./rules/format.ts";
import { duplicateErrors } from "./rules/duplicate-errors.ts";
import { roundUp } from "./rules/round-up.ts";
import { same } from "./rules/unchanged.ts";
import { driverNameErrors, volumeSpecErrors } from "./volume-rules.ts";

const maxMetadataBytes = 256 * 1024;
const maxMessageLength = 1024;

function errorsOf({ spec, status }: VolumeAttachment, dialect: Dialect): FieldError[] {
  const { attacher, nodeName, source } = spec;
  const { persistentVolumeName: volume, inlineVolumeSpec: inline } = source;
  const errors = attacher ? [] : [required("spec.attacher")];
  const exactlyOne = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
  if (inline && volume !== undefined) errors.push(forbiddenField("spec.source", exactlyOne));
  else if (inline)
    errors.push(...volumeSpecErrors(inline, "spec.source.inlineVolumeSpec", dialect, "inline"));
  else if (volume === undefined) errors.push(required("spec.source", exactlyOne));
  else if (volume === "")
    errors.push(required("spec.source.persistentVolumeName", "must specify non empty persistentVolumeName"));
  errors.push(...formatErrors(nodeName, "spec.nodeName", dns1123SubdomainProblems));
  return [...errors, ...statusErrors(status)];
}

function statusErrors({
  attachmentMetadata,
  attachError,
  detachError,
}: VolumeAttachment["status"]): FieldError[] {
  const size = Object.entries(attachmentMetadata ?? {}).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
  const errors = size > maxMetadataBytes ? [tooLong("status.attachmentMetadata", "", maxMetadataBytes)] : [];
  if (Buffer.byteLength(attachError?.message ?? "") > maxMessageLength)
    errors.push(tooLong("status.attachError.message", "", maxMessageLength));
  if (Buffer.byteLength(detachError?.message ?? "") > maxMessageLength)
    errors.push(tooLong("status.detachError.message", "", maxMessageLength));
  return errors;
}

/** Stricter validation of new attachments: the driver and volume must have valid names. */
function newErrors({ spec }: VolumeAttachment): FieldError[] {
  const volume = spec.source.persistentVolumeName;
  return [
    ...driverNameErrors(spec.attacher, "spec.attacher"),
    ...(volume === undefined
      ? []
      : formatErrors(volume, "spec.source.persistentVolumeName", dns1123SubdomainProblems)),
  ];
}

export const volumeAttachment = strategy<VolumeAttachment>({
  resource: "volumeattachments",
  singular: "volumeattachment",
  scope: "Cluster",
  hub: VolumeAttachment,
  status: "cleared",
  conditionalUpdate: true,
  returnsDeleted: true,
  metaChecks: { asNew: 2, asChange: 0 },
  defaults: ({ spec }) => roundUp(spec.source.inlineVolumeSpec?.capacity),
  prepareForCreate: (obj) => {
    obj.status = { attached: false };
  },
  validate: (obj, { dialect }) => [...errorsOf(obj, dialect), ...newErrors(obj)],
  // The reference validates a changed attachment twice and reports every error twice.
  validateUpdate: (obj, old, { dialect }) => {
    const errors = errorsOf(obj, dialect);
    return [
      ...duplicateErrors(errors),
      ...(same(obj.spec, old.spec) ? [] : [invalidValue("spec", obj.spec, "field is immutable")]),
    ];
  },
  subresources: {
    status: {
      ...bareStatusPart<VolumeAttachment>(({ status }) => duplicateErrors(statusErrors(status))),
      metaChecks: { asNew: 2, asChange: 0 },
    },
  },
  columns: [
    nameColumn,
    {
      name: "Attacher",
      type: "string",
      format: "name",
      doc: "Driver that attaches the volume.",
      cell: ({ spec }: VolumeAttachment) => spec.attacher,
    },
    {
      name: "PV",
      type: "string",
      doc: "Persistent volume to attach.",
      cell: ({ spec }: VolumeAttachment) => spec.source.persistentVolumeName ?? "",
    },
    {
      name: "Node",
      type: "string",
      doc: "Node to which the volume is attached.",
      cell: ({ spec }: VolumeAttachment) => spec.nodeName,
    },
    {
      name: "Attached",
      type: "boolean",
      doc: "Whether the volume is attached.",
      cell: ({ status }: VolumeAttachment) => status.attached,
    },
    ageColumn,
  ],
});
