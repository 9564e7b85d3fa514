// Validation across settings of the node agent.

import { totalmem } from "node:os";
import { formatQuantity, parseQuantity, quantityOf, quantityValue } from "#base";
import { type Check, cipherSuiteWarnings } from "#options";
import { collectorEndpoint } from "#tracing";
import { topologyPolicyOptions } from "../managers/policy-options.ts";
import { thresholdValue } from "../node/capacity.ts";
import type { NodeagentSettings } from "./options.ts";

type Run = Check<NodeagentSettings>["run"];
const check = (name: string, run: Run): Check<NodeagentSettings> => ({ name, run });
/** Defines a check for starting the agent, not for writing or reading a configuration file. */
const atStart = (name: string, run: Run): Check<NodeagentSettings> => ({ name, run, startOnly: true });

const bytesOf = (amount: string): number => quantityValue(parseQuantity(amount));
const isMemoryType = (name: string): boolean => name === "memory" || name.startsWith("hugepages-");
const inMemory = (bytes: number): string => formatQuantity(quantityOf(bytes, 0, "BinarySI"));

/** Returns the message of the error that the function throws. */
function problemOf(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

export const nodeagentChecks: readonly Check<NodeagentSettings>[] = [
  atStart("a container runtime is named", ({ containerRuntimeEndpoint: endpoint }, blame) => {
    if (endpoint === "")
      blame(["containerRuntimeEndpoint"], "must be given, such as unix:///run/containerd/containerd.sock");
  }),
  atStart(
    "the client configuration is there, or a way to get one",
    ({ orchconfig, bootstrapOrchconfig }, blame, { isReadable, warn }) => {
      if (bootstrapOrchconfig !== "" && orchconfig === "")
        warn(
          "bootstrapOrchconfig has no effect: the resulting client configuration is written to the file of orchconfig, which is not set",
        );
      if (orchconfig === "" || isReadable(orchconfig)) return;
      // With a client configuration in place, no bootstrap configuration is needed.
      if (bootstrapOrchconfig === "")
        blame(["orchconfig"], `the file ${orchconfig} does not exist or cannot be read`);
    },
  ),
  atStart("webhooks have an API server to ask", (settings, blame) => {
    if (settings.orchconfig !== "") return;
    if (settings.authenticationTokenWebhook)
      blame(
        ["authenticationTokenWebhook", "orchconfig"],
        "webhook authentication needs the API server, and so a client configuration",
      );
    if (settings.authorizationMode === "Webhook")
      blame(
        ["authorizationMode", "orchconfig"],
        "webhook authorization needs the API server, and so a client configuration",
      );
  }),
  check("a certificate and its key come together", ({ tlsCertFile, tlsPrivateKeyFile }, blame) => {
    if ((tlsCertFile === "") !== (tlsPrivateKeyFile === ""))
      blame(["tlsCertFile", "tlsPrivateKeyFile"], "a certificate and its key must be given together");
  }),
  check("running once excludes serving", ({ runonce, enableServer }, blame) => {
    if (runonce && enableServer)
      blame(["runonce", "enableServer"], "cannot be both on; an agent that runs once does not serve");
  }),
  check("a lock can be contended only if there is one", ({ exitOnLockContention, lockFile }, blame) => {
    if (exitOnLockContention && lockFile === "")
      blame(["exitOnLockContention", "lockFile"], "there is no lock file to contend for");
  }),
  check("credential providers have both programs and a configuration", (settings, blame) => {
    if ((settings.imageCredentialProviderBinDir === "") !== (settings.imageCredentialProviderConfig === ""))
      blame(["imageCredentialProviderBinDir", "imageCredentialProviderConfig"], "must be given together");
  }),

  check("enforcement has cgroups to act on", (settings, blame, { dialect }) => {
    const levels = settings.enforceNodeAllocatable;
    if (!settings.cgroupsPerQos && levels.some((level) => level !== "none"))
      blame(
        ["enforceNodeAllocatable", "cgroupsPerQos"],
        "nothing can be enforced without the cgroups per class",
      );
    if (levels.includes("none") && levels.length > 1)
      blame(["enforceNodeAllocatable"], "none excludes all other values");
    if (levels.includes("system-reserved") && settings.systemReservedCgroup === "")
      blame(
        ["systemReservedCgroup", "enforceNodeAllocatable"],
        "must be given when system-reserved is enforced",
      );
    if (levels.includes("orch-reserved") && settings.orchReservedCgroup === "")
      blame(
        ["orchReservedCgroup", "enforceNodeAllocatable"],
        `must be given when ${dialect.spelling.word("orch-reserved")} is enforced`,
      );
  }),
  check("system cgroups have a root", ({ systemCgroups, cgroupRoot }, blame) => {
    if (systemCgroups !== "" && cgroupRoot === "")
      blame(["systemCgroups", "cgroupRoot"], "a cgroup for system processes needs a root cgroup");
  }),
  check("reserved CPUs go without reserved cgroups", (settings, blame) => {
    if (settings.reservedCpus !== "" && settings.systemReservedCgroup !== "")
      blame(["reservedCpus", "systemReservedCgroup"], "cannot be given together");
    if (settings.reservedCpus !== "" && settings.orchReservedCgroup !== "")
      blame(["reservedCpus", "orchReservedCgroup"], "cannot be given together");
  }),
  check("memory is reserved once per node and type", ({ reservedMemory }, blame) => {
    const seen = new Set<string>();
    for (const { numaNode, limits } of reservedMemory) {
      for (const type of Object.keys(limits)) {
        if (seen.has(`${numaNode} ${type}`))
          blame(["reservedMemory"], `NUMA node ${numaNode} has two reservations of ${type}`);
        seen.add(`${numaNode} ${type}`);
      }
    }
  }),
  check("memory reserved per node adds up to the other reservations", (settings, blame) => {
    const { reservedMemory, orchReserved, systemReserved, evictionHard } = settings;
    if (settings.memoryManagerPolicy !== "Static") return;
    if (!reservedMemory.some(({ limits }) => limits["memory"] !== undefined)) return;
    const kept = thresholdValue(evictionHard["memory.available"] ?? "0%", totalmem()) ?? 0;
    const types = new Set([
      ...reservedMemory.flatMap(({ limits }) => Object.keys(limits)),
      ...[orchReserved, systemReserved].flatMap((one) => Object.keys(one).filter(isMemoryType)),
      "memory",
    ]);
    for (const type of types) {
      const sum = (amounts: readonly Readonly<Record<string, string>>[]): number =>
        amounts.reduce((total, one) => total + bytesOf(one[type] ?? "0"), 0);
      const given = sum(reservedMemory.map(({ limits }) => limits));
      const others = sum([orchReserved, systemReserved]) + (type === "memory" ? kept : 0);
      if (given !== others)
        blame(
          ["reservedMemory"],
          `${type} must add up to what is reserved otherwise${type === "memory" ? " plus the hard eviction threshold of memory.available" : ""}: ${inMemory(given)} is not ${inMemory(others)}`,
        );
    }
  }),
  check("pods per core stay within the node's maximum", ({ podsPerCore, maxPods }, _blame, { warn }) => {
    if (podsPerCore > maxPods)
      warn(`podsPerCore ${podsPerCore} is above maxPods ${maxPods}, which is what counts`);
  }),

  check("each soft threshold has a grace period", ({ evictionSoft, evictionSoftGracePeriod }, blame) => {
    for (const signal of Object.keys(evictionSoft)) {
      if (evictionSoftGracePeriod[signal] === undefined)
        blame(["evictionSoft", "evictionSoftGracePeriod"], `${signal} needs a grace period`);
    }
  }),
  check(
    "image collection has room to work in",
    ({ imageGcHighThreshold: high, imageGcLowThreshold: low }, blame) => {
      if (low >= high)
        blame(
          ["imageGcLowThreshold", "imageGcHighThreshold"],
          "the low threshold must be less than the high one",
        );
    },
  ),
  check(
    "images are pulled one at a time or several, not both",
    ({ maxParallelImagePulls: most, serializeImagePulls }, blame) => {
      if (most !== undefined && most > 1 && serializeImagePulls)
        blame(
          ["maxParallelImagePulls", "serializeImagePulls"],
          "images cannot be pulled in parallel while pulls are one at a time",
        );
    },
  ),
  check("packet marks differ", ({ iptablesDropBit, iptablesMasqueradeBit }, blame) => {
    if (iptablesDropBit === iptablesMasqueradeBit)
      blame(["iptablesDropBit", "iptablesMasqueradeBit"], "must differ");
  }),
  // A negative size disables rotation.
  check("a log file has a size", ({ containerLogMaxSize }, blame) => {
    if (parseQuantity(containerLogMaxSize).value === 0n) blame(["containerLogMaxSize"], "must not be zero");
  }),

  check("log queries have a handler", ({ enableSystemLogQuery, enableSystemLogHandler }, blame) => {
    if (enableSystemLogQuery && !enableSystemLogHandler)
      blame(["enableSystemLogQuery", "enableSystemLogHandler"], "the query needs the handler");
  }),
  check("per-file verbosity is for text", ({ vmodule, loggingFormat }, blame) => {
    if (vmodule.length > 0 && loggingFormat !== "text")
      blame(["vmodule", "loggingFormat"], "works with the text format only");
  }),
  check("policy options have their gates", (settings, blame, { enabled }) => {
    if (Object.keys(settings.topologyManagerPolicyOptions).length > 0 && !enabled("TopologyManager"))
      blame(["topologyManagerPolicyOptions", "featureGates"], "needs the feature gate TopologyManager");
    if (Object.keys(settings.cpuManagerPolicyOptions).length > 0 && !enabled("CPUManager"))
      blame(["cpuManagerPolicyOptions", "featureGates"], "needs the feature gate CPUManager");
  }),
  check("options of the topology policy are known", (settings, blame, { enabled }) => {
    const { topologyManagerPolicyOptions: given } = settings;
    const problem = problemOf(() => topologyPolicyOptions(given, enabled));
    if (problem !== undefined) blame(["topologyManagerPolicyOptions"], problem);
  }),
  check("sockets are not aligned within one NUMA node", (settings, blame) => {
    const { cpuManagerPolicyOptions: given, topologyManagerPolicy: policy } = settings;
    if (policy === "single-numa-node" && given["align-by-socket"] === "true")
      blame(
        ["cpuManagerPolicyOptions", "topologyManagerPolicy"],
        "align-by-socket does not go together with single-numa-node",
      );
  }),
  check("spans have a collector's address to go to", ({ tracing }, blame) => {
    const problem = problemOf(() => collectorEndpoint(tracing?.endpoint ?? ""));
    if (problem !== undefined) blame(["tracing"], `tracing.endpoint: ${problem}`);
  }),

  check(
    "critical pods get a part of the shutdown",
    ({ shutdownGracePeriod: whole, shutdownGracePeriodCriticalPods: part }, blame) => {
      // As in the kubelet, the part may equal the whole: other pods have no time then.
      if (part > whole)
        blame(
          ["shutdownGracePeriodCriticalPods", "shutdownGracePeriod"],
          "the part for critical pods must not be more than the whole",
        );
    },
  ),
  check("shutdown is by priority or not", (settings, blame, { enabled }) => {
    const byPriority = settings.shutdownGracePeriodByPodPriority.length > 0;
    if (byPriority && (settings.shutdownGracePeriod > 0 || settings.shutdownGracePeriodCriticalPods > 0))
      blame(["shutdownGracePeriodByPodPriority", "shutdownGracePeriod"], "cannot be given together");
    if (byPriority && !enabled("GracefulNodeShutdownBasedOnPodPriority"))
      blame(
        ["shutdownGracePeriodByPodPriority"],
        "needs the feature gate GracefulNodeShutdownBasedOnPodPriority",
      );
  }),
  check("insecure cipher suites are reported", ({ tlsCipherSuites }, _blame, { warn }) => {
    for (const warning of cipherSuiteWarnings(tlsCipherSuites)) warn(`tlsCipherSuites: ${warning}`);
  }),
];
