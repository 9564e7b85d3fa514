// The probe workers of all pods, and the results for their containers.
import { type Container, type ContainerStatus, type Pod, type Probe, runningContainers } from "#api";
import type { Clock } from "#base";
import type { ContainerRuntime } from "#cri";
import { type ObservedContainer, type ObservedPod, latest, podIpsOf } from "../containers/observed.ts";
import { isHostNetwork, referenceTo, uidOf } from "../pod.ts";
import type { EventRecorder, NodeFacts } from "../interfaces.ts";
import { type RunProbeOptions, runProbe } from "./run-probe.ts";
import { type ProbeWorker, probeWorker } from "./probe-worker.ts";

type Kind = "startup" | "readiness" | "liveness";

/** A container by name: its workers outlive restarts, its results belong to the container that runs. */
interface Probed {
  readonly podUid: string;
  readonly workers: Map<Kind, ProbeWorker>;
  target: Target | undefined;
}

/** The container last seen running, and what its probes found. */
interface Target {
  readonly containerId: string;
  /** When the container was first seen running, by the monotonic clock, and how long it had run by then. */
  readonly seenAt: number;
  readonly ageMilliseconds: number;
  /** The state of the container is known from before the agent restarted. */
  readonly carried: boolean;
  podIp: string;
  running: boolean;
  started: boolean;
  ready: boolean;
  failed: "LivenessProbe" | "StartupProbe" | undefined;
  /** Whether the readiness worker has seen the container. */
  isKnown: boolean;
}

export interface Probes {
  /**
   * Starts the workers of a pod, and updates the containers that they probe. `before` holds the previous container
   * statuses.
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
  readonly onResult?: ((pod: Pod, container: string, kind: Kind, result: ProbeOutcome) => void) | undefined;
  /** From 0 to 1, exclusively: the part of a period by which probes are delayed after a restart of the agent. */
  readonly random?: () => number;
}

export interface ProbeOutcome {
  readonly result: "successful" | "failed";
  readonly seconds: number;
}

const kindNames: Readonly<Record<Kind, string>> = {
  startup: "Startup",
  readiness: "Readiness",
  liveness: "Liveness",
};

export function probes(options: ProbesOptions): Probes {
  const { runtime, clock, events, node, userAgent, ignoresLateCommands, onChange } = options;
  /** By pod uid, then by container name. */
  const pods = new Map<string, Map<string, Probed>>();
  const targets = new Map<string, Target>();
  /** Pods that terminate: they get no new workers. */
  const ending = new Set<string>();
  let isClosed = false;

  /** Starts the workers of a container. `carried`: it has been running since before the agent restarted. */
  function begin(pod: Pod, container: Container, carried: boolean): Probed {
    const probed: Probed = { podUid: uidOf(pod), workers: new Map(), target: undefined };
    const start = (
      kind: Kind,
      probe: Probe | undefined,
      isDue: (target: Target) => boolean,
      onVerdict: (target: Target, good: boolean) => boolean,
    ): void => {
      if (!probe) return;
      const initialDelay = (probe.initialDelaySeconds ?? 0) * 1000;
      let current: Target | undefined;
      const run = async (target: Target, signal: AbortSignal) => {
        const begun = clock.monotonic();
        const { podIp, containerId } = target;
        const answer = await runProbe(probe, {
          runtime,
          container,
          containerId,
          podIp,
          userAgent,
          ignoresLateCommands,
          signal,
        });
        const seconds = (clock.monotonic() - begun) / 1000;
        const result = answer.result === "failure" ? "failed" : "successful";
        options.onResult?.(pod, container.name, kind, { result, seconds });
        return answer;
      };
      const worker = probeWorker({
        clock,
        probe,
        delayMilliseconds: carried
          ? (options.random ?? Math.random)() * Math.max(1, probe.periodSeconds ?? 10) * 1000
          : 0,
        runProbe: (signal) => {
          const { target } = probed;
          current = target;
          if (!target?.running) return undefined;
          if (kind === "readiness" && !target.isKnown) {
            target.isKnown = true;
            if (target.carried) worker.decideNext();
            // As in the kubelet, the initial result of a new container is a change, and each sync of a
            // container that is not ready probes it: a success threshold of two is reached at once.
            else if (target.started) onChange(probed.podUid);
          }
          const age = target.ageMilliseconds + clock.monotonic() - target.seenAt;
          return age >= initialDelay && isDue(target) ? run(target, signal) : undefined;
        },
        onFailure: (outcome, text) =>
          events.event(
            referenceTo(pod, container.name),
            "Warning",
            outcome === "warning" ? "ProbeWarning" : "Unhealthy",
            `${kindNames[kind]} probe ${outcome}: ${text}`,
          ),
        onVerdict: (good) => current === undefined || onVerdict(current, good),
      });
      probed.workers.set(kind, worker);
    };
    start(
      "startup",
      container.startupProbe,
      ({ started, failed }) => !started && !failed,
      (target, good) => {
        if (good) target.started = true;
        else target.failed = "StartupProbe";
        onChange(probed.podUid);
        return good;
      },
    );
    start(
      "liveness",
      container.livenessProbe,
      ({ started, failed }) => started && !failed,
      (target, good) => {
        if (good) return true;
        target.failed = "LivenessProbe";
        onChange(probed.podUid);
        return false;
      },
    );
    start(
      "readiness",
      container.readinessProbe,
      ({ started }) => started,
      (target, good) => {
        if (target.ready !== good) {
          target.ready = good;
          onChange(probed.podUid);
        }
        return true;
      },
    );
    return probed;
  }

  /** Begins with a container that has been found running. */
  function adopt(
    container: Container,
    found: ObservedContainer,
    before: ContainerStatus | undefined,
  ): Target {
    const carried = before?.containerID?.endsWith(`://${found.id}`) === true;
    // The kubelet compares with the start as it is in the status, in whole seconds.
    const startedAt = Math.floor((found.startedAt ?? clock.now()) / 1000) * 1000;
    return {
      containerId: found.id,
      seenAt: clock.monotonic(),
      ageMilliseconds: Math.max(0, clock.now() - startedAt),
      carried,
      podIp: "",
      running: true,
      started: !container.startupProbe || (carried && before?.started === true),
      // A container that was ready before the agent restarted stays ready until a probe fails.
      ready: carried && before?.ready === true,
      failed: undefined,
      isKnown: false,
    };
  }

  const stopWorkers = ({ workers }: Probed, kinds: readonly Kind[]): void => {
    for (const kind of kinds) {
      workers.get(kind)?.stop();
      workers.delete(kind);
    }
  };

  return {
    update: (pod, observed, before) => {
      const uid = uidOf(pod);
      const containers = runningContainers(pod.spec).filter(
        ({ startupProbe, livenessProbe, readinessProbe }) => startupProbe || livenessProbe || readinessProbe,
      );
      if (isClosed || containers.length === 0) return;
      const podIp = (isHostNetwork(pod) ? node.hostIps() : podIpsOf(observed))[0] ?? "";
      const ofPod = pods.getOrInsertComputed(uid, () => new Map<string, Probed>());
      for (const container of containers) {
        const { name } = container;
        const found = latest(observed, name);
        const isRunning = found?.state === "running";
        const known = ofPod.get(name);
        if (!known && ending.has(uid)) continue;
        let target = known?.target;
        if (found && isRunning && target?.containerId !== found.id) {
          if (target) targets.delete(target.containerId);
          target = adopt(container, found, known ? undefined : before.find((of) => of.name === name));
          targets.set(found.id, target);
        }
        if (target) {
          target.running = isRunning;
          target.podIp = podIp;
        }
        const probed = known ?? begin(pod, container, target?.carried === true);
        probed.target = target;
        ofPod.set(name, probed);
        if (isRunning && target?.started && !target.ready) probed.workers.get("readiness")?.now();
      }
    },
    stopping: (podUid) => {
      ending.add(podUid);
      for (const probed of pods.get(podUid)?.values() ?? []) stopWorkers(probed, ["liveness", "startup"]);
    },
    forget: (podUid) => {
      for (const probed of pods.get(podUid)?.values() ?? []) {
        stopWorkers(probed, ["liveness", "startup", "readiness"]);
        if (probed.target) targets.delete(probed.target.containerId);
      }
      pods.delete(podUid);
      ending.delete(podUid);
    },
    failed: (containerId) => targets.get(containerId)?.failed,
    isStarted: (containerId, hasProbe) => targets.get(containerId)?.started ?? !hasProbe,
    isReady: (containerId, hasProbe) => !hasProbe || targets.get(containerId)?.ready === true,
    close: () => {
      isClosed = true;
      for (const ofPod of pods.values())
        for (const probed of ofPod.values()) stopWorkers(probed, ["liveness", "startup", "readiness"]);
    },
  };
}
