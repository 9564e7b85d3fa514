// Node admission of pods. The first failing check determines the reason in the pod status.
import { type Pod, type Taint, tolerates, podMatchesNode } from "#api";
import type { Dialect } from "#dialect";
import { qualifiedNameProblems } from "#schema";
import { everyContainerOf, isCritical, isStatic } from "../pod.ts";
import type { Admitted, PodAdmission, PodAdmitHandler } from "../interfaces.ts";
import { qosClass } from "../plan/qos.ts";
import { portsCollide } from "./host-ports.ts";
import { memoryPressure } from "./conditions.ts";
import { shortages } from "./fit.ts";
import { podsToPreempt } from "./preemption.ts";

export interface AdmissionOptions {
  readonly dialect: Dialect;
  readonly nodeName: string;
  readonly labels: () => Readonly<Record<string, string>>;
  readonly allocatable: () => Readonly<Record<string, string>>;
  /**
   * The allocatable resources in the node object when the agent started. Pods that ran before are checked
   * against these, like in the kubelet, which has not updated the node object at that point.
   */
  readonly recordedAllocatable?: () => Readonly<Record<string, string>>;
  readonly taints: () => readonly Taint[];
  readonly allowedUnsafeSysctls: readonly string[];
  /** Whether local storage is accounted for; if not, requests and limits for it cannot be enforced. */
  readonly localStorageIsolation: boolean;
  /** Whether the kernel supports AppArmor profiles. */
  readonly appArmor: boolean;
  /** Returns the node's pressure conditions. */
  readonly pressures: () => readonly string[];
  /** Allocates devices from their plug-ins after a pod has been admitted. */
  readonly confirm?: NonNullable<PodAdmission["confirm"]>;
  /** Resource managers and other handlers, called in order before the check of the node's resources. */
  readonly handlers?: readonly PodAdmitHandler[];
}

const safeSysctls = [
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.tcp_syncookies",
  "net.ipv4.ping_group_range",
  "net.ipv4.ip_unprivileged_port_start",
  "net.ipv4.ip_local_reserved_ports",
];

export function podAdmission(options: AdmissionOptions): PodAdmission {
  const { dialect, nodeName } = options;
  const allowed = [...safeSysctls, ...options.allowedUnsafeSysctls].map(dotted);
  const reject = (reason: string, message = `Predicate ${reason} failed`): Admitted => ({
    ok: false,
    reason,
    message,
  });
  const underPressure = (pod: Pod): Admitted => {
    const pressures = options.pressures();
    return pressures.length === 0 || isAdmittedUnderPressure(pressures, pod, dialect)
      ? { ok: true }
      : reject("Evicted", `The node had condition: [${pressures.join(" ")}]. `);
  };
  const runHandlers = (pod: Pod, others: readonly Pod[]): Admitted => {
    for (const handler of options.handlers ?? []) {
      const result = handler.admit(pod, others);
      if (!result.ok) return result;
    }
    return { ok: true };
  };
  return {
    ...(options.confirm && { confirm: options.confirm }),
    // Pods that already run go through the resource managers, too, which know their allocations.
    admit: (pod, others, ran = false) => {
      const underPressureResult = underPressure(pod);
      if (!underPressureResult.ok) return underPressureResult;
      const sysctl = sysctlProblem(pod, allowed);
      if (sysctl) return reject("SysctlForbidden", sysctl);
      const result = runHandlers(pod, others);
      if (!result.ok) return result;
      if (!options.localStorageIsolation && usesLocalStorage(pod)) {
        return reject(
          "LocalStorageNotIsolated",
          "This node does not account for local storage: pods may set neither ephemeral-storage nor the size limit of an emptyDir",
        );
      }
      const labels = { ...options.labels(), [dialect.names.labels.os]: "linux" };
      const allocatable = (ran ? options.recordedAllocatable : undefined) ?? options.allocatable;
      const lacking = shortages(pod, others, allocatable(), (name) => isExtendedResource(name, dialect));
      if (lacking[0] && !isCritical(pod, dialect)) {
        const { resource, requested, used, capacity } = lacking[0];
        return reject(
          `OutOf${resource}`,
          `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
        );
      }
      if (!podMatchesNode(pod.spec, { name: nodeName, labels })) return reject("NodeAffinity");
      if (pod.spec.nodeName && pod.spec.nodeName !== nodeName) return reject("NodeName");
      if (portsCollide(pod, others)) return reject("NodePorts");
      if (
        !isStatic(pod, dialect) &&
        options
          .taints()
          .some(
            (taint) =>
              taint.effect === "NoExecute" &&
              !(pod.spec.tolerations ?? []).some((one) => tolerates(one, taint)),
          )
      ) {
        return reject("TaintToleration");
      }
      // A critical pod is not rejected for lack of resources: other pods are preempted.
      let preempts: readonly Pod[] = [];
      try {
        if (lacking.length > 0) preempts = podsToPreempt(pod, others, lacking, dialect);
      } catch (error) {
        const preemptionError = `preemption: error finding a set of pods to preempt: ${(error as Error).message}`;
        return reject(
          "UnexpectedAdmissionError",
          `Unexpected error while attempting to recover from admission failure: ${preemptionError}`,
        );
      }
      const os = pod.metadata.labels?.[dialect.names.labels.os];
      if (os !== undefined && os !== "linux") {
        return reject(
          "PodOSSelectorNodeLabelDoesNotMatch",
          `Failed to admit pod as the \`${dialect.names.labels.os}\` label doesn't match node label`,
        );
      }
      if (pod.spec.os?.name && pod.spec.os.name !== "linux")
        return reject("PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS");
      return { ok: true, ...(preempts.length > 0 && { preempts, lacking: lacking[0]!.resource }) };
    },
    blocks: (pod) => {
      if (options.appArmor || !usesAppArmor(pod, dialect)) return undefined;
      return { reason: "AppArmor", message: "Cannot enforce AppArmor: AppArmor is not enabled on the host" };
    },
  };
}

/**
 * Reports whether a pod is admitted under pressure: critical pods always are; under memory pressure alone, so
 * are pods that are not BestEffort or that tolerate the memory pressure taint.
 */
function isAdmittedUnderPressure(pressures: readonly string[], pod: Pod, dialect: Dialect): boolean {
  if (isCritical(pod, dialect)) return true;
  if (pressures.some((pressure) => pressure !== memoryPressure)) return false;
  const taint: Taint = { key: dialect.names.taints.memoryPressure, effect: "NoSchedule" };
  return qosClass(pod) !== "BestEffort" || (pod.spec.tolerations ?? []).some((one) => tolerates(one, taint));
}

function usesAppArmor({ metadata }: Pod, { names }: Dialect): boolean {
  return Object.entries(metadata.annotations ?? {}).some(
    ([name, value]) => name.startsWith(names.annotations.appArmorContainerPrefix) && value !== "unconfined",
  );
}

/** Reports whether a resource is extended: it has a qualified name in a domain other than the product's. */
export const isExtendedResource = (name: string, dialect: Dialect): boolean =>
  name.includes("/") &&
  !name.split("/", 1)[0]!.endsWith(dialect.names.resources.nativePrefix.slice(0, -1)) &&
  !name.startsWith("requests.") &&
  qualifiedNameProblems(`requests.${name}`).length === 0;

/** Converts the notation with slashes, in which dots are part of names such as `eth0.1`. */
const dotted = (name: string): string =>
  /^[^./]*\//.test(name) ? name.replaceAll(/[./]/g, (sign) => (sign === "/" ? "." : "/")) : name;

/** Returns why a sysctl is forbidden; those of a namespace of the host are, even if they are allowed otherwise. */
function sysctlProblem(pod: Pod, allowed: readonly string[]): string | undefined {
  const { sysctls = [] } = pod.spec.securityContext ?? {};
  for (const { name: given } of sysctls) {
    const name = dotted(given);
    const isAllowed = allowed.some((pattern) =>
      pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
    );
    if (!isAllowed) return `forbidden sysctl: ${JSON.stringify(name)} not allowlisted`;
    if (pod.spec.hostNetwork && name.startsWith("net."))
      return `forbidden sysctl: ${JSON.stringify(name)} not allowed with host net enabled`;
    if (pod.spec.hostIPC && /^(kernel\.shm|kernel\.msg|kernel\.sem|fs\.mqueue\.)/.test(name))
      return `forbidden sysctl: ${JSON.stringify(name)} not allowed with host ipc enabled`;
  }
  return undefined;
}

function usesLocalStorage(pod: Pod): boolean {
  const named = (amounts: object | undefined): boolean =>
    amounts !== undefined && "ephemeral-storage" in amounts;
  return (
    named(pod.spec.overhead) ||
    everyContainerOf(pod).some(({ resources }) => named(resources?.requests) || named(resources?.limits)) ||
    (pod.spec.volumes ?? []).some(({ emptyDir }) => emptyDir?.sizeLimit !== undefined)
  );
}
