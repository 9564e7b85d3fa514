// Validation of services, except their addresses.
import type { LoadBalancerStatus, Service, ServicePort, ServiceSpec } from "#api";
import { type FieldError, duplicate, forbiddenField, invalidValue, required } from "#base";
import type { Dialect } from "#dialect";
import {
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  ipProblems,
  portNameProblems,
  portNumberProblems,
} from "#schema";
import { validateLabels } from "../object-meta.ts";
import { ordinaryIpErrors, parseCidr, parseIp } from "./rules/address.ts";
import { formatErrors, portErrors, qualifiedNameErrors } from "./rules/format.ts";
import { oneOf, supported } from "./rules/one-of.ts";
import { addressErrors } from "./service-addresses.ts";
import { isHeadless, needsHealthCheck, needsNodePorts } from "./service-fields.ts";

/** Port of the node agent, which a load balancer must not expose. */
const agentPort = 10_250;
const maxAffinitySeconds = 86_400;
const balancerOnly = "may only be used when `type` is 'LoadBalancer'";

export function serviceErrors(service: Service, dialect: Dialect, portsAreGiven: boolean): FieldError[] {
  const { spec } = service;
  const ports = spec.ports ?? [];
  const errors = hintErrors(service, dialect);
  if (ports.length === 0 && !isHeadless(spec) && spec.type !== "ExternalName")
    errors.push(required("spec.ports"));
  errors.push(...typeErrors(spec));
  const names = new Set<string>();
  ports.forEach((port, position) =>
    errors.push(...onePortErrors(port, ports.length > 1, names, `spec.ports[${position}]`)),
  );
  errors.push(
    ...validateLabels(spec.selector, "spec.selector"),
    ...affinityErrors(spec),
    ...addressErrors(spec),
  );
  spec.externalIPs?.forEach((ip, position) => {
    const at = `spec.externalIPs[${position}]`;
    errors.push(...(parseIp(ip) ? ordinaryIpErrors(ip, at) : formatErrors(ip, at, ipProblems)));
  });
  errors.push(
    ...oneOf(spec.type, "spec.type", ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]),
    ...sharedPortErrors(spec),
  );
  const { trafficDistribution } = spec;
  return [
    ...errors,
    ...balancerErrors(service, dialect),
    ...trafficErrors(spec, portsAreGiven),
    ...(trafficDistribution === undefined
      ? []
      : supported(trafficDistribution, "spec.trafficDistribution", ["PreferClose"])),
  ];
}

function hintErrors({ metadata }: Service, { names }: Dialect): FieldError[] {
  const { topologyMode, topologyHints } = names.annotations;
  const [mode, hints] = [metadata.annotations?.[topologyMode], metadata.annotations?.[topologyHints]];
  if (mode === undefined || hints === undefined || mode === hints) return [];
  return [
    invalidValue(
      `metadata.annotations[${topologyMode}]`,
      mode,
      `must match annotations[${topologyHints}] when both are specified`,
    ),
  ];
}

function typeErrors(spec: ServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.type === "LoadBalancer") {
    spec.ports?.forEach(({ port }, position) => {
      if (port === agentPort)
        errors.push(
          invalidValue(
            `spec.ports[${position}]`,
            port,
            "may not expose the port of the node agent externally",
          ),
        );
    });
  }
  if (needsNodePorts(spec) && isHeadless(spec))
    errors.push(
      invalidValue(
        "spec.clusterIPs[0]",
        spec.clusterIPs![0],
        `may not be set to 'None' for ${spec.type} services`,
      ),
    );
  if (spec.type !== "ExternalName") return errors;
  if (spec.clusterIPs?.length)
    errors.push(forbiddenField("spec.clusterIPs", "may not be set for ExternalName services"));
  if (spec.ipFamilies?.length)
    errors.push(forbiddenField("spec.ipFamilies", "may not be set for ExternalName services"));
  if (spec.ipFamilyPolicy !== undefined)
    errors.push(forbiddenField("spec.ipFamilyPolicy", "may not be set for ExternalName services"));
  const name = (spec.externalName ?? "").replace(/\.$/, "");
  return [
    ...errors,
    ...(name
      ? formatErrors(name, "spec.externalName", dns1123SubdomainProblems)
      : [required("spec.externalName")]),
  ];
}

function onePortErrors(
  { name, port, protocol, targetPort, appProtocol }: ServicePort,
  nameNeeded: boolean,
  names: Set<string>,
  at: string,
): FieldError[] {
  const errors = name
    ? formatErrors(name, `${at}.name`, dns1123LabelProblems)
    : nameNeeded
      ? [required(`${at}.name`)]
      : [];
  if (name && names.has(name)) errors.push(duplicate(`${at}.name`, name));
  if (name) names.add(name);
  errors.push(
    ...portErrors(port, `${at}.port`),
    ...oneOf(protocol, `${at}.protocol`, ["SCTP", "TCP", "UDP"]),
  );
  errors.push(
    ...(typeof targetPort === "number"
      ? formatErrors(targetPort, `${at}.targetPort`, portNumberProblems)
      : formatErrors(targetPort, `${at}.targetPort`, portNameProblems)),
  );
  if (appProtocol !== undefined) errors.push(...qualifiedNameErrors(appProtocol, `${at}.appProtocol`));
  return errors;
}

function affinityErrors({ sessionAffinity, sessionAffinityConfig: config }: ServiceSpec): FieldError[] {
  const at = "spec.sessionAffinityConfig";
  const errors = oneOf(sessionAffinity, "spec.sessionAffinity", ["ClientIP", "None"]);
  if (sessionAffinity === "None" && config)
    errors.push(forbiddenField(at, "must not be set when session affinity is None"));
  if (sessionAffinity !== "ClientIP") return errors;
  const seconds = config?.clientIP?.timeoutSeconds;
  if (!config) errors.push(required(at));
  else if (!config.clientIP) errors.push(required(`${at}.clientIP`));
  else if (seconds === undefined) errors.push(required(`${at}.clientIP.timeoutSeconds`));
  else if (seconds <= 0 || seconds > maxAffinitySeconds)
    errors.push(
      invalidValue(
        `${at}.clientIP.timeoutSeconds`,
        seconds,
        `must be greater than 0 and less than ${maxAffinitySeconds}`,
      ),
    );
  return errors;
}

/** Validates that no two ports share a port or a node port with the same protocol. */
function sharedPortErrors({ type, ports = [] }: ServiceSpec): FieldError[] {
  const [forbidden, onNodes, inside]: [FieldError[], FieldError[], FieldError[]] = [[], [], []];
  const seen = new Set<string>();
  for (const [position, { protocol, port, nodePort }] of ports.entries()) {
    const at = `spec.ports[${position}]`;
    if (type === "ClusterIP" && nodePort)
      forbidden.push(forbiddenField(`${at}.nodePort`, "may not be used when `type` is 'ClusterIP'"));
    if (nodePort && seen.has(`node ${protocol}/${nodePort}`))
      onNodes.push(duplicate(`${at}.nodePort`, nodePort));
    if (seen.has(`${protocol}/${port}`)) inside.push(duplicate(at, { protocol, port }));
    seen.add(`node ${protocol}/${nodePort}`).add(`${protocol}/${port}`);
  }
  return [...forbidden, ...onNodes, ...inside];
}

function balancerErrors({ metadata, spec }: Service, { data }: Dialect): FieldError[] {
  const errors: FieldError[] = [];
  const annotation = `service.beta.${data.labelDomain}/load-balancer-source-ranges`;
  const annotated = metadata.annotations?.[annotation];
  const ranges = spec.loadBalancerSourceRanges?.length
    ? spec.loadBalancerSourceRanges
    : annotated?.trim()
      ? annotated.trim().split(",")
      : [];
  if (spec.loadBalancerSourceRanges?.length || annotated !== undefined) {
    const field = spec.loadBalancerSourceRanges?.length
      ? "spec.LoadBalancerSourceRanges"
      : `metadata.annotations[${annotation}]`;
    if (spec.type !== "LoadBalancer") errors.push(forbiddenField(field, balancerOnly));
    if (ranges.some((range) => !parseCidr(range.trim())))
      errors.push(
        invalidValue(
          field,
          spec.loadBalancerSourceRanges?.length ? `[${ranges.join(" ")}]` : annotated,
          "must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 ",
        ),
      );
  }
  if (spec.allocateLoadBalancerNodePorts !== undefined && spec.type !== "LoadBalancer")
    errors.push(forbiddenField("spec.allocateLoadBalancerNodePorts", balancerOnly));
  if (spec.allocateLoadBalancerNodePorts === undefined && spec.type === "LoadBalancer")
    errors.push(required("allocateLoadBalancerNodePorts"));
  return [...errors, ...classErrors(spec)];
}

function classErrors({ type, loadBalancerClass: named }: ServiceSpec): FieldError[] {
  if (named === undefined) return [];
  return type === "LoadBalancer"
    ? qualifiedNameErrors(named, "spec.loadBalancerClass")
    : [forbiddenField("spec.loadBalancerClass", balancerOnly)];
}

/** Validates that the class of a load balancer is unchanged. */
export function classChangeErrors(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  const changed =
    spec.type === "LoadBalancer" &&
    old.type === "LoadBalancer" &&
    spec.loadBalancerClass !== old.loadBalancerClass;
  return [
    ...(changed
      ? [invalidValue("spec.loadBalancerClass", spec.loadBalancerClass ?? null, "may not change once set")]
      : []),
    ...classErrors(spec),
  ];
}

function trafficErrors(spec: ServiceSpec, portsAreGiven: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const { externalTrafficPolicy: outside, internalTrafficPolicy: inside, healthCheckNodePort: check } = spec;
  if (needsNodePorts(spec))
    errors.push(...oneOf(outside, "spec.externalTrafficPolicy", ["Cluster", "Local"]));
  else if (outside)
    errors.push(
      invalidValue(
        "spec.externalTrafficPolicy",
        outside,
        "may only be set when `type` is 'NodePort' or 'LoadBalancer'",
      ),
    );
  if (!needsHealthCheck(spec)) {
    if (check)
      errors.push(
        invalidValue(
          "spec.healthCheckNodePort",
          check,
          "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
        ),
      );
  } else if (check) errors.push(...portErrors(check, "spec.healthCheckNodePort"));
  else if (portsAreGiven) errors.push(required("spec.healthCheckNodePort"));
  if (inside !== undefined)
    errors.push(...supported(inside, "spec.internalTrafficPolicy", ["Cluster", "Local"]));
  else if (needsNodePorts(spec) || spec.type === "ClusterIP")
    errors.push(required("spec.internalTrafficPolicy"));
  return errors;
}

/** Returns the errors of a status; with modes, that of each IP address must be stated. */
export function balancerStatusErrors(
  { ingress }: LoadBalancerStatus,
  path: string,
  modes = false,
): FieldError[] {
  return (ingress ?? []).flatMap(({ ip, hostname, ipMode }, position) => {
    const at = `${path}.ingress[${position}]`;
    const errors = ip && !parseIp(ip) ? [invalidValue(`${at}.ip`, ip, "must be a valid IP address")] : [];
    if (modes && ip && ipMode === undefined)
      errors.push(required(`${at}.ipMode`, "must be specified when `ip` is set"));
    else if (ipMode !== undefined && !ip)
      errors.push(forbiddenField(`${at}.ipMode`, "may not be specified when `ip` is not set"));
    else if (ipMode !== undefined) errors.push(...supported(ipMode, `${at}.ipMode`, ["Proxy", "VIP"]));
    if (hostname) errors.push(...formatErrors(hostname, `${at}.hostname`, dns1123SubdomainProblems));
    if (hostname && parseIp(hostname))
      errors.push(invalidValue(`${at}.hostname`, hostname, "must be a DNS name, not an IP address"));
    return errors;
  });
}
