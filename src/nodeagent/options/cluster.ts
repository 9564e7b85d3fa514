// Settings for networking, registries and the API client, and for node shutdown.

import type { Dialect } from "#dialect";
import {
  above,
  atLeast,
  between,
  bool,
  duration,
  each,
  fileOption,
  int,
  int32,
  ip,
  listOf,
  maybe,
  oneOf,
  option,
  section,
  strings,
  text,
} from "#options";
import { inFile } from "./later.ts";
import { priorityGraces } from "./types.ts";

const uncertainSysctls = ["kernel.shm", "kernel.msg", "kernel.sem", "fs.mqueue.", "net."];
function sysctlProblem(name: string): string | undefined {
  if (!/^[a-z0-9]([-_a-z0-9]*[a-z0-9])?([./][a-z0-9][-_a-z0-9]*[a-z0-9]?)*([./]?\*)?$/.test(name))
    return "must be a sysctl or a pattern that ends in *";
  return uncertainSysctls.some((group) => name.replaceAll("/", ".").startsWith(group))
    ? undefined
    : "must be of the groups kernel.shm*, kernel.msg*, kernel.sem, fs.mqueue.* or net.*, which the kernel keeps apart per pod";
}
const present = (value: string): string | undefined => (value === "" ? "must be an IP address" : undefined);
const orElse = (substitute: number) => (value: number) => (value === 0 ? substitute : value);

export const networkSection = (dialect: Dialect) => {
  const moved = <const C extends string>(config: C) => ({ config, deprecated: inFile(config, dialect) });
  return section("Networking, registry and API client", [
    option({
      flag: "cluster-dns",
      ...moved("clusterDNS"),
      type: listOf(ip),
      check: each(present),
      default: [],
      doc: "Name servers of pods with dnsPolicy ClusterFirst. All must resolve the same names: which one is queried is not fixed.",
    }),
    option({
      flag: "cluster-domain",
      ...moved("clusterDomain"),
      type: text,
      default: "",
      doc: "Domain of the cluster, which containers search in addition to the host's.",
    }),
    option({
      flag: "resolv-conf",
      ...moved("resolvConf"),
      type: text,
      default: "/etc/resolv.conf",
      doc: "Resolver file on which containers' resolver files are based; empty leaves out the host's name servers.",
    }),
    option({
      flag: "hairpin-mode",
      idle: "the network plug-in decides it, as it does in the original since release 1.24",
      ...moved("hairpinMode"),
      zeroIsUnset: true,
      type: oneOf("promiscuous-bridge", "hairpin-veth", "none"),
      default: "promiscuous-bridge",
      doc: "How a pod reaches itself through a service: promiscuous-bridge, hairpin-veth or none.",
    }),
    option({
      flag: "make-iptables-util-chains",
      ...moved("makeIPTablesUtilChains"),
      type: bool,
      default: true,
      idle: "rules of the packet filter are left to the network plug-in and the service proxy",
      doc: "Keep the utility chains of iptables in place.",
    }),
    option({
      flag: "iptables-drop-bit",
      idle: "packets are marked by the service proxy, as in the original since release 1.27",
      ...moved("iptablesDropBit"),
      type: int32,
      default: 15,
      check: between(0, 31),
      doc: "Mark bit of packets to drop, from 0 to 31.",
    }),
    option({
      flag: "iptables-masquerade-bit",
      idle: "packets are marked by the service proxy, as in the original since release 1.27",
      ...moved("iptablesMasqueradeBit"),
      type: int32,
      default: 14,
      check: between(0, 31),
      doc: "Mark bit of packets to masquerade, from 0 to 31; the same as the service proxy's.",
    }),
    option({
      flag: "orch-api-qps",
      ...moved("orchAPIQPS"),
      type: int32,
      default: 50,
      check: atLeast(0),
      fromFlag: orElse(50),
      doc: "Requests per second to the API server, excluding events and heartbeats; 0 means 50. In the file 0 means unlimited.",
    }),
    option({
      flag: "orch-api-burst",
      ...moved("orchAPIBurst"),
      zeroIsUnset: true,
      type: int32,
      default: 100,
      check: atLeast(0),
      fromFlag: orElse(100),
      doc: "Burst of requests to the API server; 0 means 100.",
    }),
    option({
      flag: "orch-api-content-type",
      ...moved("contentType"),
      zeroIsUnset: true,
      type: oneOf(dialect.wire.protobufMediaType, "application/json"),
      default: dialect.wire.protobufMediaType,
      doc: `Media type of the objects sent to the API server: ${dialect.wire.protobufMediaType} or application/json. Responses are in JSON.`,
    }),
    option({
      flag: "event-qps",
      ...moved("eventRecordQPS"),
      type: int32,
      default: 50,
      check: atLeast(0),
      fromFlag: orElse(50),
      doc: "Events per second; 0 means 50. In the file 0 means unlimited.",
    }),
    option({
      flag: "event-burst",
      ...moved("eventBurst"),
      zeroIsUnset: true,
      type: int32,
      default: 100,
      check: atLeast(0),
      fromFlag: orElse(100),
      doc: "Burst of events, within --event-qps; 0 means 100.",
    }),
    option({
      flag: "registry-qps",
      ...moved("registryPullQPS"),
      type: int32,
      default: 5,
      check: atLeast(0),
      doc: "Image pulls per second; 0 means unlimited.",
    }),
    option({
      flag: "registry-burst",
      ...moved("registryBurst"),
      zeroIsUnset: true,
      type: int32,
      default: 10,
      check: atLeast(0),
      doc: "Burst of image pulls, if --registry-qps sets a limit.",
    }),
    option({
      flag: "serialize-image-pulls",
      ...moved("serializeImagePulls"),
      type: bool,
      default: true,
      doc: "Pull one image at a time.",
    }),
    fileOption({
      config: "maxParallelImagePulls",
      type: maybe(int32),
      default: undefined,
      check: (value) => (value !== undefined && value < 1 ? "must be above 0" : undefined),
      doc: "Maximum number of parallel image pulls; unlimited if not set. Not together with serializeImagePulls.",
    }),
    option({
      flag: "max-open-files",
      ...moved("maxOpenFiles"),
      zeroIsUnset: true,
      type: int,
      default: 1_000_000,
      check: atLeast(0),
      doc: "Maximum number of files the agent may have open.",
    }),
    option({
      flag: "node-status-update-frequency",
      ...moved("nodeStatusUpdateFrequency"),
      zeroIsUnset: true,
      type: duration,
      default: 10_000,
      check: above(0),
      doc: "How often the node status is computed. Must match the grace period of the node controller.",
    }),
    fileOption({
      config: "nodeStatusReportFrequency",
      zeroIsUnset: true,
      type: duration,
      default: 300_000,
      check: above(0),
      derive: (look) =>
        look.isSet("nodeStatusUpdateFrequency")
          ? { value: look.value("nodeStatusUpdateFrequency") as number, from: "nodeStatusUpdateFrequency" }
          : undefined,
      doc: "How often an unchanged node status is posted. Follows nodeStatusUpdateFrequency if only that is set.",
    }),
    fileOption({
      config: "nodeLeaseDurationSeconds",
      zeroIsUnset: true,
      type: int32,
      default: 40,
      check: above(0),
      doc: "Duration of the node lease in seconds; it is renewed every 10 s.",
    }),
    option({
      flag: "node-status-max-images",
      ...moved("nodeStatusMaxImages"),
      type: int32,
      default: 50,
      check: atLeast(-1),
      doc: "Maximum number of images in the node status; -1 means all, 0 none.",
    }),
    option({
      flag: "allowed-unsafe-sysctls",
      ...moved("allowedUnsafeSysctls"),
      type: strings,
      default: [],
      check: each(sysctlProblem),
      doc: "Unsafe sysctls that pods may set, or patterns that end in *.",
    }),
  ]);
};

const wholeSeconds = (value: number): string | undefined =>
  value < 0 || (value > 0 && value < 1000) ? "must be 0 or at least 1s" : undefined;

export const shutdownSection = () =>
  section("Shutdown", [
    fileOption({
      config: "shutdownGracePeriod",
      type: duration,
      default: 0,
      check: wholeSeconds,
      gate: "GracefulNodeShutdown",
      doc: "How long a node shutdown is delayed for pods to terminate.",
    }),
    fileOption({
      config: "shutdownGracePeriodCriticalPods",
      type: duration,
      default: 0,
      check: wholeSeconds,
      gate: "GracefulNodeShutdown",
      doc: "The last part of that time, reserved for critical pods; at most the whole.",
    }),
    fileOption({
      config: "shutdownGracePeriodByPodPriority",
      type: priorityGraces,
      default: [],
      gate: "GracefulNodeShutdown",
      doc: "Grace period per priority, each valid up to the next priority; replaces the two settings above.",
    }),
  ]);
