// The policy of a namespace, from its labels: the standards to enforce, to audit and to warn about.
import { type FieldError, invalidValue } from "#base";

export type PodSecurityLevel = "privileged" | "baseline" | "restricted";
/** A level as of a release (its minor version), or of the latest release. */
export interface Standard {
  readonly level: PodSecurityLevel;
  readonly version: number | "latest";
}
export interface Policy {
  readonly enforce: Standard;
  readonly audit: Standard;
  readonly warn: Standard;
}

const levels: readonly PodSecurityLevel[] = ["privileged", "baseline", "restricted"];
const anything: Standard = { level: "privileged", version: "latest" };
const privilegedPolicy: Policy = { enforce: anything, audit: anything, warn: anything };
const minorVersion = /^v1\.(0|[1-9]\d*)$/;

export const stricter = (a: PodSecurityLevel, b: PodSecurityLevel): boolean =>
  levels.indexOf(a) > levels.indexOf(b);
export const sameStandard = (a: Standard, b: Standard): boolean =>
  a.level === b.level && a.version === b.version;
export const standardText = ({ level, version }: Standard): string =>
  `${level}:${version === "latest" ? version : `v1.${version}`}`;
export const allowsEverything = ({ level }: Standard): boolean => level === "privileged";

/**
 * Returns the policy and the errors of invalid labels. An invalid level is restricted for enforce, privileged
 * for the other modes.
 */
export function policyOf(
  labels: Readonly<Record<string, string>> | undefined,
  prefix: string,
  defaults: Policy = privilegedPolicy,
): { readonly policy: Policy; readonly errors: FieldError[] } {
  const errors: FieldError[] = [];
  const wrong = (label: string, value: string, why: string): void =>
    void errors.push(invalidValue(`metadata.labels[${label}]`, value, why));
  const read = (
    mode: keyof Policy,
  ): {
    readonly standard: Standard;
    readonly levelGiven: boolean;
    readonly levelFits: boolean;
    readonly versionGiven: boolean;
  } => {
    const [label, versionLabel] = [`${prefix}${mode}`, `${prefix}${mode}-version`];
    const [level, version] = [labels?.[label], labels?.[versionLabel]];
    const levelFits = level !== undefined && levels.includes(level as PodSecurityLevel);
    if (level !== undefined && !levelFits) wrong(label, level, `must be one of ${levels.join(", ")}`);
    const minor = version === undefined ? undefined : minorVersion.exec(version)?.[1];
    if (version !== undefined && version !== "latest" && minor === undefined)
      wrong(versionLabel, version, 'must be "latest" or "v1.x"');
    const unreadable = mode === "enforce" ? "restricted" : "privileged";
    return {
      standard: {
        level:
          level === undefined ? defaults[mode].level : levelFits ? (level as PodSecurityLevel) : unreadable,
        version:
          version === undefined ? defaults[mode].version : minor === undefined ? "latest" : Number(minor),
      },
      levelGiven: level !== undefined,
      levelFits,
      versionGiven: version !== undefined,
    };
  };
  const [enforce, audit, warn] = [read("enforce"), read("audit"), read("warn")];
  const warning =
    !warn.levelGiven && enforce.levelFits && stricter(enforce.standard.level, warn.standard.level)
      ? {
          level: enforce.standard.level,
          version: warn.versionGiven ? warn.standard.version : enforce.standard.version,
        }
      : warn.standard;
  return { policy: { enforce: enforce.standard, audit: audit.standard, warn: warning }, errors };
}
