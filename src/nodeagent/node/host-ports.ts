// Host ports of pods and their conflicts.
import { type Pod, runningContainers } from "#api";
import { isHostNetwork } from "../pod.ts";

interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

export function hostPortsOf(pod: Pod): HostPort[] {
  return runningContainers(pod.spec).flatMap(({ ports }) =>
    (ports ?? []).flatMap(({ hostPort, containerPort, protocol, hostIP }) => {
      const port = hostPort || (isHostNetwork(pod) ? containerPort : 0);
      return port ? [{ ip: hostIP || "0.0.0.0", protocol: protocol || "TCP", port }] : [];
    }),
  );
}

const isUnspecified = (ip: string): boolean => ip === "0.0.0.0" || ip === "::";

/** Reports whether a host port of a pod conflicts with one of the other pods. */
export function portsCollide(pod: Pod, others: readonly Pod[]): boolean {
  const wanted = hostPortsOf(pod);
  if (wanted.length === 0) return false;
  const taken = others.flatMap(hostPortsOf);
  return wanted.some((a) =>
    taken.some(
      (b) =>
        a.port === b.port &&
        a.protocol === b.protocol &&
        (a.ip === b.ip || isUnspecified(a.ip) || isUnspecified(b.ip)),
    ),
  );
}
