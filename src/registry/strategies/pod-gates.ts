// Fields of features that are off in this release: they are accepted and dropped, unless the stored object
// uses them.
import type { ContainerStatus, ObjectMeta, PodSpec, PodStatus } from "#api";
import type { RegistrySettings, RequestContext } from "../strategy.ts";
import { everyContainer } from "./pod-validation/every-container.ts";

export function dropDisabled(spec: PodSpec, settings: RegistrySettings, old?: PodSpec): void {
  const before = old ? [...everyContainer(old, "")].map(({ container }) => container) : [];
  if (!settings.userNamespaces && old?.hostUsers === undefined) delete spec.hostUsers;
  const keepsClaims = settings.resourceClaims || Boolean(old?.resourceClaims?.length);
  if (!keepsClaims) delete spec.resourceClaims;
  const keepsResize = settings.podResize || resizes(old);
  const keepsProcMount =
    settings.procMount ||
    before.some(({ securityContext }) => (securityContext?.procMount ?? "Default") !== "Default");
  for (const { container } of everyContainer(spec, "")) {
    if (!keepsClaims) delete container.resources.claims;
    if (!keepsResize) delete container.resizePolicy;
    if (!keepsProcMount && container.securityContext?.procMount !== undefined)
      container.securityContext.procMount = "Default";
  }
  for (const { ephemeral } of spec.volumes ?? [])
    delete ephemeral?.volumeClaimTemplate?.spec.resources.claims;
}

/** Drops the annotations that name AppArmor profiles, if the feature is off. */
export function dropAppArmor(
  metadata: ObjectMeta,
  { dialect, settings }: Pick<RequestContext, "dialect" | "settings">,
  old?: ObjectMeta,
): void {
  if (settings.appArmor !== false || !metadata.annotations) return;
  const prefix = dialect.names.annotations.appArmorContainerPrefix;
  const isProfile = (key: string): boolean => key.startsWith(prefix);
  if (Object.keys(old?.annotations ?? {}).some(isProfile)) return;
  for (const key of Object.keys(metadata.annotations)) if (isProfile(key)) delete metadata.annotations[key];
}

const resizes = (spec?: PodSpec): boolean =>
  (spec?.containers ?? []).some(({ resizePolicy }) => resizePolicy?.length);

/**
 * Drops the resize status that nodes report, wherever else the status of a pod is written, if the feature is
 * off.
 */
export function withoutResize(status: PodStatus, settings: RegistrySettings, old: PodSpec): PodStatus {
  if (settings.podResize) return status;
  const hasResizeFields = ({ allocatedResources, resources }: ContainerStatus): boolean =>
    allocatedResources !== undefined || resources !== undefined;
  const lists = statusLists.filter((key) => status[key]?.some(hasResizeFields));
  if (resizes(old) || (status.resize === undefined && lists.length === 0)) return status;
  const { resize: _resize, ...rest } = status;
  for (const key of lists)
    rest[key] = rest[key]!.map(({ allocatedResources: _allocated, resources: _resources, ...own }) => own);
  return rest;
}

const statusLists = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"] as const;
