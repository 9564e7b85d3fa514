// The probe workers of all running containers and their results.
import { type Container, type ContainerStatus, type Pod, type Probe, runningContainers } from "#api";
import type { Clock } from "#base";
import type { ContainerRuntime } from "#cri";
import { type ObservedContainer, type ObservedPod, latest, podIpsOf } from "../containers/observed.ts";
import { isHostNetwork, referenceTo, uidOf } from "../pod.ts";
import type { EventRecorder, NodeFacts } from "../interfaces.ts";
import { type RunProbeOptions, runProbe } from "./run-probe.ts";
import { type ProbeWorker, probeWorker } from "./probe-worker.ts";

type Kind = "startup" | "readiness" | "liveness";

interface Held {
  readonly podUid: string;
  started: boolean;
  ready: boolean;
  failed: "LivenessProbe" | "StartupProbe" | undefined;
  readonly probing: Map<Kind, ProbeWorker>;
}

export interface Probes {
  /**
   * Starts probing running containers and stops for others. `before` holds the previous container statuses.
   */
  update(pod: Pod, observed: ObservedPod, before: readonly ContainerStatus[]): void;
  /** Stops liveness and startup probes of a terminating pod: only readiness is still probed. */
  stopping(podUid: string): void;
  forget(podUid: string): void;
  failed(containerId: string): "LivenessProbe" | "StartupProbe" | undefined;
  isStarted(containerId: string, hasProbe: boolean): boolean;
  isReady(containerId: string, hasProbe: boolean): boolean;
  /** Stops all probing; no new probe worker is started. */
  close(): void;
}

export interface ProbesOptions {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly node: NodeFacts;
  readonly userAgent: string;
  readonly ignoresLateCommands?: RunProbeOptions["ignoresLateCommands"];
  readonly onChange: (podUid: string) => void;
  /** Called with each result, for metrics. */
  readonly onResult?: (
    pod: Pod,
    container: string,
    kind: Kind,
    result: "successful" | "failed" | "unknown",
  ) => void;
}

const kindNames: Readonly<Record<Kind, string>> = {
  startup: "Startup",
  readiness: "Readiness",
  liveness: "Liveness",
};

export function probes(options: ProbesOptions): Probes {
  const { runtime, clock, events, node, userAgent, ignoresLateCommands, onChange } = options;
  const held = new Map<string, Held>();
  let isClosed = false;

  function begin(
    pod: Pod,
    container: Container,
    observed: ObservedContainer,
    podIp: string,
    before: ContainerStatus | undefined,
  ): void {
    const carried = before?.containerID?.endsWith(`://${observed.id}`) === true;
    const found: Held = {
      podUid: uidOf(pod),
      started: !container.startupProbe || (carried && before?.started === true),
      // A container that was ready before the agent restarted stays ready until a probe fails.
      ready: carried && before?.ready === true,
      failed: undefined,
      probing: new Map(),
    };
    held.set(observed.id, found);
    const follow = (
      kind: Kind,
      probe: Probe | undefined,
      isDue: () => boolean,
      onVerdict: (good: boolean) => boolean,
    ): void => {
      if (!probe) return;
      const begun = probeWorker({
        clock,
        probe,
        startedAt: observed.startedAt ?? clock.now(),
        firstDecides: kind === "readiness" && carried,
        runProbe: (signal) =>
          isDue()
            ? runProbe(probe, {
                runtime,
                container,
                containerId: observed.id,
                podIp,
                userAgent,
                ignoresLateCommands,
                signal,
              }).then((answer) => {
                options.onResult?.(
                  pod,
                  container.name,
                  kind,
                  answer.result === "failure" ? "failed" : "successful",
                );
                return answer;
              })
            : undefined,
        onFailure: (kindOfFailure, text) => {
          if (kindOfFailure === "errored") options.onResult?.(pod, container.name, kind, "unknown");
          events.event(
            referenceTo(pod, container.name),
            "Warning",
            kindOfFailure === "warning" ? "ProbeWarning" : "Unhealthy",
            `${kindNames[kind]} probe ${kindOfFailure}: ${text}`,
          );
        },
        onVerdict: (good) => onVerdict(good),
      });
      found.probing.set(kind, begun);
    };
    follow(
      "startup",
      found.started ? undefined : container.startupProbe,
      () => true,
      (good) => {
        if (good) {
          found.started = true;
          // Probe readiness at once after startup instead of at the next period.
          found.probing.get("readiness")?.now();
        } else found.failed = "StartupProbe";
        onChange(found.podUid);
        return false;
      },
    );
    follow(
      "liveness",
      container.livenessProbe,
      () => found.started,
      (good) => {
        if (good) return true;
        found.failed = "LivenessProbe";
        onChange(found.podUid);
        return false;
      },
    );
    follow(
      "readiness",
      container.readinessProbe,
      () => found.started,
      (good) => {
        if (found.ready !== good) {
          found.ready = good;
          onChange(found.podUid);
        }
        return true;
      },
    );
  }

  const end = (containerId: string): void => {
    for (const { stop } of held.get(containerId)?.probing.values() ?? []) stop();
    held.delete(containerId);
  };

  return {
    update: (pod, observed, before) => {
      const uid = uidOf(pod);
      const podIp = (isHostNetwork(pod) ? node.hostIps() : podIpsOf(observed))[0] ?? "";
      const running = new Set<string>();
      for (const container of runningContainers(pod.spec)) {
        const found = latest(observed, container.name);
        if (found?.state !== "running") continue;
        running.add(found.id);
        if (
          !isClosed &&
          !held.has(found.id) &&
          (container.startupProbe || container.livenessProbe || container.readinessProbe)
        ) {
          begin(
            pod,
            container,
            found,
            podIp,
            before.find(({ name }) => name === container.name),
          );
        }
      }
      for (const [id, { podUid }] of held) if (podUid === uid && !running.has(id)) end(id);
    },
    stopping: (podUid) => {
      for (const { podUid: of, probing: begun } of held.values()) {
        if (of !== podUid) continue;
        for (const kind of ["liveness", "startup"] as const) {
          begun.get(kind)?.stop();
          begun.delete(kind);
        }
      }
    },
    forget: (podUid) => {
      for (const [id, { podUid: of }] of held) if (of === podUid) end(id);
    },
    failed: (containerId) => held.get(containerId)?.failed,
    isStarted: (containerId, hasProbe) => held.get(containerId)?.started ?? !hasProbe,
    isReady: (containerId, hasProbe) => (hasProbe ? (held.get(containerId)?.ready ?? false) : true),
    close: () => {
      isClosed = true;
      for (const { probing: begun } of held.values()) for (const { stop } of begun.values()) stop();
    },
  };
}
