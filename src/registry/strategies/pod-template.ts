// Pod templates in other objects: defaults, validation and table columns.
import type { LabelSelector, ObjectMeta, PodTemplateSpec } from "#api";
import { type FieldError, forbiddenField } from "#base";
import { validateAnnotations, validateLabels } from "../object-meta.ts";
import { type ApiObject, type RequestContext, type Column, type Strategy, strategy } from "../strategy.ts";
import { joined, selectorText } from "./cells/text.ts";
import { podSpecDefaults } from "./pod-defaults.ts";
import { appArmorMatchErrors, templateAppArmorWarnings } from "./pod-apparmor.ts";
import { dropAppArmor, dropDisabled } from "./pod-gates.ts";
import { annotationErrors, seccompMatchErrors } from "./pod-validation/annotations.ts";
import { podSpecErrors } from "./pod-validation/pod-spec.ts";
import { podRules } from "./pod-validation/rules.ts";
import { podWarnings } from "./pod-warnings.ts";

/** Applies defaults that depend on other fields. */
export function podTemplateDefaults({ metadata, spec }: PodTemplateSpec): void {
  podSpecDefaults(metadata, spec);
  dropEmptyManagedFields(metadata);
}

/** Only in a top-level object can an empty list reset the managers. */
export function dropEmptyManagedFields(metadata: ObjectMeta): void {
  if (metadata.managedFields?.length === 0) delete metadata.managedFields;
}

/**
 * Returns the strategy of a kind with a pod template: drops fields of disabled features from the template,
 * although managed fields still list them.
 */
export function templated<T extends ApiObject>(
  templateOf: (obj: T) => PodTemplateSpec | undefined,
  given: Strategy<T>,
): Strategy {
  const drop = (obj: T, ctx: RequestContext, old?: T): void => {
    const template = templateOf(obj);
    const before = old && templateOf(old);
    if (!template) return;
    dropDisabled(template.spec, ctx.settings, before?.spec);
    dropAppArmor(template.metadata, ctx, before?.metadata);
  };
  return strategy<T>({
    ...given,
    prepareForCreate: (obj, ctx) => {
      drop(obj, ctx);
      given.prepareForCreate?.(obj, ctx);
    },
    prepareForUpdate: (obj, old, ctx) => {
      drop(obj, ctx, old);
      given.prepareForUpdate?.(obj, old, ctx);
    },
  });
}

/** Validates a template; errors that the old template has, too, are tolerated. */
export function validatePodTemplate(
  template: PodTemplateSpec,
  path: string,
  ctx: RequestContext,
  old?: PodTemplateSpec,
): FieldError[] {
  const { metadata, spec } = template;
  const rules = podRules(ctx, undefined, old);
  const errors = [
    ...validateLabels(metadata.labels, `${path}.labels`),
    ...validateAnnotations(metadata.annotations, `${path}.annotations`),
    ...annotationErrors(metadata.annotations, spec, rules, `${path}.annotations`),
    ...podSpecErrors(spec, rules, `${path}.spec`),
    ...seccompMatchErrors(metadata, spec, ctx.dialect, `${path}.spec`),
    ...appArmorMatchErrors(metadata, spec, ctx.dialect, `${path}.spec`),
  ];
  if (spec.ephemeralContainers?.length)
    errors.push(
      forbiddenField(`${path}.spec.ephemeralContainers`, "ephemeral containers not allowed in pod template"),
    );
  return errors;
}

/** Returns warnings about a template that is valid but inadvisable, for new and changed objects. */
export function podTemplateWarnings(
  template: PodTemplateSpec,
  { metadata, old }: Changed,
  path: string,
  { dialect, settings }: RequestContext,
): string[] {
  if (old && old.metadata.generation === metadata.generation) return [];
  return [
    ...podWarnings(template.metadata, template.spec, dialect, path),
    ...(settings.appArmorFields
      ? templateAppArmorWarnings(template.metadata, template.spec, dialect, path)
      : []),
  ];
}

interface Changed {
  readonly metadata: ObjectMeta;
  readonly old: { readonly metadata: ObjectMeta } | undefined;
}

interface Templated {
  readonly spec: { readonly template?: PodTemplateSpec | undefined };
}

export const containersText = (template: PodTemplateSpec | undefined): string =>
  joined((template?.spec.containers ?? []).map(({ name }) => name));
export const imagesText = (template: PodTemplateSpec | undefined): string =>
  joined((template?.spec.containers ?? []).map(({ image }) => image ?? ""));

/** The last columns of kinds that create pods. */
export const podColumns: readonly Column<Templated>[] = [
  {
    name: "Containers",
    type: "string",
    priority: 1,
    doc: "Names of the containers in each pod.",
    cell: ({ spec }) => containersText(spec.template),
  },
  {
    name: "Images",
    type: "string",
    priority: 1,
    doc: "Images of the containers in each pod.",
    cell: ({ spec }) => imagesText(spec.template),
  },
];

/** Follows podColumns for kinds that select pods by label. */
export const podSelectorColumn: Column<{
  readonly spec: { readonly selector?: LabelSelector | null | undefined };
}> = {
  name: "Selector",
  type: "string",
  priority: 1,
  doc: "Label selector of its pods.",
  cell: ({ spec }) => selectorText(spec.selector),
};
