// Pods described inside other objects: their defaults, their rules, and how tables show them.
import type { Container, PodSpec, PodTemplateSpec } from "#api";
import { type FieldError, duplicate, forbiddenField, required } from "#base";
import { dns1123LabelProblems } from "#schema";
import { validateAnnotations, validateLabels } from "../object-meta.ts";
import type { Circumstances, Column } from "../strategy.ts";
import { joined } from "./cells/text.ts";
import { formatErrors } from "./rules/format.ts";
import { oneOf } from "./rules/one-of.ts";

/** Fills in what depends on other fields. */
export function podTemplateDefaults({ spec }: PodTemplateSpec): void {
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) containerDefaults(container);
}

function containerDefaults(container: Container): void {
  container.imagePullPolicy ||= isLatest(container.image ?? "") ? "Always" : "IfNotPresent";
  const { limits, requests } = container.resources;
  if (limits) container.resources.requests = { ...limits, ...requests };
}

/** Whether an image is named without a tag or digest, or with the tag that moves. */
const isLatest = (image: string): boolean => !image.includes("@") && /^(?:.*\/)?[^/:]*(?::latest)?$/.test(image);

export function validatePodTemplate(template: PodTemplateSpec, path: string, _about: Circumstances): FieldError[] {
  const { metadata, spec } = template;
  const errors = [
    ...validateLabels(metadata.labels, `${path}.labels`),
    ...validateAnnotations(metadata.annotations, `${path}.annotations`),
    ...podSpecErrors(spec, `${path}.spec`),
  ];
  if (spec.ephemeralContainers?.length) errors.push(forbiddenField(`${path}.spec.ephemeralContainers`, "ephemeral containers not allowed in pod template"));
  return errors;
}

function podSpecErrors({ containers, initContainers, restartPolicy, dnsPolicy }: PodSpec, path: string): FieldError[] {
  const names = new Set<string>();
  const errors = containers?.length ? containerErrors(containers, `${path}.containers`, names) : [required(`${path}.containers`)];
  errors.push(...containerErrors(initContainers ?? [], `${path}.initContainers`, names));
  errors.push(...oneOf(restartPolicy, `${path}.restartPolicy`, ["Always", "Never", "OnFailure"]));
  return [...errors, ...oneOf(dnsPolicy, `${path}.dnsPolicy`, ["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"])];
}

function containerErrors(containers: readonly Container[], path: string, names: Set<string>): FieldError[] {
  return containers.flatMap(({ name, image, imagePullPolicy, terminationMessagePolicy }, position) => {
    const at = `${path}[${position}]`;
    const errors = name ? formatErrors(name, `${at}.name`, dns1123LabelProblems) : [required(`${at}.name`)];
    if (name && names.has(name)) errors.push(duplicate(`${at}.name`, name));
    names.add(name);
    if (!image) errors.push(required(`${at}.image`));
    errors.push(...oneOf(terminationMessagePolicy, `${at}.terminationMessagePolicy`, ["FallbackToLogsOnError", "File"]));
    return [...errors, ...oneOf(imagePullPolicy, `${at}.imagePullPolicy`, ["Always", "IfNotPresent", "Never"])];
  });
}

/** What clients should hear about a template that is allowed, but unwise. Said for new templates and changed ones. */
export function podTemplateWarnings(_template: PodTemplateSpec, _old: PodTemplateSpec | undefined, _path: string, _about: Circumstances): string[] {
  return [];
}

interface Templated {
  readonly spec: { readonly template?: PodTemplateSpec | undefined };
}

export const containersText = (template: PodTemplateSpec | undefined): string => joined((template?.spec.containers ?? []).map(({ name }) => name));
export const imagesText = (template: PodTemplateSpec | undefined): string => joined((template?.spec.containers ?? []).map(({ image }) => image ?? ""));

/** The last columns of whatever makes pods. */
export const podColumns: readonly Column<Templated>[] = [
  { name: "Containers", type: "string", priority: 1, doc: "Names of the containers in each pod.", cell: ({ spec }) => containersText(spec.template) },
  { name: "Images", type: "string", priority: 1, doc: "Images of the containers in each pod.", cell: ({ spec }) => imagesText(spec.template) },
];
