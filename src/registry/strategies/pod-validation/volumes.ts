// Validation of a pod's volumes: each has a unique name and exactly one source.
import type { Volume, VolumeSource } from "#api";
import { type FieldError, duplicate, forbiddenField, invalidValue, required } from "#base";
import { dns1123LabelProblems, dns1123SubdomainProblems } from "#schema";
import { formatErrors } from "../rules/format.ts";
import type { KnownVolumes } from "./mounts.ts";
import type { PodRules } from "./rules.ts";
import { type SourceKey, sourceErrors, sourceKeys } from "./volume-sources.ts";

// The reference spells some fields differently when it forbids an additional source.
const spelledWhenForbidden: Partial<Record<SourceKey, string>> = {
  cephfs: "cephFS",
  downwardAPI: "downwarAPI",
};
const maxInitiatorLength = 64;

/** Returns the errors and the valid volumes, which containers may mount. */
export function volumeErrors(
  volumes: readonly Volume[] | undefined,
  rules: PodRules,
  path: string,
): { readonly errors: FieldError[]; readonly known: KnownVolumes } {
  const known = new Map<string, VolumeSource>();
  const errors: FieldError[] = [];
  const made = new Set(
    rules.podName
      ? (volumes ?? []).filter(({ ephemeral }) => ephemeral).map(({ name }) => `${rules.podName}-${name}`)
      : [],
  );
  for (const [position, volume] of (volumes ?? []).entries()) {
    const at = `${path}[${position}]`;
    const { name } = volume;
    const own = oneSourceErrors(volume, rules, at);
    own.push(...(name ? formatErrors(name, `${at}.name`, dns1123LabelProblems) : [required(`${at}.name`)]));
    if (known.has(name)) own.push(duplicate(`${at}.name`, name));
    if (own.length === 0) known.set(name, volume);
    errors.push(...own);
    const claim = volume.persistentVolumeClaim?.claimName ?? "";
    if (made.has(claim))
      errors.push(
        invalidValue(
          `${at}.persistentVolumeClaim.claimName`,
          claim,
          "must not reference a PVC that gets created for an ephemeral volume",
        ),
      );
  }
  return { errors, known };
}

function oneSourceErrors(volume: Volume, rules: PodRules, at: string): FieldError[] {
  const given = sourceKeys.filter((key) => volume[key]);
  if (given.length === 0) return [required(at, "must specify a volume type")];
  const errors = given.flatMap((key, position) =>
    position === 0
      ? sourceErrors(volume, key, rules, at)
      : [
          forbiddenField(
            `${at}.${spelledWhenForbidden[key] ?? key}`,
            "may not specify more than 1 volume type",
          ),
        ],
  );
  const { name, iscsi } = volume;
  if (iscsi?.initiatorName !== undefined && `${name}:${iscsi.targetPortal}`.length > maxInitiatorLength)
    errors.push(
      invalidValue(
        `${at}.name`,
        name,
        `Total length of <volume name>:<iscsi.targetPortal> must be under ${maxInitiatorLength} characters if iscsi.initiatorName is specified.`,
      ),
    );
  if (given[0] === "ephemeral" && rules.podName && name)
    errors.push(
      ...dns1123SubdomainProblems(`${rules.podName}-${name}`).map((problem) =>
        invalidValue(`${at}.name`, name, `PVC name "${rules.podName}-${name}": ${problem}`),
      ),
    );
  return errors;
}
