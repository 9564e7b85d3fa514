// Fields of a service that depend on its type, and allocated values that persist when a client does not send
// them.
import type { Service, ServiceSpec } from "#api";
import type { RequestContext } from "../strategy.ts";
import { same } from "./rules/unchanged.ts";

export const headless = "None";

export const needsAddress = ({ type }: ServiceSpec): boolean => type !== "ExternalName";
export const isHeadless = ({ clusterIPs }: ServiceSpec): boolean =>
  clusterIPs?.length === 1 && clusterIPs[0] === headless;
export const needsNodePorts = ({ type }: ServiceSpec): boolean =>
  type === "NodePort" || type === "LoadBalancer";
export const needsHealthCheck = ({ type, externalTrafficPolicy }: ServiceSpec): boolean =>
  type === "LoadBalancer" && externalTrafficPolicy === "Local";

const defaultAffinitySeconds = 10_800;

export function serviceDefaults(
  { spec, status }: Service,
  { settings }: Pick<RequestContext, "settings">,
): void {
  if (spec.sessionAffinity === "None") delete spec.sessionAffinityConfig;
  else if (
    spec.sessionAffinity === "ClientIP" &&
    spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined
  ) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: defaultAffinitySeconds } };
  }
  for (const port of spec.ports ?? [])
    if (port.targetPort === 0 || port.targetPort === "") port.targetPort = port.port;
  if (needsNodePorts(spec)) spec.externalTrafficPolicy ||= "Cluster";
  if (needsNodePorts(spec) || spec.type === "ClusterIP") spec.internalTrafficPolicy ??= "Cluster";
  if (spec.type !== "LoadBalancer") return;
  spec.allocateLoadBalancerNodePorts ??= true;
  if (!settings.balancerModes) return;
  for (const each of status?.loadBalancer?.ingress ?? []) if (each.ip) each.ipMode ??= "VIP";
}

/** Aligns clusterIPs with clusterIP, the only one that older clients send. */
export function alignAddresses(spec: ServiceSpec, old: ServiceSpec | undefined): void {
  if (!old) {
    if (spec.clusterIP && !spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP];
    return;
  }
  if (old.clusterIPs?.length && !spec.clusterIPs?.length && (spec.clusterIP ?? "") === (old.clusterIP ?? ""))
    spec.clusterIPs = old.clusterIPs;
  // A client that changes only clusterIP means both, whether or not the change is allowed.
  if ((spec.clusterIP ?? "") === (old.clusterIP ?? "") || !same(spec.clusterIPs ?? [], old.clusterIPs ?? []))
    return;
  if (spec.clusterIP) spec.clusterIPs = [spec.clusterIP];
  else delete spec.clusterIPs;
}

/** Keeps allocated values that the client does not send. */
export function keepAllocated(spec: ServiceSpec, old: ServiceSpec): void {
  if (needsAddress(old) && needsAddress(spec)) {
    if (!spec.clusterIP && old.clusterIP) spec.clusterIP = old.clusterIP;
    if (!spec.clusterIPs?.length && old.clusterIPs?.length) spec.clusterIPs = old.clusterIPs;
  }
  if (needsNodePorts(old) && needsNodePorts(spec)) {
    const sent = new Set((spec.ports ?? []).map(({ nodePort }) => nodePort));
    const given = new Map((old.ports ?? []).map(({ name, nodePort }) => [name ?? "", nodePort]));
    for (const port of spec.ports ?? []) {
      const before = given.get(port.name ?? "");
      if (!port.nodePort && before && !sent.has(before)) port.nodePort = before;
    }
  }
  if (needsHealthCheck(old) && needsHealthCheck(spec) && !spec.healthCheckNodePort && old.healthCheckNodePort)
    spec.healthCheckNodePort = old.healthCheckNodePort;
}

/** When the type changes, drops allocated values of the old type that the client merely sent back. */
export function dropUnusedAllocations(service: Service, { spec: old }: Service): void {
  const { spec } = service;
  if (needsAddress(old) && !needsAddress(spec)) {
    if (same(spec.clusterIP, old.clusterIP) && same(spec.clusterIPs, old.clusterIPs)) {
      delete spec.clusterIP;
      delete spec.clusterIPs;
    }
    if (same(spec.ipFamilies, old.ipFamilies)) delete spec.ipFamilies;
    if (same(spec.ipFamilyPolicy, old.ipFamilyPolicy)) delete spec.ipFamilyPolicy;
  }
  if (needsNodePorts(old) && !needsNodePorts(spec)) {
    const before = new Set((old.ports ?? []).map(({ nodePort }) => nodePort));
    if ((spec.ports ?? []).every(({ nodePort }) => !nodePort || before.has(nodePort)))
      for (const port of spec.ports ?? []) delete port.nodePort;
  }
  if (
    needsHealthCheck(old) &&
    !needsHealthCheck(spec) &&
    spec.healthCheckNodePort === old.healthCheckNodePort
  )
    delete spec.healthCheckNodePort;
  if (old.type === "LoadBalancer" && spec.type !== "LoadBalancer") {
    if (spec.allocateLoadBalancerNodePorts === old.allocateLoadBalancerNodePorts)
      delete spec.allocateLoadBalancerNodePorts;
    if (spec.loadBalancerClass === old.loadBalancerClass) delete spec.loadBalancerClass;
  }
  if (
    needsNodePorts(old) &&
    !needsNodePorts(spec) &&
    spec.externalTrafficPolicy === old.externalTrafficPolicy
  )
    delete spec.externalTrafficPolicy;
  if (!needsAddress(spec)) dropInsidePolicy(spec);
  if (spec.type !== "LoadBalancer") service.status = { ...service.status, loadBalancer: {} };
}

/** Drops a valid internalTrafficPolicy where it does not apply. Invalid values are left for validation. */
export function dropInsidePolicy(spec: ServiceSpec): void {
  if (spec.internalTrafficPolicy === "Cluster" || spec.internalTrafficPolicy === "Local")
    delete spec.internalTrafficPolicy;
}
