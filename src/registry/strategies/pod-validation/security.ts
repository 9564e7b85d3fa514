// Validation of security contexts.
import type { PodSecurityContext, PodSpec, SeccompProfile, SecurityContext, Sysctl } from "#api";
import { type FieldError, duplicate, forbiddenField, invalidValue, notSupported, required } from "#base";
import { appArmorErrors } from "../pod-apparmor.ts";
import { oneOf } from "../rules/one-of.ts";
import { descendingPath } from "./paths.ts";
import { hostNetworkErrors } from "./ports.ts";
import { windowsOptionErrors } from "./windows.ts";

const maxId = 2 ** 31 - 1;
const maxSysctlLength = 253;
const sysctlSegment = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const sysctlName = new RegExp(`^(${sysctlSegment}[./])*${sysctlSegment}$`);

const idErrors = (id: number | undefined, field: string): FieldError[] =>
  id !== undefined && (id < 0 || id > maxId)
    ? [invalidValue(field, id, `must be between 0 and ${maxId}, inclusive`)]
    : [];

export function containerSecurityErrors(
  context: SecurityContext | undefined,
  allowPrivileged: boolean,
  path: string,
): FieldError[] {
  if (!context) return [];
  const {
    privileged,
    runAsUser,
    runAsGroup,
    procMount,
    seccompProfile,
    appArmorProfile,
    allowPrivilegeEscalation,
    capabilities,
    windowsOptions,
  } = context;
  const errors: FieldError[] = [];
  if (privileged && !allowPrivileged)
    errors.push(forbiddenField(`${path}.privileged`, "disallowed by cluster policy"));
  errors.push(...idErrors(runAsUser, `${path}.runAsUser`), ...idErrors(runAsGroup, `${path}.runAsGroup`));
  if (procMount !== undefined && !["Default", "Unmasked"].includes(procMount))
    errors.push(notSupported(`${path}.procMount`, procMount, ["Default", "Unmasked"]));
  errors.push(...seccompErrors(seccompProfile, `${path}.seccompProfile`));
  if (allowPrivilegeEscalation === false) {
    if (privileged)
      errors.push(
        invalidValue(
          path,
          context,
          "cannot set `allowPrivilegeEscalation` to false and `privileged` to true",
        ),
      );
    for (const name of capabilities?.add ?? [])
      if (name === "CAP_SYS_ADMIN")
        errors.push(
          invalidValue(
            path,
            context,
            "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN",
          ),
        );
  }
  return [
    ...errors,
    ...windowsOptionErrors(windowsOptions, `${path}.windowsOptions`),
    ...appArmorErrors(appArmorProfile, `${path}.appArmorProfile`),
  ];
}

export function podSecurityErrors(
  context: PodSecurityContext | undefined,
  spec: PodSpec,
  specPath: string,
): FieldError[] {
  const path = `${specPath}.securityContext`;
  const errors = spec.hostNetwork ? hostNetworkErrors(spec.containers ?? [], `${specPath}.containers`) : [];
  const {
    fsGroup,
    runAsUser,
    runAsGroup,
    supplementalGroups,
    sysctls,
    fsGroupChangePolicy,
    seccompProfile,
    appArmorProfile,
    windowsOptions,
  } = context ?? {};
  errors.push(
    ...idErrors(fsGroup, `${path}.fsGroup`),
    ...idErrors(runAsUser, `${path}.runAsUser`),
    ...idErrors(runAsGroup, `${path}.runAsGroup`),
  );
  supplementalGroups?.forEach((group, position) =>
    errors.push(...idErrors(group, `${path}.supplementalGroups[${position}]`)),
  );
  if (spec.hostPID && spec.shareProcessNamespace)
    errors.push(
      invalidValue(
        `${path}.shareProcessNamespace`,
        true,
        "ShareProcessNamespace and HostPID cannot both be enabled",
      ),
    );
  errors.push(...sysctlErrors(sysctls, `${path}.sysctls`));
  const policies = ["Always", "OnRootMismatch"];
  if (fsGroupChangePolicy !== undefined && !policies.includes(fsGroupChangePolicy))
    errors.push(notSupported(`${path}.fsGroupChangePolicy`, fsGroupChangePolicy, policies));
  return [
    ...errors,
    ...seccompErrors(seccompProfile, `${path}.seccompProfile`),
    ...windowsOptionErrors(windowsOptions, `${path}.windowsOptions`),
    ...appArmorErrors(appArmorProfile, `${path}.appArmorProfile`),
  ];
}

function seccompErrors(profile: SeccompProfile | undefined, path: string): FieldError[] {
  if (!profile) return [];
  const errors = oneOf(profile.type, `${path}.type`, ["Localhost", "RuntimeDefault", "Unconfined"]);
  const { type, localhostProfile: file } = profile;
  if (type !== "Localhost")
    return file === undefined
      ? errors
      : [
          ...errors,
          invalidValue(`${path}.localhostProfile`, profile, "can only be set when seccomp type is Localhost"),
        ];
  return [
    ...errors,
    ...(file === undefined
      ? [required(`${path}.localhostProfile`, "must be set when seccomp type is Localhost")]
      : descendingPath(file, `${path}.localhostProfile`)),
  ];
}

function sysctlErrors(sysctls: readonly Sysctl[] | undefined, path: string): FieldError[] {
  const seen = new Set<string>();
  return (sysctls ?? []).flatMap(({ name }, position) => {
    const at = `${path}[${position}].name`;
    const repeated = seen.has(name);
    seen.add(name);
    if (!name) return [required(at)];
    if (name.length > maxSysctlLength || !sysctlName.test(name))
      return [
        invalidValue(
          at,
          name,
          `must have at most ${maxSysctlLength} characters and match regex ${sysctlName.source}`,
        ),
      ];
    return repeated ? [duplicate(at, name)] : [];
  });
}
