// Replication controllers and standalone pod templates.
import { PodTemplate, ReplicationController } from "#api";
import { type FieldError, invalidValue, labelSelectorText, required } from "#base";
import type { RequestContext } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { labelsText, orNone } from "./cells/text.ts";
import { statusPart } from "./parts.ts";
import {
  containersText,
  imagesText,
  podColumns,
  podTemplateDefaults,
  podTemplateWarnings,
  templated,
  validatePodTemplate,
} from "./pod-template.ts";
import { goMap } from "./rules/go-syntax.ts";
import { scaleView } from "./rules/scale.ts";
import { notNegative } from "./rules/numbers.ts";
import {
  counterErrors,
  longRunningErrors,
  podNameWarnings,
  shareErrors,
  sharedDiskErrors,
} from "./rules/workload.ts";

const path = "spec.template";

function specErrors(
  { minReadySeconds, selector, replicas, template }: ReplicationController["spec"],
  ctx: RequestContext,
): FieldError[] {
  const wanted = Object.entries(selector ?? {});
  const errors = notNegative(minReadySeconds, "spec.minReadySeconds");
  if (wanted.length === 0) errors.push(required("spec.selector"));
  errors.push(...notNegative(replicas, "spec.replicas"));
  if (!template) return [...errors, required(path)];
  const { labels } = template.metadata;
  if (wanted.some(([key, value]) => labels?.[key] !== value))
    errors.push(
      invalidValue(`${path}.metadata.labels`, goMap(labels), "`selector` does not match template `labels`"),
    );
  errors.push(...validatePodTemplate(template, path, ctx));
  if ((replicas ?? 0) > 1) errors.push(...sharedDiskErrors(template, path));
  return [...errors, ...longRunningErrors(template, path, "ReplicationController")];
}

export const replicationController = templated<ReplicationController>((obj) => obj.spec.template, {
  resource: "replicationcontrollers",
  singular: "replicationcontroller",
  shortNames: ["rc"],
  categories: ["all"],
  scope: "Namespaced",
  hub: ReplicationController,
  metaChecks: { asNew: 1 },
  storagePath: "controllers",
  generation: true,
  scale: scaleView((obj) => labelSelectorText({ matchLabels: obj.spec.selector })),
  status: "cleared",
  orphansDependents: {},
  defaults: ({ metadata, spec }) => {
    if (spec.template) podTemplateDefaults(spec.template);
    const labels = spec.template?.metadata.labels;
    if (!labels) return;
    if (Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels };
    if (Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels };
  },
  prepareForCreate: (obj) => {
    obj.status = { replicas: 0 };
  },
  validate: ({ spec }, ctx) => specErrors(spec, ctx),
  // The reference validates a changed controller twice and reports every error twice.
  validateUpdate: ({ spec }, _old, ctx) => [...specErrors(spec, ctx), ...specErrors(spec, ctx)],
  warnings: ({ metadata, spec }, old, ctx) => [
    ...(old ? [] : podNameWarnings(metadata.name)),
    // Warnings on an update are about the old template, as in the reference.
    ...(spec.template
      ? podTemplateWarnings(old?.spec.template ?? spec.template, { metadata, old }, path, ctx)
      : []),
  ],
  fields: ({ status }) => ({ "status.replicas": String(status.replicas) }),
  subresources: {
    status: statusPart(({ status }) => {
      const parts = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"];
      return [
        ...counterErrors(status, ["replicas", ...parts, "observedGeneration"]),
        ...shareErrors(status, parts),
      ];
    }),
  },
  columns: [
    nameColumn,
    {
      name: "Desired",
      type: "integer",
      doc: "Number of desired pods.",
      cell: ({ spec }: ReplicationController) => spec.replicas ?? 0,
    },
    {
      name: "Current",
      type: "integer",
      doc: "Number of pods.",
      cell: ({ status }: ReplicationController) => status.replicas,
    },
    {
      name: "Ready",
      type: "integer",
      doc: "Number of ready pods.",
      cell: ({ status }: ReplicationController) => status.readyReplicas ?? 0,
    },
    ageColumn,
    ...podColumns,
    {
      name: "Selector",
      type: "string",
      priority: 1,
      doc: "Label selector of its pods.",
      cell: ({ spec }: ReplicationController) => orNone(labelsText(spec.selector)),
    },
  ],
});

export const podTemplate = templated<PodTemplate>((obj) => obj.template, {
  resource: "podtemplates",
  singular: "podtemplate",
  scope: "Namespaced",
  hub: PodTemplate,
  generation: true,
  returnsDeleted: true,
  defaults: ({ template }) => podTemplateDefaults(template),
  validate: ({ template }, ctx) => validatePodTemplate(template, "template", ctx),
  warnings: ({ metadata, template }, old, ctx) =>
    podTemplateWarnings(template, { metadata, old }, "template", ctx),
  columns: [
    nameColumn,
    {
      name: "Containers",
      type: "string",
      doc: "Names of the containers.",
      cell: ({ template }: PodTemplate) => containersText(template),
    },
    {
      name: "Images",
      type: "string",
      doc: "Images of the containers.",
      cell: ({ template }: PodTemplate) => imagesText(template),
    },
    {
      name: "Pod Labels",
      type: "string",
      doc: "Labels of the pods.",
      cell: ({ template }: PodTemplate) => orNone(labelsText(template.metadata.labels)),
    },
  ],
});
