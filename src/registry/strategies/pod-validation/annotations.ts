// Validation of pod annotations that the system interprets.
import type { ObjectMeta, PodSpec, SeccompProfile, Toleration } from "#api";
import { type FieldError, forbiddenField, invalidValue } from "#base";
import { type Dialect, labelName } from "#dialect";
import { deletionCostErrors } from "./deletion-cost.ts";
import { everyContainer } from "./every-container.ts";
import { descendingPath } from "./paths.ts";
import type { PodRules } from "./rules.ts";
import { tolerationErrors } from "./tolerations.ts";

type Annotations = Readonly<Record<string, string>>;

const localhost = "localhost/";
const runtimeDefaults = ["runtime/default", "docker/default"];

export function annotationErrors(
  annotations: Annotations | undefined,
  spec: PodSpec,
  { dialect, tolerated }: PodRules,
  path: string,
): FieldError[] {
  if (!annotations) return [];
  const { configMirror } = dialect.names.annotations;
  const errors: FieldError[] = [];
  if (annotations[configMirror] !== undefined && !spec.nodeName)
    errors.push(
      invalidValue(
        `${path}[${configMirror}]`,
        annotations[configMirror],
        "must set spec.nodeName if mirror pod annotation is set",
      ),
    );
  errors.push(...tolerationAnnotationErrors(annotations, dialect, path));
  if (!tolerated.deletionCost) errors.push(...deletionCostErrors(annotations, dialect, path));
  return [
    ...errors,
    ...seccompAnnotationErrors(annotations, dialect, path),
    ...appArmorErrors(annotations, spec, dialect, path),
  ];
}

function tolerationAnnotationErrors(annotations: Annotations, dialect: Dialect, path: string): FieldError[] {
  const key = labelName(dialect, "scheduler.alpha", "tolerations");
  const text = annotations[key];
  if (!text) return [];
  try {
    const given: unknown = JSON.parse(text);
    if (given !== null && !Array.isArray(given)) throw new Error("a list of tolerations is expected");
    return tolerationErrors((given ?? []) as Toleration[], `${path}.${key}`);
  } catch (error) {
    return [invalidValue(path, key, (error as Error).message)];
  }
}

function seccompAnnotationErrors(annotations: Annotations, { names }: Dialect, path: string): FieldError[] {
  const { seccompPod, seccompContainerPrefix } = names.annotations;
  return Object.entries(annotations).flatMap(([key, profile]) => {
    if (key !== seccompPod && !key.startsWith(seccompContainerPrefix)) return [];
    const at = `${path}.${key}`;
    if (runtimeDefaults.includes(profile) || profile === "unconfined") return [];
    if (profile.startsWith(localhost)) return descendingPath(profile.slice(localhost.length), at);
    return [invalidValue(at, profile, "must be a valid seccomp profile")];
  });
}

function appArmorErrors(
  annotations: Annotations,
  spec: PodSpec,
  { names }: Dialect,
  path: string,
): FieldError[] {
  const prefix = names.annotations.appArmorContainerPrefix;
  let containers: Set<string> | undefined;
  return Object.entries(annotations).flatMap(([key, profile]) => {
    if (!key.startsWith(prefix)) return [];
    const name = key.slice(prefix.length);
    containers ??= new Set(Array.from(everyContainer(spec, ""), ({ container }) => container.name));
    const errors = containers.has(name) ? [] : [invalidValue(`${path}[${key}]`, name, "container not found")];
    if (
      profile !== "" &&
      profile !== "runtime/default" &&
      profile !== "unconfined" &&
      !profile.startsWith(localhost)
    )
      errors.push(invalidValue(`${path}[${key}]`, profile, `invalid AppArmor profile name: "${profile}"`));
    return errors;
  });
}

/** Validates that a seccomp profile set by both annotation and field is the same. */
export function seccompMatchErrors(
  { annotations }: ObjectMeta,
  spec: PodSpec,
  { names }: Dialect,
  path: string,
): FieldError[] {
  if (!annotations) return [];
  const { seccompPod, seccompContainerPrefix } = names.annotations;
  const errors = mismatch(
    annotations[seccompPod],
    spec.securityContext?.seccompProfile,
    `${path}.securityContext.seccompProfile`,
  );
  for (const { container, at } of everyContainer(spec, path))
    errors.push(
      ...mismatch(
        annotations[seccompContainerPrefix + container.name],
        container.securityContext?.seccompProfile,
        `${at}.securityContext.seccompProfile`,
      ),
    );
  return errors;
}

function mismatch(
  annotation: string | undefined,
  profile: SeccompProfile | undefined,
  at: string,
): FieldError[] {
  if (annotation === undefined || !profile) return [];
  const { type, localhostProfile } = profile;
  const agrees =
    type === "Unconfined"
      ? annotation === "unconfined"
      : type === "RuntimeDefault"
        ? runtimeDefaults.includes(annotation)
        : type === "Localhost"
          ? annotation.startsWith(localhost)
          : true;
  if (!agrees) return [forbiddenField(`${at}.type`, "seccomp type in annotation and field must match")];
  return type === "Localhost" && annotation.slice(localhost.length) !== localhostProfile
    ? [forbiddenField(`${at}.localhostProfile`, "seccomp profile in annotation and field must match")]
    : [];
}

/** Validates that immutable annotations of a pod are unchanged. */
export function annotationUpdateErrors(
  { annotations = {} }: ObjectMeta,
  { annotations: old = {} }: ObjectMeta,
  { names }: Dialect,
  path: string,
): FieldError[] {
  const { configMirror, appArmorContainerPrefix } = names.annotations;
  const fixed = (key: string): string | undefined =>
    key === configMirror
      ? "mirror pod annotation"
      : key.startsWith(appArmorContainerPrefix)
        ? "AppArmor annotations"
        : undefined;
  const changed = Object.keys(old).filter((key) => old[key] !== annotations[key]);
  const added = Object.keys(annotations).filter((key) => old[key] === undefined);
  const say = (keys: readonly string[], doing: string): FieldError[] =>
    keys.flatMap((key) => {
      const what = fixed(key);
      return what ? [forbiddenField(`${path}[${key}]`, `may not ${doing} ${what}`)] : [];
    });
  return [...say(changed, "remove or update"), ...say(added, "add")];
}
