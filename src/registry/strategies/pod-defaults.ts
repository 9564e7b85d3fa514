// Defaults of pods and pod templates that depend on other fields, and deprecated fields kept consistent with
// their successors.
import type { Container, ObjectMeta, Pod, PodSpec } from "#api";
import { sourceKeys } from "./pod-validation/volume-sources.ts";
import { roundUp, roundUpAll } from "./rules/round-up.ts";

/** Defaults of every pod spec, in pods and in templates. */
export function podSpecDefaults(metadata: ObjectMeta, spec: PodSpec): void {
  dropOldAnnotations(metadata);
  alignServiceAccount(spec);
  for (const volume of spec.volumes ?? []) {
    if (!sourceKeys.some((key) => volume[key])) volume.emptyDir = {};
    roundUpAll(volume.ephemeral?.volumeClaimTemplate?.spec.resources);
  }
  const running = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  for (const container of [...running, ...(spec.ephemeralContainers ?? [])]) containerDefaults(container);
  if (spec.hostNetwork)
    for (const port of running.flatMap(({ ports }) => ports ?? [])) port.hostPort ||= port.containerPort;
  roundUp(spec.overhead);
}

/** Defaults of pods only, not of templates. */
export function podDefaults({ metadata, spec, status }: Pod): void {
  podSpecDefaults(metadata, spec);
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status;
  for (const each of [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses])
    roundUp(each.allocatedResources);
  for (const { resources } of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    if (resources.limits) resources.requests = { ...resources.limits, ...resources.requests };
  }
  spec.enableServiceLinks ??= true;
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) spec.terminationGracePeriodSeconds = 1;
}

/** Aligns both fields that name the service account; the newer one wins. */
export function alignServiceAccount(spec: PodSpec): void {
  const name = spec.serviceAccountName || spec.serviceAccount;
  if (name) spec.serviceAccountName = spec.serviceAccount = name;
}

// Init containers were once declared in annotations; old clients still send them.
const oldInitContainers = /^pod\.(?:alpha|beta)\.[^/]+\/init-container(?:s|-statuses)$/;
function dropOldAnnotations({ annotations = {} }: ObjectMeta): void {
  for (const key of Object.keys(annotations)) if (oldInitContainers.test(key)) delete annotations[key];
}

function containerDefaults(container: Container): void {
  container.imagePullPolicy ||= tagOf(container.image ?? "") === "latest" ? "Always" : "IfNotPresent";
  roundUpAll(container.resources);
}

const maxImageNameLength = 255;
const part = "[a-z0-9]+(?:(?:\\.|_{1,2}|-+)[a-z0-9]+)*";
const hostPart = "[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?";
const host = new RegExp(`^${hostPart}(?:\\.${hostPart})*(?::[0-9]+)?$`);
const path = new RegExp(
  `^${part}(?:/${part})*(?::(?<tag>\\w[\\w.-]{0,127}))?(?:@(?<digest>[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$`,
);

/**
 * Returns the tag of an image: `latest` when neither tag nor digest is given, undefined when the name is
 * malformed.
 */
export function tagOf(image: string): string | undefined {
  const slash = image.indexOf("/");
  const first = image.slice(0, Math.max(slash, 0));
  const hosted = /[.:]/.test(first) || first === "localhost";
  const found = path.exec(hosted ? image.slice(slash + 1) : image);
  if (!found || (hosted && !host.test(first)) || /^[a-f0-9]{64}$/.test(image)) return undefined;
  const name = image.replace(/@.*$/, "").replace(/:[^/]*$/, "");
  const full = hosted ? name : slash < 0 ? `docker.io/library/${name}` : `docker.io/${name}`;
  if (full.length > maxImageNameLength) return undefined;
  return found.groups!["tag"] ?? (found.groups!["digest"] ? undefined : "latest");
}
