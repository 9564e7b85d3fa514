// Pod security admission: labels of a namespace select the standard of its pods. Pods that violate it are
// refused, and workloads whose pods would violate it get a warning.
import type { Container, CronJob, Namespace, ObjectMeta, Pod, PodSpec, PodTemplateSpec } from "#api";
import { type FieldError, forbidden } from "#base";
import type { Dialect } from "#dialect";
import { isDeepStrictEqual } from "node:util";
import { type AdmissionPlugin, type AdmissionAttributes, typed } from "../../attributes.ts";
import {
  type Policy,
  type Standard,
  allowsEverything,
  policyOf,
  sameStandard,
  standardText,
  stricter,
} from "./policy.ts";
import { detailsText, findings, reasonsText } from "./standards.ts";

export interface PodSecurityOptions {
  readonly dialect: Dialect;
  readonly namespace: (name: string) => Promise<Namespace | undefined>;
  readonly podsIn: (namespace: string) => Promise<readonly Pod[]>;
  /** Policy of namespaces without labels. */
  readonly defaults?: Policy;
  readonly exemptions?: PodSecurityExemptions;
  readonly observer?: PodSecurityObserver;
}

/** One evaluation of a standard. */
export interface PodSecurityEvaluation {
  readonly mode: "enforce" | "audit" | "warn";
  readonly denied: boolean;
  readonly level: string;
  readonly version: string;
}

export interface PodSecurityObserver {
  evaluated(evaluation: PodSecurityEvaluation, attributes: AdmissionAttributes): void;
  exempt(attributes: AdmissionAttributes): void;
  /** Called if the labels of the namespace are invalid. */
  unreadable(attributes: AdmissionAttributes): void;
}

/** Requests that are exempt from the checks. */
export interface PodSecurityExemptions {
  readonly usernames: readonly string[];
  readonly namespaces: readonly string[];
  readonly runtimeClasses: readonly string[];
}

const maxPods = 3000;
const workloads = [
  "replicationcontrollers",
  "podtemplates",
  "replicasets",
  "deployments",
  "statefulsets",
  "daemonsets",
  "jobs",
  "cronjobs",
];

export function podSecurity(options: PodSecurityOptions): AdmissionPlugin {
  const { dialect, namespace: find, podsIn, defaults, exemptions, observer } = options;
  const recordEvaluation = (
    mode: PodSecurityEvaluation["mode"],
    standard: Standard,
    denied: boolean,
    attributes: AdmissionAttributes,
  ): void => {
    const [level, version] = standardText(standard).split(":") as [string, string];
    observer?.evaluated({ mode, denied, level, version }, attributes);
  };
  const passExempt = (attributes: AdmissionAttributes, why: string): void => {
    observer?.exempt(attributes);
    note(attributes, "exempt", why);
  };
  const read = (labels: ObjectMeta["labels"]): ReturnType<typeof policyOf> =>
    policyOf(labels, dialect.names.labels.podSecurityPrefix, defaults);
  const note = (attributes: AdmissionAttributes, key: string, value: string): void =>
    attributes.annotate?.(`${dialect.names.audit.podSecurityPrefix}${key}`, value);
  const isExempt = ({ namespace, user }: AdmissionAttributes): string | undefined => {
    if (exemptions?.namespaces.includes(namespace)) return "namespace";
    return exemptions?.usernames.includes(user.name) ? "user" : undefined;
  };
  return {
    name: "PodSecurity",
    handles: ["CREATE", "UPDATE"],
    resources: ["namespaces", "pods", ...workloads],
    validate: async (attributes) => {
      const { resource, subresource } = attributes;
      if (resource.resource === "namespaces" && resource.group === "")
        return subresource ? [] : await namespaceErrors(attributes);
      if (resource.resource === "pods" && resource.group === "") {
        if (subresource === "" || subresource === "ephemeralcontainers") await evaluatePod(attributes);
      } else if (!subresource) await evaluateWorkload(attributes);
      return [];
    },
  };

  async function namespaceErrors(attributes: AdmissionAttributes): Promise<readonly FieldError[]> {
    const { labels } = typed<Namespace>(attributes.object).metadata;
    const now = read(labels);
    const exempt = exemptions?.namespaces.includes(attributes.name) ?? false;
    if (attributes.operation === "CREATE") {
      if (exempt && now.errors.length === 0) warnOfExemption(attributes, now.policy, labels);
      return now.errors;
    }
    const before = read(typed<Namespace>(attributes.oldObject).metadata.labels);
    if (now.errors.length > 0 && !isDeepStrictEqual(now.errors, before.errors)) return now.errors;
    const [next, old] = [now.policy.enforce, before.policy.enforce];
    const relaxed = next.version === old.version && !stricter(next.level, old.level);
    if (sameStandard(next, old) || allowsEverything(next) || relaxed) return [];
    if (exempt) warnOfExemption(attributes, now.policy, labels);
    else await warnOfPods(attributes);
    return [];
  }

  /** Warns that the labels of an exempt namespace have no effect. */
  function warnOfExemption(
    attributes: AdmissionAttributes,
    policy: Policy,
    labels: ObjectMeta["labels"] = {},
  ): void {
    const modes = ["enforce", "audit", "warn"] as const;
    const byDefault = read({}).policy;
    const isOrdinary = (mode: keyof Policy): boolean =>
      sameStandard(policy[mode], byDefault[mode]) ||
      (allowsEverything(policy[mode]) && allowsEverything(byDefault[mode]));
    if (modes.every((mode) => allowsEverything(policy[mode])) || modes.every(isOrdinary)) return;
    const isLabelled = (mode: keyof Policy): boolean =>
      [mode, `${mode}-version`].some((key) => dialect.names.labels.podSecurityPrefix + key in labels);
    const labelled = modes
      .filter((mode) => !allowsEverything(policy[mode]) && isLabelled(mode))
      .map((mode) => `${mode}=${standardText(policy[mode])}`);
    attributes.warn(
      `namespace "${attributes.name}" is exempt from Pod Security, and the policy (${labelled.join(", ")}) will be ignored`,
    );
  }

  /** Existing pods keep running, but the client is warned about those that violate the new standard. */
  async function warnOfPods(attributes: AdmissionAttributes): Promise<void> {
    const { enforce } = read(typed<Namespace>(attributes.object).metadata.labels).policy;
    const pods = (await podsIn(attributes.name)).filter(({ spec }) => !isExemptClass(spec));
    const found = new Map<string, string[]>();
    for (const { metadata, spec } of onePerOwnerFirst(pods).slice(0, maxPods)) {
      const reasons = reasonsText(findings(enforce, metadata, spec, dialect));
      if (reasons) found.set(reasons, [...(found.get(reasons) ?? []), metadata.name!]);
    }
    if (pods.length > maxPods)
      attributes.warn(
        `new PodSecurity enforce level only checked against the first ${maxPods} of ${pods.length} existing pods`,
      );
    if (found.size > 0)
      attributes.warn(
        `existing pods in namespace "${attributes.name}" violate the new PodSecurity enforce level "${standardText(enforce)}"`,
      );
    const lines = [...found].map(([reasons, names]) => {
      const [first, ...others] = names.toSorted();
      return `${first}${others.length === 0 ? "" : others.length === 1 ? " (and 1 other pod)" : ` (and ${others.length} other pods)`}: ${reasons}`;
    });
    for (const line of lines.toSorted()) attributes.warn(line);
  }

  async function evaluatePod(attributes: AdmissionAttributes): Promise<void> {
    const exempt = isExempt(attributes);
    if (exempt) return passExempt(attributes, exempt);
    const { policy, errors } = read((await find(attributes.namespace))?.metadata.labels);
    const enforced = standardText(policy.enforce);
    if (
      errors.length === 0 &&
      allowsEverything(policy.enforce) &&
      allowsEverything(policy.audit) &&
      allowsEverything(policy.warn)
    ) {
      recordEvaluation("enforce", policy.enforce, false, attributes);
      return note(attributes, "enforce-policy", enforced);
    }
    const { metadata, spec } = typed<Pod>(attributes.object);
    if (attributes.operation === "UPDATE" && !isRelevantUpdate(spec, typed<Pod>(attributes.oldObject).spec))
      return;
    if (isExemptClass(spec)) return passExempt(attributes, "runtimeClass");
    if (errors.length > 0) noteErrors(attributes, errors);
    note(attributes, "enforce-policy", enforced);
    noteViolations(attributes, policy.audit, metadata, spec);
    const found = findings(policy.enforce, metadata, spec, dialect);
    recordEvaluation("enforce", policy.enforce, found.length > 0, attributes);
    if (found.length > 0)
      throw forbidden(
        attributes.resource,
        attributes.name,
        `violates PodSecurity "${enforced}": ${detailsText(found)}`,
      );
    warnOf(attributes, policy.warn, metadata, spec);
  }

  async function evaluateWorkload(attributes: AdmissionAttributes): Promise<void> {
    const exempt = isExempt(attributes);
    if (exempt) return passExempt(attributes, exempt);
    const { policy, errors } = read((await find(attributes.namespace))?.metadata.labels);
    if (errors.length === 0 && allowsEverything(policy.warn) && allowsEverything(policy.audit)) return;
    const template = templateOf(attributes);
    if (!template) return;
    if (isExemptClass(template.spec)) return passExempt(attributes, "runtimeClass");
    if (errors.length > 0) noteErrors(attributes, errors);
    noteViolations(attributes, policy.audit, template.metadata, template.spec);
    warnOf(attributes, policy.warn, template.metadata, template.spec);
  }

  function noteErrors(attributes: AdmissionAttributes, errors: readonly FieldError[]): void {
    observer?.unreadable(attributes);
    note(attributes, "error", `Failed to parse policy: ${errors.map(({ detail }) => detail).join("; ")}`);
  }

  function isExemptClass({ runtimeClassName }: PodSpec): boolean {
    return runtimeClassName !== undefined && (exemptions?.runtimeClasses.includes(runtimeClassName) ?? false);
  }

  function noteViolations(
    attributes: AdmissionAttributes,
    standard: Parameters<typeof findings>[0],
    metadata: ObjectMeta,
    spec: PodSpec,
  ): void {
    if (!attributes.annotate || allowsEverything(standard)) return;
    const found = findings(standard, metadata, spec, dialect);
    recordEvaluation("audit", standard, found.length > 0, attributes);
    if (found.length > 0)
      note(
        attributes,
        "audit-violations",
        `would violate PodSecurity "${standardText(standard)}": ${detailsText(found)}`,
      );
  }

  function warnOf(
    attributes: AdmissionAttributes,
    standard: Parameters<typeof findings>[0],
    metadata: ObjectMeta,
    spec: PodSpec,
  ): void {
    const found = findings(standard, metadata, spec, dialect);
    if (!allowsEverything(standard)) recordEvaluation("warn", standard, found.length > 0, attributes);
    if (found.length > 0)
      attributes.warn(`would violate PodSecurity "${standardText(standard)}": ${detailsText(found)}`);
  }
}

function templateOf({ resource, object }: AdmissionAttributes): PodTemplateSpec | undefined {
  if (resource.resource === "podtemplates") return typed<{ template: PodTemplateSpec }>(object).template;
  if (resource.resource === "cronjobs") return typed<CronJob>(object).spec.jobTemplate.spec.template;
  return typed<{ spec: { template?: PodTemplateSpec } }>(object).spec.template;
}

/** Reports whether an update of a pod needs a check: only images and new containers matter. */
function isRelevantUpdate(spec: PodSpec, old: PodSpec): boolean {
  const changed = (now: readonly Container[] = [], before: readonly Container[] = []): boolean =>
    now.length !== before.length || now.some(({ image }, position) => image !== before[position]!.image);
  const before = new Map(
    (old.ephemeralContainers ?? []).toReversed().map(({ name, image }) => [name, image]),
  );
  const changedEphemeral = (spec.ephemeralContainers ?? []).some(
    ({ name, image }) => before.get(name) !== image,
  );
  return (
    changedEphemeral ||
    changed(spec.containers ?? [], old.containers ?? []) ||
    changed(spec.initContainers, old.initContainers)
  );
}

/** Moves one pod of each owner to the front, since pods of the same owner are mostly alike. */
function onePerOwnerFirst(pods: readonly Pod[]): readonly Pod[] {
  const seen = new Set<string>();
  const later: Pod[] = [];
  const first = pods.filter((pod) => {
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller)?.uid;
    if (owner === undefined || !seen.has(owner)) {
      if (owner !== undefined) seen.add(owner);
      return true;
    }
    later.push(pod);
    return false;
  });
  return [...first, ...later];
}
