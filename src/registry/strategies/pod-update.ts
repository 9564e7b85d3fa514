// Validation of pod updates: few fields of the spec are mutable, and the status has restricted transitions.
import {
  type ContainerStatus,
  type NodeAffinity,
  type NodeSelectorTerm,
  type Pod,
  PodSpec,
  type PodSchedulingGate,
  type Toleration,
  isSidecar,
} from "#api";
import { type FieldError, duplicate, forbiddenField, invalidValue, required } from "#base";
import { canonical, dns1123SubdomainProblems, ipProblems } from "#schema";
import { isIPv6 } from "node:net";
import { formatErrors, qualifiedNameErrors } from "./rules/format.ts";
import { same } from "./rules/unchanged.ts";
import { repeats } from "./rules/repeats.ts";
import type { RegistrySettings } from "../strategy.ts";
import { qualityOf } from "./pod-qos.ts";
import { unresized } from "./pod-resize.ts";
import { toleratedTaint, tolerationErrors } from "./pod-validation/tolerations.ts";

const mutableFields = [
  "`spec.containers[*].image`",
  "`spec.initContainers[*].image`",
  "`spec.activeDeadlineSeconds`",
  "`spec.tolerations` (only additions to existing tolerations)",
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
];
const mutableResources = "`spec.containers[*].resources` (for CPU/memory only)";
const maxDeadlineSeconds = 2 ** 31 - 1;
const affinityPath =
  "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";

export function specUpdateErrors(
  { spec }: Pod,
  { spec: old }: Pod,
  { podResize = false }: Pick<RegistrySettings, "podResize">,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const key of ["containers", "initContainers"] as const) {
    const [now, before] = [spec[key] ?? [], old[key] ?? []];
    if (now.length !== before.length)
      return [...errors, forbiddenField(`spec.${key}`, "pod updates may not add or remove containers")];
    now.forEach(({ image = "" }, position) => {
      if (!image) errors.push(required(`spec.${key}[${position}].image`));
      if (image.trim() !== image)
        errors.push(
          invalidValue(
            `spec.${key}[${position}].image`,
            image,
            "must not have leading or trailing whitespace",
          ),
        );
    });
  }
  const deadline = deadlineErrors(spec.activeDeadlineSeconds, old.activeDeadlineSeconds);
  errors.push(...deadline.errors);
  if (deadline.last) return errors;
  errors.push(
    ...addedTolerationErrors(spec.tolerations ?? [], old.tolerations ?? []),
    ...gateErrors(spec.schedulingGates ?? [], old.schedulingGates ?? []),
  );
  const [now, before] = [canonical(PodSpec, spec), canonical(PodSpec, old)];
  if (same(now, before)) return errors;
  if (podResize && qualityOf(spec) !== qualityOf(old))
    errors.push(invalidValue("metadata", qualityOf(spec), "Pod QoS is immutable"));
  const allowed: PodSpec = {
    ...now,
    containers: (now.containers ?? []).map((each, position) => ({
      ...(podResize ? unresized(each, before.containers![position]!) : each),
      image: before.containers![position]!.image,
    })),
    ...(now.initContainers && {
      initContainers: now.initContainers.map((each, position) => ({
        ...each,
        image: before.initContainers![position]!.image,
      })),
    }),
    activeDeadlineSeconds: before.activeDeadlineSeconds,
    schedulingGates: before.schedulingGates,
    tolerations: before.tolerations,
  };
  if ((before.terminationGracePeriodSeconds ?? 0) < 0 && allowed.terminationGracePeriodSeconds === 1)
    allowed.terminationGracePeriodSeconds = before.terminationGracePeriodSeconds;
  if (before.schedulingGates?.length) errors.push(...narrowingErrors(allowed, before));
  if (!same(canonical(PodSpec, allowed), before)) {
    const fields = podResize ? [...mutableFields, mutableResources] : mutableFields;
    errors.push(forbiddenField("spec", `pod updates may not change fields other than ${fields.join(",")}`));
  }
  return errors;
}

/** A deadline may be added or shortened, nothing else. */
function deadlineErrors(
  now: number | undefined,
  old: number | undefined,
): { readonly errors: FieldError[]; readonly last?: boolean } {
  const field = "spec.activeDeadlineSeconds";
  if (now === undefined)
    return {
      errors:
        old === undefined
          ? []
          : [invalidValue(field, null, "must not update from a positive integer to nil value")],
    };
  if (now < 0 || now > maxDeadlineSeconds)
    return {
      errors: [invalidValue(field, now, `must be between 0 and ${maxDeadlineSeconds}, inclusive`)],
      last: true,
    };
  if (old !== undefined && old < now)
    return { errors: [invalidValue(field, now, "must be less than or equal to previous value")], last: true };
  return { errors: [] };
}

function addedTolerationErrors(now: readonly Toleration[], old: readonly Toleration[]): FieldError[] {
  const there = new Set(now.map(toleratedTaint));
  if (!old.every((each) => there.has(toleratedTaint(each))))
    return [
      forbiddenField(
        "spec.tolerations",
        "existing toleration can not be modified except its tolerationSeconds",
      ),
    ];
  return tolerationErrors(now, "spec.tolerations");
}

function gateErrors(now: readonly PodSchedulingGate[], old: readonly PodSchedulingGate[]): FieldError[] {
  const before = new Set(old.map(({ name }) => name));
  const last = new Map(now.map(({ name }, position) => [name, position]));
  return now.flatMap(({ name }, position) =>
    before.has(name) || last.get(name)! > position
      ? []
      : [
          forbiddenField(
            `spec.schedulingGates[${position}].name`,
            `only deletion is allowed, but found new scheduling gate '${name}'`,
          ),
        ],
  );
}

/**
 * The node selector and affinity of a gated pod may be narrowed. Excludes the allowed changes from the
 * comparison.
 */
function narrowingErrors(spec: PodSpec, old: PodSpec): FieldError[] {
  const errors: FieldError[] = [];
  if (!same(spec.nodeSelector, old.nodeSelector)) {
    if (Object.entries(old.nodeSelector ?? {}).some(([key, value]) => spec.nodeSelector?.[key] !== value))
      errors.push(
        invalidValue(
          "spec.nodeSelector",
          spec.nodeSelector,
          "only additions to spec.nodeSelector are allowed (no mutations or deletions)",
        ),
      );
    spec.nodeSelector = old.nodeSelector;
  }
  const [now, before] = [spec.affinity?.nodeAffinity, old.affinity?.nodeAffinity];
  if (same(now, before)) return errors;
  errors.push(...nodeAffinityErrors(now, before));
  if (!spec.affinity) spec.affinity = { nodeAffinity: before };
  else if (!old.affinity && !spec.affinity.podAffinity && !spec.affinity.podAntiAffinity)
    spec.affinity = undefined;
  else spec.affinity = { ...spec.affinity, nodeAffinity: before };
  return errors;
}

function nodeAffinityErrors(now: NodeAffinity | undefined, old: NodeAffinity | undefined): FieldError[] {
  const before = old?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const after = now?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  if (before.length === 0) return [];
  if (before.length !== after.length)
    return [
      invalidValue(
        affinityPath,
        after,
        "no additions/deletions to non-empty NodeSelectorTerms list are allowed",
      ),
    ];
  return before.flatMap((term, position) =>
    onlyAdds(after[position]!, term)
      ? []
      : [
          invalidValue(
            `${affinityPath}[${position}]`,
            after[position],
            "only additions are allowed (no mutations or deletions)",
          ),
        ],
  );
}

function onlyAdds(now: NodeSelectorTerm, old: NodeSelectorTerm): boolean {
  // An empty term matches nothing; with any requirement it would match more.
  if (!old.matchExpressions?.length && !old.matchFields?.length)
    return !now.matchExpressions?.length && !now.matchFields?.length;
  return (["matchExpressions", "matchFields"] as const).every((key) =>
    same(now[key]?.slice(0, old[key]?.length ?? 0) ?? [], old[key] ?? []),
  );
}

export function ephemeralUpdateErrors({ spec }: Pod, { spec: old }: Pod): FieldError[] {
  const at = "spec.ephemeralContainers";
  const byName = new Map((spec.ephemeralContainers ?? []).map((container) => [container.name, container]));
  return (old.ephemeralContainers ?? []).flatMap((before) => {
    const now = byName.get(before.name);
    if (!now)
      return [forbiddenField(at, `existing ephemeral containers "${before.name}" may not be removed`)];
    return same(now, before)
      ? []
      : [forbiddenField(at, `existing ephemeral containers "${before.name}" may not be changed`)];
  });
}

const ownConditions = ["PodScheduled", "Ready", "Initialized"];

export function statusUpdateErrors(pod: Pod, old: Pod): FieldError[] {
  const { conditions, nominatedNodeName } = pod.status;
  const errors = (conditions ?? []).flatMap(({ type }, position) =>
    ownConditions.includes(type) ? [] : qualifiedNameErrors(type, `metadata.conditions[${position}].Type`),
  );
  if (nominatedNodeName && nominatedNodeName !== old.status.nominatedNodeName)
    errors.push(...formatErrors(nominatedNodeName, "status.nominatedNodeName", dns1123SubdomainProblems));
  const policy = old.spec.restartPolicy ?? "";
  const sidecars = new Set(old.spec.initContainers?.filter(isSidecar).map(({ name }) => name));
  for (const [key, restarts] of [
    ["containerStatuses", policy],
    ["initContainerStatuses", policy],
    ["ephemeralContainerStatuses", "Never"],
  ] as const) {
    const now = (pod.status[key] ?? []).filter(({ name }) => !sidecars.has(name));
    errors.push(...revivalErrors(now, old.status[key] ?? [], restarts, `status.${key}`));
  }
  return [...errors, ...podIpErrors(pod), ...hostIpErrors(pod)];
}

/** Reports containers that terminated for good and are running again. */
function revivalErrors(
  now: readonly ContainerStatus[],
  old: readonly ContainerStatus[],
  restartPolicy: string,
  path: string,
): FieldError[] {
  if (restartPolicy === "Always") return [];
  const running = Map.groupBy(
    now.filter(({ state }) => !state.terminated),
    ({ name }) => name,
  );
  return old.flatMap(({ name, state }, position) => {
    if (!state.terminated || (state.terminated.exitCode !== 0 && restartPolicy === "OnFailure")) return [];
    return (running.get(name) ?? []).map(() =>
      forbiddenField(`${path}[${position}].state`, "may not be transitioned to non-terminated state"),
    );
  });
}

const podIpErrors = ({ status: { podIPs = [] } }: Pod): FieldError[] =>
  addressErrors(podIPs, "status.podIPs");

function hostIpErrors({ status: { hostIP = "", hostIPs = [] } }: Pod): FieldError[] {
  const path = "status.hostIPs";
  const [first] = hostIPs;
  const errors = addressErrors(hostIPs, path);
  return !first || first.ip === hostIP
    ? errors
    : [invalidValue(`${path}[0].ip`, first.ip, "must be equal to `hostIP`"), ...errors];
}

/** Returns the errors of a list with at most one address of each IP family. */
function addressErrors(
  addresses: readonly { readonly ip?: string | undefined }[],
  path: string,
): FieldError[] {
  const errors = addresses.flatMap(({ ip = "" }, position) =>
    formatErrors(ip, `${path}[${position}]`, ipProblems),
  );
  if (addresses.length < 2) return errors;
  const bad = addresses.findIndex(({ ip = "" }) => ipProblems(ip).length > 0);
  if (bad >= 0)
    errors.push({
      type: "InternalError",
      field: path,
      detail: `failed to check for dual stack with error:invalid IP[${bad}]: ${addresses[bad]!.ip ?? ""}`,
    });
  const families = new Set(addresses.map(({ ip = "" }) => isIPv6(ip)));
  if (families.size < 2 || addresses.length > 2 || errors.length > 0)
    errors.push(invalidValue(path, addresses, "may specify no more than one IP for each IP family"));
  const repeated = repeats<string | undefined>();
  addresses.forEach(({ ip }, position) => {
    if (repeated(ip)) errors.push(duplicate(`${path}[${position}]`, ip));
  });
  return errors;
}
