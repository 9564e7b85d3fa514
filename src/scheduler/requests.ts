// Resource requests of pods and allocatable resources of nodes as numbers by resource; CPU in thousandths.
import { type Container, type Pod, effectiveRequests, peakUsage, runningContainers } from "#api";
import { parseQuantity, quantityMilliValue, quantityValue } from "#base";

export type Amounts = Readonly<Record<string, number>>;
type Quantities = Readonly<Record<string, string>> | undefined;

export function amountsOf(quantities: Quantities): Amounts {
  return Object.fromEntries(
    Object.entries(quantities ?? {}).map(([name, text]) => {
      const quantity = parseQuantity(String(text));
      return [name, name === "cpu" ? quantityMilliValue(quantity) : quantityValue(quantity)];
    }),
  );
}

const combined = (a: Amounts, b: Amounts, how: (x: number, y: number) => number): Amounts =>
  Object.fromEntries(
    [...new Set([...Object.keys(a), ...Object.keys(b)])].map((name) => [
      name,
      how(a[name] ?? 0, b[name] ?? 0),
    ]),
  );
export const added = (a: Amounts, b: Amounts): Amounts => combined(a, b, (x, y) => x + y);
const larger = (a: Amounts, b: Amounts): Amounts => combined(a, b, Math.max);

/** Default requests assumed for scoring when a container specifies none. */
const defaultRequests: Amounts = { cpu: 100, memory: 200 * 1024 * 1024 };

export interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

export interface PodResources {
  readonly requests: Amounts;
  /** Requests, with default requests for containers that specify none. */
  readonly nonZeroRequests: Amounts;
  readonly hostPorts: readonly HostPort[];
}

const cache = new WeakMap<Pod, PodResources>();

export function resourcesOf(pod: Pod): PodResources {
  let resources = cache.get(pod);
  if (!resources)
    cache.set(
      pod,
      (resources = {
        requests: total(pod, (each) => requestsOf(pod, each)),
        nonZeroRequests: total(pod, (each) => ({ ...defaultRequests, ...requestsOf(pod, each) })),
        hostPorts: hostPortsOf(pod),
      }),
    );
  return resources;
}

const requestsOf = (pod: Pod, container: Container): Amounts => amountsOf(effectiveRequests(pod, container));

const total = ({ spec }: Pod, of: (container: Container) => Amounts): Amounts =>
  added(peakUsage(spec, of, { none: {}, sum: added, larger }), amountsOf(spec.overhead));

const hostPortsOf = ({ spec }: Pod): HostPort[] =>
  runningContainers(spec).flatMap(({ ports }) =>
    (ports ?? []).flatMap(({ hostPort, hostIP, protocol }) =>
      hostPort ? [{ ip: hostIP || "0.0.0.0", protocol: protocol ?? "TCP", port: hostPort }] : [],
    ),
  );

export const collide = (a: HostPort, b: HostPort): boolean =>
  a.port === b.port &&
  a.protocol === b.protocol &&
  (a.ip === b.ip || a.ip === "0.0.0.0" || b.ip === "0.0.0.0");
