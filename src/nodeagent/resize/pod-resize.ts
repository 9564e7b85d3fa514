// In-place resize of pods: decides whether a requested resize fits the node, plans the runtime updates, and
// reports the actual resources in the status.
import {
  type Container,
  type ContainerStatus,
  type Pod,
  type PodStatus,
  type ResizeStatus,
  equalResources,
} from "#api";
import { formatQuantity, quantityOf } from "#base";
import { containerHash } from "../containers/hash.ts";
import type { ObservedContainer, ObservedPod } from "../containers/observed.ts";
import { latest } from "../containers/observed.ts";
import { runtimeLabelNames } from "../containers/runtime-labels.ts";
import type { Dialect } from "#dialect";
import type { ContainerContributor, PodAdmission } from "../interfaces.ts";
import { type CpuSettings, quotaOf, sharesOf } from "../plan/amounts.ts";
import { podResource, podOverhead, resourceAmount } from "../plan/pod-resources.ts";
import type { ContainerResizing } from "../plan/plan.ts";
import { containersOf, isStatic, uidOf } from "../pod.ts";
import type { Amounts } from "./allocation-checkpoint.ts";
import type { Allocations } from "./allocations.ts";
import { type ContainerResize, containerResize, sizeOf } from "./container-resize.ts";

export interface PodResize {
  readonly allocations: Allocations;
  /** Adds an annotation to new containers with their hash without resources. */
  readonly contributor: ContainerContributor;
  /**
   * Decides about a pod whose spec requests other resources than allocated, given the other pods. Resolves to
   * true if the decision must be retried.
   */
  decide(pod: Pod, status: PodStatus, others: readonly Pod[]): Promise<boolean>;
  /** Returns the resize information needed by the plan. */
  resizing(pod: Pod, status: PodStatus | undefined): ContainerResizing;
  /** Returns the containers to be resized without a restart. */
  updates(
    pod: Pod,
    observed: ObservedPod,
    status: PodStatus | undefined,
  ): readonly (ContainerResize & { readonly kind: "update" })[];
  /** Returns the status with allocated and actual resources. */
  shown(pod: Pod, observed: ObservedPod, old: PodStatus, status: PodStatus): PodStatus;
}

export interface PodResizeOptions {
  readonly dialect: Dialect;
  readonly allocations: Allocations;
  readonly admission: () => Pick<PodAdmission, "admit">;
  /** Returns the node's allocatable resources. */
  readonly allocatable: () => Readonly<Record<string, string>>;
  readonly cpu: CpuSettings;
}

/**
 * Hashes a container without its resources: if this hash differs, something else changed that requires a
 * restart.
 */
const hashWithoutResources = (container: Container): string => containerHash({ ...container, resources: {} });

export function podResize(options: PodResizeOptions): PodResize {
  const { dialect, allocations, cpu } = options;
  const allocatedOf = (pod: Pod, name: string): Amounts | null | undefined =>
    allocations.of(uidOf(pod), name);
  const resizeOf = (
    pod: Pod,
    container: Container,
    found: ObservedContainer,
    status: PodStatus | undefined,
  ): ContainerResize =>
    isStatic(pod, dialect)
      ? { kind: "none" }
      : containerResize(container, {
          found,
          status: status?.containerStatuses?.find(({ name }) => name === container.name),
          allocated: allocatedOf(pod, container.name),
          cpu,
        });
  return {
    allocations,
    contributor: {
      contribute: (_pod, container) =>
        Promise.resolve({
          annotations: {
            [runtimeLabelNames(dialect).hashWithoutResources]: hashWithoutResources(container),
          },
        }),
      release: (uid) => allocations.forget(uid),
    },
    decide: async (pod, status, others) => {
      if (isStatic(pod, dialect) || status.phase !== "Running" || !requestsResize(pod)) return false;
      const decision = decided(pod, others);
      if (decision === "InProgress") allocations.allocate(pod);
      allocations.decide(uidOf(pod), decision);
      await allocations.saved();
      return decision === "Deferred";
    },
    resizing: (pod, status) => ({
      hasChanged: (container, found) =>
        containerHash(container) !== found.runtimeLabels.hash &&
        (isStatic(pod, dialect) ||
          hashWithoutResources(container) !== found.runtimeLabels.hashWithoutResources),
      needsRestart: (container, found) => resizeOf(pod, container, found, status).kind === "restart",
    }),
    updates: (pod, observed, status) =>
      containersOf(pod).flatMap((container) => {
        const found = latest(observed, container.name);
        const resize = found && resizeOf(pod, container, found, status);
        return resize?.kind === "update" ? [resize] : [];
      }),
    shown: (pod, observed, old, status) => {
      const containerStatuses = status.containerStatuses?.map((each) =>
        withResources(pod, observed, old, each),
      );
      const next: PodStatus = { ...status, ...(containerStatuses && { containerStatuses }) };
      const differs = containersOf(pod).some(({ name, resources }) => {
        const reported = containerStatuses?.find((each) => each.name === name)?.resources;
        return (
          reported !== undefined &&
          !(
            equalResources(resources?.requests, reported.requests) &&
            equalResources(resources?.limits, reported.limits)
          )
        );
      });
      if (!differs) allocations.decide(uidOf(pod), undefined);
      // Until a decision the proposed resize status is kept.
      const resize = differs ? (allocations.status(uidOf(pod)) ?? pod.status?.resize) : undefined;
      return resize ? { ...next, resize } : next;
    },
  };

  function requestsResize(pod: Pod): boolean {
    for (const { name, resources } of containersOf(pod)) {
      const requests = resources?.requests;
      if (!requests || Object.keys(requests).length === 0) continue;
      const allocated = allocatedOf(pod, name);
      if (!allocated || Object.keys(allocated).length !== Object.keys(requests).length) return false;
      if (!equalResources(requests, allocated)) return true;
    }
    return false;
  }

  function decided(pod: Pod, others: readonly Pod[]): ResizeStatus {
    const allocatable = options.allocatable();
    const exceeds = ["cpu", "memory"].some(
      (name) =>
        podResource(pod, "requests", name) + podOverhead(pod, name) > resourceAmount(name, allocatable[name]),
    );
    if (exceeds) return "Infeasible";
    const admitted = options.admission().admit(pod, others.map(allocations.allocated));
    return admitted.ok && !admitted.preempts?.length ? "InProgress" : "Deferred";
  }

  function withResources(
    pod: Pod,
    observed: ObservedPod,
    old: PodStatus,
    status: ContainerStatus,
  ): ContainerStatus {
    const container = containersOf(pod).find(({ name }) => name === status.name);
    if (!status.state.running || !container) return status;
    const before = old.containerStatuses?.find(({ name }) => name === status.name);
    const allocated = allocatedOf(pod, status.name) ?? before?.allocatedResources;
    const found = latest(observed, status.name);
    const isSame = before?.state.running !== undefined && before.containerID === status.containerID;
    const desiredResources = container.resources ?? {};
    const size = found?.size ?? {};
    const wanted = sizeOf(container);
    const quota = (milliCpu: number): number => quotaOf(milliCpu, cpu.periodMicroseconds);
    const measured = (
      name: string,
      amount: number | undefined,
      isAsAsked: boolean,
      [spec, last]: readonly [Amounts | undefined, Amounts | undefined],
    ): string | undefined => {
      if (amount === undefined) return isSame ? last?.[name] : spec?.[name];
      return isAsAsked && spec?.[name] !== undefined
        ? spec[name]
        : name === "cpu"
          ? formatQuantity(quantityOf(amount, -3, "DecimalSI"))
          : formatQuantity(quantityOf(amount, 0, "BinarySI"));
    };
    const limits = desiredResources.limits && {
      cpu: measured("cpu", size.cpuLimit, quota(size.cpuLimit ?? 0) === quota(wanted.cpuLimit), [
        desiredResources.limits,
        before?.resources?.limits,
      ]),
      memory: measured("memory", size.memoryLimit, size.memoryLimit === wanted.memoryLimit, [
        desiredResources.limits,
        before?.resources?.limits,
      ]),
      "ephemeral-storage": desiredResources.limits["ephemeral-storage"],
    };
    const requests = allocated && {
      cpu: measured(
        "cpu",
        allocated["cpu"] === undefined ? undefined : size.cpuRequest,
        sharesOf(size.cpuRequest ?? 0) === sharesOf(resourceAmount("cpu", allocated["cpu"])),
        [allocated, before?.resources?.requests],
      ),
      memory: allocated["memory"],
      "ephemeral-storage": allocated["ephemeral-storage"],
    };
    return {
      ...status,
      ...(allocated && { allocatedResources: { ...allocated } }),
      resources: {
        ...(limits && { limits: present(limits) }),
        ...(requests && { requests: present(requests) }),
      },
    };
  }
}

const present = (amounts: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(amounts).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
  );
