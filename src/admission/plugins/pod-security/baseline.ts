// The baseline standard: prevents known privilege escalations.
import type { AppArmorProfile, ObjectMeta, PodSpec, SELinuxOptions, SecurityContext } from "#api";
import type { Dialect } from "#dialect";
import {
  type Finding,
  containersOf,
  distinct,
  named,
  namesOf,
  plural,
  quoted,
  setters,
} from "./finding-texts.ts";

export type Check = (metadata: ObjectMeta, spec: PodSpec, dialect: Dialect) => Finding | undefined;

// prettier-ignore
const defaultCapabilities = new Set(["AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"]);
const allowedTypes = new Set(["", "container_t", "container_init_t", "container_kvm_t"]);
const baseSysctls = [
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.tcp_syncookies",
  "net.ipv4.ping_group_range",
  "net.ipv4.ip_unprivileged_port_start",
];

/** Returns the containers whose security context violates a check. */
const byContainer = (
  spec: PodSpec,
  wrong: (context: SecurityContext) => boolean,
): ReturnType<typeof containersOf> =>
  containersOf(spec).filter(({ securityContext }) => securityContext && wrong(securityContext));

export const appArmorProfile: Check = ({ annotations = {} }, spec, { names }) => {
  const allowed = (profile: string): boolean =>
    profile === "" || profile === "runtime/default" || profile.startsWith("localhost/");
  const found = Object.entries(annotations)
    .filter(
      ([key, profile]) => key.startsWith(names.annotations.appArmorContainerPrefix) && !allowed(profile),
    )
    .map(([key, profile]) => `${key}="${profile}"`)
    .toSorted();
  const isForbidden = (profile: AppArmorProfile | undefined): boolean =>
    profile !== undefined && profile.type !== "RuntimeDefault" && profile.type !== "Localhost";
  const ofPod = spec.securityContext?.appArmorProfile;
  const wrong = byContainer(spec, ({ appArmorProfile: profile }) => isForbidden(profile));
  if (isForbidden(ofPod) || wrong.length > 0) {
    const profiles = wrong.map(({ securityContext }) => securityContext?.appArmorProfile);
    const values = distinct(
      [...(isForbidden(ofPod) ? [ofPod] : []), ...profiles].map((profile) => profile?.type ?? ""),
    );
    const all = [...values, ...found];
    const who = [
      ...setters(isForbidden(ofPod), wrong),
      ...(found.length > 0 ? [plural("annotation", found.length)] : []),
    ];
    return {
      reason: plural("forbidden AppArmor profile", all.length),
      detail: `${who.join(" and ")} must not set AppArmor profile type to ${quoted(all)}`,
    };
  }
  return found.length > 0
    ? { reason: plural("forbidden AppArmor profile", found.length), detail: found.join(", ") }
    : undefined;
};

export const capabilities: Check = (_metadata, spec) => {
  const odd = (context: SecurityContext): string[] =>
    (context.capabilities?.add ?? []).filter((name) => !defaultCapabilities.has(name));
  const found = byContainer(spec, (context) => odd(context).length > 0);
  if (found.length === 0) return undefined;
  const added = distinct(found.flatMap(({ securityContext }) => odd(securityContext!)));
  return {
    reason: "non-default capabilities",
    detail: `${named("container", namesOf(found))} must not include ${quoted(added)} in securityContext.capabilities.add`,
  };
};

export const hostNamespaces: Check = (_metadata, spec) => {
  const found = (["hostNetwork", "hostPID", "hostIPC"] as const)
    .filter((key) => spec[key])
    .map((key) => `${key}=true`);
  return found.length > 0 ? { reason: "host namespaces", detail: found.join(", ") } : undefined;
};

export const hostPathVolumes: Check = (_metadata, { volumes = [] }) => {
  const found = volumes.filter(({ hostPath }) => hostPath).map(({ name }) => name);
  return found.length > 0 ? { reason: "hostPath volumes", detail: named("volume", found) } : undefined;
};

export const hostPorts: Check = (_metadata, spec) => {
  const found = containersOf(spec).filter(({ ports }) => ports?.some(({ hostPort }) => hostPort));
  if (found.length === 0) return undefined;
  const ports = distinct(
    found.flatMap(({ ports: own = [] }) =>
      own.flatMap(({ hostPort }) => (hostPort ? [String(hostPort)] : [])),
    ),
  );
  return {
    reason: "hostPort",
    detail: `${named("container", namesOf(found))} ${found.length === 1 ? "uses" : "use"} ${plural("hostPort", ports.length)} ${ports.join(", ")}`,
  };
};

export const privileged: Check = (_metadata, spec) => {
  const found = byContainer(spec, (context) => context.privileged === true);
  return found.length > 0
    ? {
        reason: "privileged",
        detail: `${named("container", namesOf(found))} must not set securityContext.privileged=true`,
      }
    : undefined;
};

export const procMount: Check = (_metadata, spec) => {
  const found = byContainer(
    spec,
    (context) => context.procMount !== undefined && context.procMount !== "Default",
  );
  if (found.length === 0) return undefined;
  const types = distinct(found.map(({ securityContext }) => securityContext!.procMount!));
  return {
    reason: "procMount",
    detail: `${named("container", namesOf(found))} must not set securityContext.procMount to ${quoted(types)}`,
  };
};

export const seLinuxOptions: Check = (_metadata, spec) => {
  const odd = (options: SELinuxOptions | undefined): boolean =>
    options !== undefined &&
    (!allowedTypes.has(options.type ?? "") || Boolean(options.user) || Boolean(options.role));
  const ofPod = spec.securityContext?.seLinuxOptions;
  const found = byContainer(spec, (context) => odd(context.seLinuxOptions));
  const all = [
    ...(odd(ofPod) ? [ofPod!] : []),
    ...found.map(({ securityContext }) => securityContext!.seLinuxOptions!),
  ];
  if (all.length === 0) return undefined;
  const types = distinct(all.map(({ type = "" }) => type).filter((type) => !allowedTypes.has(type)));
  const data = [
    ...(types.length > 0 ? [named("type", types)] : []),
    ...(all.some(({ user }) => user) ? ["user may not be set"] : []),
    ...(all.some(({ role }) => role) ? ["role may not be set"] : []),
  ];
  return {
    reason: "seLinuxOptions",
    detail: `${setters(odd(ofPod), found).join(" and ")} set forbidden securityContext.seLinuxOptions: ${data.join("; ")}`,
  };
};

/** The deprecated annotations that preceded the seccompProfile field. */
export const seccompAnnotations: Check = ({ annotations = {} }, spec, { names: { annotations: names } }) => {
  const allowed = (profile: string): boolean =>
    profile === "runtime/default" || profile === "docker/default" || profile.startsWith("localhost/");
  const keys = [
    names.seccompPod,
    ...containersOf(spec).map(({ name }) => names.seccompContainerPrefix + name),
  ];
  const found = distinct(
    keys.flatMap((key) =>
      annotations[key] === undefined || allowed(annotations[key]) ? [] : [`${key}="${annotations[key]}"`],
    ),
  );
  return found.length > 0
    ? {
        reason: "seccompProfile",
        detail: `forbidden ${plural("annotation", found.length)} ${found.join(", ")}`,
      }
    : undefined;
};

export const isConfined = (profile: { readonly type: string }): boolean =>
  profile.type === "Localhost" || profile.type === "RuntimeDefault";

export const seccompProfile: Check = (_metadata, spec) => {
  const ofPod = spec.securityContext?.seccompProfile;
  const wrongPod = ofPod !== undefined && !isConfined(ofPod);
  const found = byContainer(spec, ({ seccompProfile: own }) => own !== undefined && !isConfined(own));
  if (!wrongPod && found.length === 0) return undefined;
  const types = distinct([
    ...(wrongPod ? [ofPod.type] : []),
    ...found.map(({ securityContext }) => securityContext!.seccompProfile!.type),
  ]);
  return {
    reason: "seccompProfile",
    detail: `${setters(wrongPod, found).join(" and ")} must not set securityContext.seccompProfile.type to ${quoted(types)}`,
  };
};

const sysctlsBut =
  (allowed: readonly string[]): Check =>
  (_metadata, { securityContext }) => {
    const found = (securityContext?.sysctls ?? [])
      .map(({ name }) => name)
      .filter((name) => !allowed.includes(name));
    return found.length > 0 ? { reason: "forbidden sysctls", detail: found.join(", ") } : undefined;
  };
export const sysctls = sysctlsBut(baseSysctls);
export const moreSysctls = sysctlsBut([...baseSysctls, "net.ipv4.ip_local_reserved_ports"]);

export const windowsHostProcess: Check = (_metadata, spec) => {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess === true;
  const found = byContainer(spec, (context) => context.windowsOptions?.hostProcess === true);
  const violators = setters(ofPod, found);
  return violators.length > 0
    ? {
        reason: "hostProcess",
        detail: `${violators.join(" and ")} must not set securityContext.windowsOptions.hostProcess=true`,
      }
    : undefined;
};
