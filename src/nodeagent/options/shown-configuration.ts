// The agent's configuration as served by /configz: without empty values, in the order of the upstream
// declaration. A value that differs from being unset is shown even if it is zero or false.
import { join } from "node:path";
import type { Dialect } from "#dialect";
import { configOf } from "#options";
import { type NodeagentSettings, nodeagentOptions } from "./options.ts";

type Shown = Record<string, unknown>;

/** Numbers and booleans for which zero and false equal being unset. */
const plainScalars = new Set([
  "port",
  "readOnlyPort",
  "rotateCertificates",
  "serverTLSBootstrap",
  "registryBurst",
  "eventBurst",
  "enableContentionProfiling",
  "nodeLeaseDurationSeconds",
  "maxPods",
  "runOnce",
  "maxOpenFiles",
  "orchAPIBurst",
  "evictionMaxPodGracePeriod",
  "podsPerCore",
  "protectKernelDefaults",
  "kernelMemcgNotification",
  "splitStream",
]);
/** Shown even if empty. */
const alwaysShown = new Set(["x509", "memorySwap", "resolvConf", "containerRuntimeEndpoint"]);

const order = (
  "enableServer staticPodPath syncFrequency fileCheckFrequency httpCheckFrequency staticPodURL staticPodURLHeader " +
  "address port readOnlyPort tlsCertFile tlsPrivateKeyFile tlsCipherSuites tlsMinVersion rotateCertificates " +
  "serverTLSBootstrap authentication authorization registryPullQPS registryBurst eventRecordQPS eventBurst " +
  "enableDebuggingHandlers enableContentionProfiling healthzPort healthzBindAddress oomScoreAdj clusterDomain " +
  "clusterDNS streamingConnectionIdleTimeout nodeStatusUpdateFrequency nodeStatusReportFrequency " +
  "nodeLeaseDurationSeconds imageMinimumGCAge imageGCHighThresholdPercent imageGCLowThresholdPercent " +
  "volumeStatsAggPeriod nodeagentCgroups systemCgroups cgroupRoot cgroupsPerQOS cgroupDriver cpuManagerPolicy " +
  "cpuManagerPolicyOptions cpuManagerReconcilePeriod memoryManagerPolicy topologyManagerPolicy topologyManagerScope " +
  "topologyManagerPolicyOptions qosReserved runtimeRequestTimeout hairpinMode maxPods podCIDR podPidsLimit " +
  "resolvConf runOnce cpuCFSQuota cpuCFSQuotaPeriod nodeStatusMaxImages maxOpenFiles contentType orchAPIQPS " +
  "orchAPIBurst serializeImagePulls maxParallelImagePulls evictionHard evictionSoft evictionSoftGracePeriod " +
  "evictionPressureTransitionPeriod evictionMaxPodGracePeriod evictionMinimumReclaim podsPerCore " +
  "enableControllerAttachDetach protectKernelDefaults makeIPTablesUtilChains iptablesMasqueradeBit iptablesDropBit " +
  "featureGates failSwapOn memorySwap containerLogMaxSize containerLogMaxFiles " +
  "configMapAndSecretChangeDetectionStrategy systemReserved orchReserved reservedSystemCPUs " +
  "showHiddenMetricsForVersion systemReservedCgroup orchReservedCgroup enforceNodeAllocatable allowedUnsafeSysctls " +
  "volumePluginDir providerID kernelMemcgNotification logging enableSystemLogHandler enableSystemLogQuery " +
  "shutdownGracePeriod shutdownGracePeriodCriticalPods shutdownGracePeriodByPodPriority reservedMemory " +
  "enableProfilingHandler enableDebugFlagsHandler seccompDefault memoryThrottlingFactor registerWithTaints " +
  "registerNode tracing localStorageCapacityIsolation containerRuntimeEndpoint imageServiceEndpoint"
).split(" ");

export function shownConfiguration(dialect: Dialect, settings: NodeagentSettings): Shown {
  const {
    kind: _,
    apiVersion: __,
    ...config
  } = configOf(nodeagentOptions(dialect), {
    ...settings,
    // An endpoint equal to the runtime's was not set explicitly.
    imageServiceEndpoint:
      settings.imageServiceEndpoint === settings.containerRuntimeEndpoint
        ? ""
        : settings.imageServiceEndpoint,
    ...ownCertificate(dialect, settings),
  });
  const { field } = dialect.spelling;
  const omitted = new Set([...plainScalars].map((name) => field(name)));
  const shown = withoutEmpty(config, omitted);
  const known = order.map((name) => field(name)).filter((name) => name in shown);
  return Object.fromEntries(
    [...known, ...Object.keys(shown).filter((name) => !known.includes(name))].map((name) => [
      name,
      shown[name],
    ]),
  );
}

/** Returns the files of the self-signed certificate, if no other is configured. */
function ownCertificate(dialect: Dialect, settings: NodeagentSettings): Partial<NodeagentSettings> {
  if (settings.tlsCertFile !== "" || settings.tlsPrivateKeyFile !== "" || settings.rotateServerCertificates)
    return {};
  const file = (end: string): string => join(settings.certDir, `${dialect.cli.agent}.${end}`);
  return { tlsCertFile: file("crt"), tlsPrivateKeyFile: file("key") };
}

function withoutEmpty(given: Shown, omitted: ReadonlySet<string>): Shown {
  const shown: Shown = {};
  for (const [name, value] of Object.entries(given)) {
    const kept = isMap(value) ? withoutEmpty(value, omitted) : value;
    if (alwaysShown.has(name) || !isEmpty(kept, omitted.has(name))) shown[name] = kept;
  }
  return shown;
}

const isMap = (value: unknown): value is Shown =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function isEmpty(value: unknown, isPlain: boolean): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  if (isMap(value)) return Object.keys(value).length === 0;
  return isPlain && (value === 0 || value === false);
}
