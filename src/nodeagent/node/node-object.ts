// The Node object written by the agent, at registration and at every status update. Pure.
import type { Node, NodeAddress, NodeStatus, Taint } from "#api";
import type { Dialect } from "#dialect";
import type { Machine } from "../resources/machine.ts";
import type { Amounts } from "./capacity.ts";

export interface NodeIdentity {
  readonly dialect: Dialect;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly schedulable: boolean;
  readonly providerId: string;
  readonly controllerAttaches: boolean;
  /** Port of the agent's server. */
  readonly port: number;
  /** Whether an external cloud controller initializes the node. */
  readonly externalCloud: boolean;
  /** Configured addresses. */
  readonly nodeIps?: readonly string[];
}

export interface NodeStatusFacts {
  readonly machine: Machine;
  readonly capacity: Amounts;
  readonly allocatable: Amounts;
  readonly addresses: readonly string[];
  readonly hostname: string;
  /** `name://version` of the container runtime. */
  readonly runtimeVersion: string;
  readonly agentVersion: string;
  readonly images: NodeStatus["images"];
  /** Attachable volumes that must not be detached. */
  readonly volumesInUse?: readonly string[];
}

/** Returns the default labels of a node and the configured ones. */
export function nodeLabels(
  { dialect, labels }: NodeIdentity,
  { machine, hostname }: Pick<NodeStatusFacts, "machine" | "hostname">,
): Record<string, string> {
  const names = dialect.names.labels;
  return {
    [names.betaArch]: machine.architecture,
    [names.betaOs]: "linux",
    [names.hostname]: hostname,
    ...platformLabels({ dialect }, { machine }),
    ...labels,
  };
}

/**
 * Returns the labels that keep pods off the wrong platform; the agent restores them when they are changed.
 */
export function platformLabels(
  { dialect }: Pick<NodeIdentity, "dialect">,
  { machine }: Pick<NodeStatusFacts, "machine">,
): Record<string, string> {
  return { [dialect.names.labels.arch]: machine.architecture, [dialect.names.labels.os]: "linux" };
}

/**
 * Returns the labels of the object to register that an existing node gets, too: those that describe the machine.
 * Other configured labels are for new nodes only, as in the kubelet. A label without a value is removed.
 */
export function reconciledLabels(
  identity: NodeIdentity,
  facts: Pick<NodeStatusFacts, "machine" | "hostname">,
): Record<string, string | null> {
  const names = identity.dialect.names.labels;
  const wanted = nodeLabels(identity, facts);
  return Object.fromEntries(
    [
      names.hostname,
      names.zone,
      names.region,
      names.betaZone,
      names.betaRegion,
      names.instanceType,
      names.betaInstanceType,
      names.os,
      names.arch,
      names.betaOs,
      names.betaArch,
    ].flatMap((name) => (wanted[name] === undefined ? [] : [[name, wanted[name] || null]])),
  );
}

export function nodeAnnotations(identity: NodeIdentity): Record<string, string> {
  const { annotations } = identity.dialect.names;
  const given = specifiedIps(identity);
  return {
    ...(identity.controllerAttaches && { [annotations.controllerManagedAttach]: "true" }),
    // The cloud controller validates and prefers the configured address.
    ...(identity.externalCloud && given.length > 0 && { [annotations.providedNodeIp]: given.join(",") }),
  };
}

/** Configured addresses except 0.0.0.0 and ::, which only select the preferred IP family. */
const specifiedIps = ({ nodeIps = [] }: Pick<NodeIdentity, "nodeIps">): readonly string[] =>
  nodeIps.filter((address) => address !== "0.0.0.0" && address !== "::");

/** Returns the object to register, without conditions. */
export function freshNode(
  identity: NodeIdentity,
  facts: NodeStatusFacts,
): Pick<Node, "metadata" | "spec" | "status"> {
  const { dialect, name, taints, schedulable, providerId } = identity;
  const annotations = nodeAnnotations(identity);
  const allTaints = [
    ...taints,
    ...(schedulable ? [] : [{ key: dialect.names.taints.unschedulable, effect: "NoSchedule" } as Taint]),
    ...(identity.externalCloud
      ? [{ key: dialect.names.taints.uninitialized, value: "true", effect: "NoSchedule" } as Taint]
      : []),
  ];
  return {
    metadata: {
      name,
      labels: nodeLabels(identity, facts),
      ...(Object.keys(annotations).length > 0 && { annotations }),
    } as Node["metadata"],
    spec: {
      ...(providerId && { providerID: providerId }),
      ...(!schedulable && { unschedulable: true }),
      ...(allTaints.length > 0 && { taints: distinct(allTaints) }),
    },
    status: statusParts(identity, facts),
  };
}

const distinct = (taints: readonly Taint[]): Taint[] =>
  taints.filter(
    (taint, i) => taints.findIndex(({ key, effect }) => key === taint.key && effect === taint.effect) === i,
  );

/** Returns the status without conditions. */
export function statusParts(
  identity: Pick<NodeIdentity, "dialect" | "port" | "externalCloud" | "nodeIps">,
  facts: NodeStatusFacts,
): Omit<NodeStatus, "conditions"> {
  const { machine } = facts;
  const { dialect, port } = identity;
  // Without a configured address the cloud controller sets the node's addresses.
  const leavesAddresses = identity.externalCloud && specifiedIps(identity).length === 0;
  const addresses: NodeAddress[] = [
    ...facts.addresses.map((address) => ({ type: "InternalIP", address })),
    { type: "Hostname", address: facts.hostname },
  ];
  const named = (name: string, value: unknown): object => ({ [dialect.spelling.field(name)]: value });
  return {
    capacity: { ...facts.capacity },
    allocatable: { ...facts.allocatable },
    ...(!leavesAddresses && { addresses }),
    daemonEndpoints: named("nodeagentEndpoint", { Port: port }),
    nodeInfo: {
      machineID: machine.machineId,
      systemUUID: machine.systemUuid,
      bootID: machine.bootId,
      kernelVersion: machine.kernelVersion,
      osImage: machine.osImage,
      containerRuntimeVersion: facts.runtimeVersion,
      ...named("nodeagentVersion", facts.agentVersion),
      ...named("orchProxyVersion", facts.agentVersion),
      operatingSystem: "linux",
      architecture: machine.architecture,
    },
    ...(facts.images && { images: facts.images }),
    ...(facts.volumesInUse && { volumesInUse: [...facts.volumesInUse] }),
  };
}

/** Returns a strategic merge patch from the current status to the wanted one; undefined if they are equal. */
export function statusPatch(
  current: Partial<NodeStatus>,
  wanted: Partial<NodeStatus>,
): Record<string, unknown> | undefined {
  const patch: Record<string, unknown> = {};
  for (const key of ["daemonEndpoints", "nodeInfo", "images", "volumesInUse"] as const) {
    if (wanted[key] === undefined || isSame(current[key], wanted[key])) continue;
    // An empty list equals an absent one.
    if (isEmpty(wanted[key]) && isEmpty(current[key])) continue;
    patch[key] = wanted[key];
  }
  for (const key of ["capacity", "allocatable"] as const) {
    if (wanted[key] === undefined || isSame(current[key], wanted[key])) continue;
    const removed = Object.keys(current[key] ?? {}).filter(
      (name) => name.startsWith("hugepages-") && wanted[key]![name] === undefined,
    );
    patch[key] = { ...wanted[key], ...Object.fromEntries(removed.map((name) => [name, null])) };
  }
  // Addresses are merged by type, which may occur twice: the list must be replaced as a whole.
  if (wanted.addresses && !isSame(current.addresses, wanted.addresses))
    patch["addresses"] = [...wanted.addresses, { $patch: "replace" }];
  if (
    wanted.conditions &&
    !isSame(withoutHeartbeatTimes(current.conditions), withoutHeartbeatTimes(wanted.conditions))
  )
    patch["conditions"] = wanted.conditions;
  return Object.keys(patch).length > 0 ? patch : undefined;
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || (Array.isArray(value) && value.length === 0);

const withoutHeartbeatTimes = (conditions: NodeStatus["conditions"]): unknown =>
  (conditions ?? []).map((condition) => ({ ...condition, lastHeartbeatTime: "" }));

/** Reports whether `standing` contains everything in `wanted`; maps may have additional entries. */
function isSame(current: unknown, wanted: unknown): boolean {
  if (typeof wanted !== "object" || wanted === null)
    return (
      current === wanted || (isAmount(current) && isAmount(wanted) && String(current) === String(wanted))
    );
  if (typeof current !== "object" || current === null) return false;
  if (Array.isArray(wanted))
    return (
      Array.isArray(current) &&
      current.length === wanted.length &&
      wanted.every((item, i) => isSame(current[i], item))
    );
  return Object.entries(wanted).every(([key, value]) =>
    isSame((current as Record<string, unknown>)[key], value),
  );
}
const isAmount = (value: unknown): boolean =>
  typeof value === "number" || typeof value === "string" || typeof value === "bigint";
