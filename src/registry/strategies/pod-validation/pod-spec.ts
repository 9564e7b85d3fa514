// Validation of a pod spec, in the order in which the reference reports errors.
import type { PodResourceClaim, PodSpec } from "#api";
import { type FieldError, duplicate, invalidValue, required } from "#base";
import { dns1123LabelProblems, dns1123SubdomainProblems } from "#schema";
import { validateLabels } from "../../object-meta.ts";
import { goEmptySource } from "../rules/go-syntax.ts";
import { formatErrors, qualifiedNameErrors } from "../rules/format.ts";
import { oneOf } from "../rules/one-of.ts";
import { affinityErrors } from "./affinity.ts";
import {
  type ContainerContext,
  containersErrors,
  ephemeralContainersErrors,
  initContainersErrors,
} from "./containers.ts";
import { hostUsersErrors } from "./host-users.ts";
import { dnsConfigErrors, dnsPolicyErrors, hostAliasErrors } from "./dns.ts";
import { resourceErrors } from "./resources.ts";
import type { PodRules } from "./rules.ts";
import { podSecurityErrors } from "./security.ts";
import { spreadErrors } from "./spread.ts";
import { tolerationErrors } from "./tolerations.ts";
import { volumeErrors } from "./volumes.ts";
import { hostProcessErrors, operatingSystemErrors } from "./windows.ts";

const maxDeadlineSeconds = 2 ** 31 - 1;
const noNames: ReadonlySet<string> = new Set();

export function podSpecErrors(spec: PodSpec, rules: PodRules, path: string): FieldError[] {
  const { errors, known } = volumeErrors(spec.volumes, rules, `${path}.volumes`);
  const containerContext: ContainerContext = {
    volumes: known,
    claimNames: new Set((spec.resourceClaims ?? []).flatMap(({ name }) => (name ? [name] : []))),
    graceSeconds: Number(spec.terminationGracePeriodSeconds ?? 0),
    rules,
  };
  const named = (
    value: string | undefined,
    key: string,
    problems: (name: string) => readonly string[],
  ): FieldError[] => (value ? formatErrors(value, `${path}.${key}`, problems) : []);
  errors.push(
    ...claimErrors(spec.resourceClaims, rules, `${path}.resourceClaims`),
    ...containersErrors(spec.containers, containerContext, `${path}.containers`),
    ...initContainersErrors(spec.initContainers, spec.containers, containerContext, `${path}.initContainers`),
    ...ephemeralContainersErrors(
      spec.ephemeralContainers,
      [...(spec.containers ?? []), ...(spec.initContainers ?? [])],
      containerContext,
      `${path}.ephemeralContainers`,
    ),
    ...oneOf(spec.restartPolicy, `${path}.restartPolicy`, ["Always", "OnFailure", "Never"]),
    ...dnsPolicyErrors(spec, path),
    ...validateLabels(spec.nodeSelector, `${path}.nodeSelector`),
    ...podSecurityErrors(spec.securityContext, spec, path),
    ...affinityErrors(spec.affinity, rules.tolerated.affinityValues, `${path}.affinity`),
    ...dnsConfigErrors(spec, rules, path),
    ...(spec.readinessGates ?? []).flatMap(({ conditionType }, position) =>
      qualifiedNameErrors(conditionType, `${path}.readinessGates[${position}].conditionType`),
    ),
    ...gateErrors(spec, `${path}.schedulingGates`),
    ...spreadErrors(
      spec.topologySpreadConstraints,
      rules.tolerated.spreadSelectors,
      `${path}.topologySpreadConstraints`,
    ),
    ...hostProcessErrors(spec, rules.allowPrivileged, path),
    ...hostUsersErrors(spec, path),
    ...named(spec.serviceAccountName, "serviceAccountName", dns1123SubdomainProblems),
    ...named(spec.nodeName, "nodeName", dns1123SubdomainProblems),
    ...deadlineErrors(spec.activeDeadlineSeconds, `${path}.activeDeadlineSeconds`),
    ...named(spec.hostname, "hostname", dns1123LabelProblems),
    ...named(spec.subdomain, "subdomain", dns1123LabelProblems),
    ...tolerationErrors(spec.tolerations, `${path}.tolerations`),
    ...hostAliasErrors(spec.hostAliases, `${path}.hostAliases`),
    ...named(spec.priorityClassName, "priorityClassName", dns1123SubdomainProblems),
    ...(spec.runtimeClassName === undefined
      ? []
      : formatErrors(spec.runtimeClassName, `${path}.runtimeClassName`, dns1123SubdomainProblems)),
    ...(spec.preemptionPolicy === undefined
      ? []
      : oneOf(spec.preemptionPolicy, `${path}.preemptionPolicy`, ["PreemptLowerPriority", "Never"])),
    ...(spec.overhead ? resourceErrors({ limits: spec.overhead }, noNames, rules, `${path}.overhead`) : []),
    ...operatingSystemErrors(spec, path),
  );
  return errors;
}

const deadlineErrors = (seconds: number | undefined, field: string): FieldError[] =>
  seconds !== undefined && (seconds < 1 || seconds > maxDeadlineSeconds)
    ? [invalidValue(field, seconds, `must be between 1 and ${maxDeadlineSeconds}, inclusive`)]
    : [];

function gateErrors({ schedulingGates }: PodSpec, path: string): FieldError[] {
  const seen = new Set<string>();
  return (schedulingGates ?? []).flatMap(({ name }, position) => {
    const errors = qualifiedNameErrors(name, `${path}[${position}]`);
    if (seen.has(name)) errors.push(duplicate(`${path}[${position}]`, name));
    seen.add(name);
    return errors;
  });
}

function claimErrors(
  claims: readonly PodResourceClaim[] | undefined,
  { podName }: PodRules,
  path: string,
): FieldError[] {
  const seen = new Set<string>();
  return (claims ?? []).flatMap(({ name, source }, position) => {
    const at = `${path}[${position}]`;
    const errors: FieldError[] = [];
    if (!name) errors.push(required(`${at}.name`));
    else if (seen.has(name)) errors.push(duplicate(`${at}.name`, name));
    else {
      const wrong = formatErrors(name, `${at}.name`, dns1123LabelProblems);
      errors.push(...wrong);
      if (wrong.length === 0 && podName !== undefined && source.resourceClaimTemplateName !== undefined)
        errors.push(...formatErrors(`${podName}-${name}`, `${at}.name`, dns1123SubdomainProblems));
      seen.add(name);
    }
    const given = Object.entries(source).filter(([, value]) => value !== undefined);
    if (given.length > 1)
      errors.push(
        invalidValue(
          `${at}.source`,
          source,
          "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
        ),
      );
    if (given.length === 0)
      errors.push(
        invalidValue(
          `${at}.source`,
          goEmptySource,
          "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
        ),
      );
    return [
      ...errors,
      ...given.flatMap(([key, value]) =>
        formatErrors(String(value), `${at}.source.${key}`, dns1123SubdomainProblems),
      ),
    ];
  });
}
