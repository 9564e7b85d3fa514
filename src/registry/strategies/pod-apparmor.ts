// AppArmor profiles of pods: fields of later releases, and the annotations that older node agents read. A new pod
// gets whichever of both it lacks.
import { type WriteState, slot } from "#admission";
import type { AppArmorProfile, ObjectMeta, Pod, PodSpec } from "#api";
import { type FieldError, forbiddenField, invalidValue, notSupported, required, tooLong } from "#base";
import type { Dialect } from "#dialect";
import type { RequestContext } from "../strategy.ts";
import { everyContainer } from "./pod-validation/every-container.ts";

const maxLocalProfileLength = 4095;
const types = ["Localhost", "RuntimeDefault", "Unconfined"];
const localhost = "localhost/";
const deprecated = slot<string[]>("deprecated AppArmor annotations");

/** Returns the annotation's value for a profile; undefined for an invalid one. */
function annotationOf({ type, localhostProfile }: AppArmorProfile): string | undefined {
  if (type === "Unconfined") return "unconfined";
  if (type === "RuntimeDefault") return "runtime/default";
  return type === "Localhost" && localhostProfile !== undefined ? localhost + localhostProfile : undefined;
}

/** Returns the profile of an annotation; undefined for an invalid one. */
function profileOf(annotation: string): AppArmorProfile | undefined {
  if (annotation === "unconfined") return { type: "Unconfined" };
  if (annotation === "runtime/default") return { type: "RuntimeDefault" };
  if (!annotation.startsWith(localhost)) return undefined;
  const profile = { type: "Localhost", localhostProfile: annotation.slice(localhost.length) };
  return appArmorErrors(profile, "").length === 0 ? profile : undefined;
}

const keyOf = ({ names }: Dialect, container: string): string =>
  names.annotations.appArmorContainerPrefix + container;

/** Adds missing annotations and fields to a new pod. */
export function alignAppArmor({ metadata, spec }: Pod, { dialect, settings, state }: RequestContext): void {
  if (!settings.appArmorFields || settings.appArmor === false || spec.os?.name === "windows") return;
  const podProfile = spec.securityContext?.appArmorProfile;
  const found: string[] = [];
  for (const { container } of everyContainer(spec, "")) {
    const key = keyOf(dialect, container.name);
    const annotation = metadata.annotations?.[key];
    const own = container.securityContext?.appArmorProfile;
    if (annotation === undefined) {
      const profile = own ?? podProfile;
      const value = profile && annotationOf(profile);
      if (value !== undefined) metadata.annotations = { ...metadata.annotations, [key]: value };
    } else if (!own) {
      const profile = profileOf(annotation);
      const differs = profile !== undefined && annotation !== (podProfile && annotationOf(podProfile));
      if (differs) container.securityContext = { ...container.securityContext, appArmorProfile: profile };
      if (differs || !profile) found.push(deprecation(`metadata.annotations[${key}]`));
    }
  }
  if (found.length > 0) state.set(deprecated, found);
}

const deprecation = (field: string): string =>
  `${field}: deprecated since v1.30; use the "appArmorProfile" field instead`;

/** Returns the warnings about annotations of a new pod. */
export const appArmorWarnings = (state: WriteState): readonly string[] => state.get(deprecated) ?? [];

/** Returns the warnings about annotations of a pod template without a field. */
export function templateAppArmorWarnings(
  { annotations = {} }: ObjectMeta,
  spec: PodSpec,
  dialect: Dialect,
  path: string,
): string[] {
  if (spec.securityContext?.appArmorProfile) return [];
  return [...everyContainer(spec, "")].flatMap(({ container }) => {
    const key = keyOf(dialect, container.name);
    return container.securityContext?.appArmorProfile || annotations[key] === undefined
      ? []
      : [deprecation(`${path}.metadata.annotations[${key}]`)];
  });
}

export function appArmorErrors(profile: AppArmorProfile | undefined, path: string): FieldError[] {
  if (!profile) return [];
  const { type, localhostProfile: name } = profile;
  const field = `${path}.localhostProfile`;
  if (!type) return [required(`${path}.type`, "type is required when appArmorProfile is set")];
  if (!types.includes(type)) return [notSupported(`${path}.type`, type, types)];
  if (type !== "Localhost")
    return name === undefined
      ? []
      : [invalidValue(field, name, "can only be set when AppArmor type is Localhost")];
  const errors: FieldError[] = [];
  if (name === undefined || name === "")
    errors.push(required(field, "must be set when AppArmor type is Localhost"));
  else if (name.trim() !== name) errors.push(invalidValue(field, name, "must not be padded with whitespace"));
  if ((name?.length ?? 0) > maxLocalProfileLength) errors.push(tooLong(field, "", maxLocalProfileLength));
  return errors;
}

/** Validates that a profile stated both by annotation and by field is the same. */
export function appArmorMatchErrors(
  { annotations = {} }: ObjectMeta,
  spec: PodSpec,
  dialect: Dialect,
  path: string,
): FieldError[] {
  if (spec.os?.name === "windows") return [];
  return [...everyContainer(spec, path)].flatMap(({ container, at }) => {
    const profile = container.securityContext?.appArmorProfile ?? spec.securityContext?.appArmorProfile;
    const annotation = annotations[keyOf(dialect, container.name)];
    if (!profile || annotation === undefined || !types.includes(profile.type)) return [];
    if (annotation === annotationOf(profile)) return [];
    const sameType = profile.type === "Localhost" && annotation.startsWith(localhost);
    const field = `${at}.securityContext.appArmorProfile`;
    return [
      sameType
        ? forbiddenField(`${field}.localhostProfile`, "apparmor profile in annotation and field must match")
        : forbiddenField(`${field}.type`, "apparmor type in annotation and field must match"),
    ];
  });
}
