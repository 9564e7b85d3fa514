// Pods behind a service: selection, addresses and resolved ports.
import { type Pod, type Service, runningContainers } from "#api";
import { type AnyObject, kinds } from "#client";
import { type ControllerContext, type SharedInformer, type WorkQueue, selectsMap } from "#controllerkit";
import { type SeenPod, isDeleting, isFinished, isReady, keyOf } from "../pods.ts";

export type SeenService = Service & AnyObject;

export interface ResolvedPort {
  readonly name: string;
  readonly port: number;
  readonly protocol: string;
  readonly appProtocol?: string;
}

export const isHeadless = ({ spec }: Service): boolean => spec.clusterIP === "None";
export const hasSelector = ({ spec }: Service): boolean =>
  spec.type !== "ExternalName" && Object.keys(spec.selector ?? {}).length > 0;

/** Reports whether a pod may be an endpoint. */
export const isCandidate = (pod: SeenPod, includeTerminating: boolean): boolean =>
  !isFinished(pod) && Boolean(pod.status.podIP) && (includeTerminating || !isDeleting(pod));

/** Returns the pod's address of an IP family. */
export function addressOf({ status }: Pod, family: string): string | undefined {
  const all = (status.podIPs ?? []).map(({ ip }) => ip ?? "");
  if (status.podIP && all.length === 0) all.push(status.podIP);
  return all.find((ip) => (ip.includes(":") ? "IPv6" : "IPv4") === family);
}

/** Returns the container port for a service port; undefined if the pod lacks the named port. */
function portOn(
  { spec }: Pod,
  target: number | string | undefined,
  fallback: number,
  protocol: string,
): number | undefined {
  if (target === undefined || target === 0 || target === "") return fallback;
  if (typeof target === "number") return target;
  return runningContainers(spec)
    .flatMap(({ ports }) => ports ?? [])
    .find((port) => port.name === target && (port.protocol ?? "TCP") === protocol)?.containerPort;
}

export function portsOn(pod: Pod, { spec }: Service): ResolvedPort[] {
  return (spec.ports ?? []).flatMap(({ name, port, targetPort, protocol = "TCP", appProtocol }) => {
    const number = portOn(pod, targetPort ?? undefined, port, protocol);
    if (number === undefined) return [];
    return [{ name: name ?? "", port: number, protocol, ...(appProtocol && { appProtocol }) }];
  });
}

/** Returns the pod's hostname if the pod names the service as its subdomain. */
export const hostnameOf = (pod: Pod, service: SeenService): string | undefined =>
  pod.spec.hostname && pod.spec.subdomain === service.metadata.name ? pod.spec.hostname : undefined;

export const targetOf = ({ metadata }: SeenPod) => ({
  kind: "Pod",
  namespace: metadata.namespace!,
  name: metadata.name!,
  uid: metadata.uid!,
});

export { isReady };

/** Follows services and pods; a relevant change of a pod queues the services that select it. */
export function followServices(
  { view }: ControllerContext,
  queue: () => WorkQueue,
): { readonly services: SharedInformer<SeenService>; podsOf(service: SeenService): readonly SeenPod[] } {
  const services: SharedInformer<SeenService> = view.follow(kinds.services, ({ object }) =>
    queue().add(keyOf(object)),
  );
  const selecting = (pod: SeenPod): readonly SeenService[] =>
    services
      .inNamespace(pod.metadata.namespace ?? "")
      .filter((service) => hasSelector(service) && selectsMap(service.spec.selector, pod.metadata.labels));
  const fingerprint = ({ metadata, spec, status }: SeenPod): string =>
    JSON.stringify([
      metadata.labels,
      metadata.deletionTimestamp,
      spec.nodeName,
      spec.hostname,
      status.podIPs ?? status.podIP,
      status.phase,
      isReady({ status }),
    ]);
  const pods: SharedInformer<SeenPod> = view.follow(kinds.pods, (event) => {
    if (event.type === "updated" && fingerprint(event.old) === fingerprint(event.object)) return;
    const affected = new Set(selecting(event.object));
    if (event.type === "updated") for (const service of selecting(event.old)) affected.add(service);
    for (const service of affected) queue().add(keyOf(service));
  });
  return {
    services,
    podsOf: (service) =>
      pods
        .inNamespace(service.metadata.namespace ?? "")
        .filter(({ metadata }) => selectsMap(service.spec.selector, metadata.labels)),
  };
}
