// The checks of each standard, the releases that introduced them, and the baseline checks that restricted
// ones replace.
import type { ObjectMeta, PodSpec } from "#api";
import type { Dialect } from "#dialect";
import * as baseline from "./baseline.ts";
import type { Check } from "./baseline.ts";
import type { Standard } from "./policy.ts";
import * as restricted from "./restricted.ts";
import { unlessWindows } from "./restricted.ts";
import type { Finding } from "./finding-texts.ts";

interface Rule {
  readonly level: "baseline" | "restricted";
  /** In the order of releases: the first minor version, and its check. */
  readonly since: readonly (readonly [minor: number, check: Check])[];
  /** The baseline check that this one makes redundant. */
  readonly replaces?: string;
}

// In the order of findings: baseline checks first, each level sorted by name.
const rules: Readonly<Record<string, Rule>> = {
  appArmorProfile: { level: "baseline", since: [[0, baseline.appArmorProfile]] },
  capabilities_baseline: { level: "baseline", since: [[0, baseline.capabilities]] },
  hostNamespaces: { level: "baseline", since: [[0, baseline.hostNamespaces]] },
  hostPathVolumes: { level: "baseline", since: [[0, baseline.hostPathVolumes]] },
  hostPorts: { level: "baseline", since: [[0, baseline.hostPorts]] },
  privileged: { level: "baseline", since: [[0, baseline.privileged]] },
  procMount: { level: "baseline", since: [[0, baseline.procMount]] },
  seLinuxOptions: { level: "baseline", since: [[0, baseline.seLinuxOptions]] },
  seccompProfile_baseline: { level: "baseline", since: [[0, baseline.seccompAnnotations], [19, baseline.seccompProfile]] },
  sysctls: { level: "baseline", since: [[0, baseline.sysctls], [27, baseline.moreSysctls]] },
  windowsHostProcess: { level: "baseline", since: [[0, baseline.windowsHostProcess]] },
  allowPrivilegeEscalation: { level: "restricted", since: [[8, restricted.allowPrivilegeEscalation], [25, unlessWindows(restricted.allowPrivilegeEscalation)]] },
  capabilities_restricted: { level: "restricted", since: [[22, restricted.droppedCapabilities], [25, unlessWindows(restricted.droppedCapabilities)]], replaces: "capabilities_baseline" },
  restrictedVolumes: { level: "restricted", since: [[0, restricted.restrictedVolumes]], replaces: "hostPathVolumes" },
  runAsNonRoot: { level: "restricted", since: [[0, restricted.runAsNonRoot]] },
  runAsUser: { level: "restricted", since: [[23, restricted.runAsUser]] },
  seccompProfile_restricted: { level: "restricted", since: [[19, restricted.seccompProfile], [25, unlessWindows(restricted.seccompProfile)]], replaces: "seccompProfile_baseline" },
}; // prettier-ignore

export function findings(
  { level, version }: Standard,
  metadata: ObjectMeta,
  spec: PodSpec,
  dialect: Dialect,
): readonly Finding[] {
  if (level === "privileged") return [];
  const asOf = ({ since }: Rule): Check | undefined =>
    since.findLast(([minor]) => version === "latest" || minor <= version)?.[1];
  const checks = Object.entries(rules).flatMap(([name, rule]) => {
    const check = rule.level === "restricted" && level !== "restricted" ? undefined : asOf(rule);
    return check ? [{ name, check, replaces: rule.replaces }] : [];
  });
  return checks
    .filter(({ name }) => !checks.some(({ replaces }) => replaces === name))
    .flatMap(({ check }) => check(metadata, spec, dialect) ?? []);
}

export const reasonsText = (found: readonly Finding[]): string =>
  found.map(({ reason }) => reason).join(", ");
export const detailsText = (found: readonly Finding[]): string =>
  found.map(({ reason, detail }) => (detail ? `${reason} (${detail})` : reason)).join(", ");
