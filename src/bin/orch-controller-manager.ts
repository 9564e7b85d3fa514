// The controller manager program: reads the flags, starts the controllers, and runs until a stop is
// requested.
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { signingKey } from "#authn";
import { type ControllerSettings, defaultSettings, runControllerManager } from "#controllers";
import { clientProgram } from "./control/client-program.ts";
import { controllerChecks } from "./control/controller-checks.ts";
import { type ManagerSettings, managerOptions } from "./control/control-options.ts";
import { workersFrom } from "./control/concurrency.ts";
import { nodeIpamSettings } from "./control/node-ipam-settings.ts";

process.exitCode = await clientProgram(process.argv.slice(2), managerOptions, (values) => {
  const settings = settingsFrom(values);
  return ({ asAccount, ...parts }) =>
    runControllerManager({
      ...parts,
      enabled: [...values.controllers, ...(values.enableGarbageCollector ? [] : ["-garbagecollector"])],
      workers: workersFrom(values),
      onStart: (names) => parts.checks.push(...controllerChecks(names)),
      settings,
      ...(values.useServiceAccountCredentials && { asAccount }),
    });
});

function settingsFrom(values: ManagerSettings): Partial<ControllerSettings> {
  const text = (file: string): string => readFileSync(file, "utf8");
  const { clusterSigningCertFile, clusterSigningKeyFile } = values;
  if ((clusterSigningCertFile === "") !== (clusterSigningKeyFile === ""))
    throw new Error("--cluster-signing-cert-file and --cluster-signing-key-file must be given together");
  const certificate = clusterSigningCertFile === "" ? undefined : text(clusterSigningCertFile);
  return {
    ...(values.rootCaFile !== "" && { rootCa: text(values.rootCaFile) }),
    ...(values.serviceAccountPrivateKeyFile !== "" && {
      serviceAccountKey: signingKey(values.serviceAccountPrivateKeyFile),
    }),
    ...(certificate !== undefined && {
      signing: {
        authority: { certificate, key: text(clusterSigningKeyFile) },
        seconds: values.clusterSigningDuration / 1000,
        authorityExpiry: new X509Certificate(certificate).validToDate.getTime(),
      },
    }),
    ...(values.allocateNodeCidrs && { nodeIpam: nodeIpamSettings(values) }),
    nodeMonitorPeriodMilliseconds: values.nodeMonitorPeriod,
    nodeMonitorGraceMilliseconds: values.nodeMonitorGracePeriod,
    nodeStartupGraceMilliseconds: values.nodeStartupGracePeriod,
    nodeEvictionRate: values.nodeEvictionRate,
    secondaryNodeEvictionRate: values.secondaryNodeEvictionRate,
    largeClusterSizeThreshold: values.largeClusterSizeThreshold,
    unhealthyZoneThreshold: values.unhealthyZoneThreshold,
    claimBinderSyncMilliseconds: values.pvclaimbinderSyncPeriod,
    tokenCleanUpMilliseconds: values.legacyServiceAccountTokenCleanUpPeriod,
    terminatedPodThreshold: values.terminatedPodGcThreshold,
    maxEndpointsPerSlice: values.maxEndpointsPerSlice,
    maxMirroredPerSubset: values.mirroringMaxEndpointsPerSubset,
    autoscaler: {
      ...defaultSettings.autoscaler,
      tolerance: values.horizontalPodAutoscalerTolerance,
      syncMilliseconds: values.horizontalPodAutoscalerSyncPeriod,
      downscaleWindowSeconds: values.horizontalPodAutoscalerDownscaleStabilization / 1000,
      cpuInitializationMilliseconds: values.horizontalPodAutoscalerCpuInitializationPeriod,
      initialReadinessDelayMilliseconds: values.horizontalPodAutoscalerInitialReadinessDelay,
    },
  };
}
