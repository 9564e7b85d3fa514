// Controller settings of an operator, with the defaults of the original.

import type { TokenKey } from "#authn";
import { type AutoscalerSettings, defaultAutoscalerSettings } from "./autoscaling/metric-sources.ts";
import type { SigningSettings } from "./certificates/signing.ts";
import type { NodeIpamSettings } from "./node-ipam.ts";
import type { NodeEvictionSettings } from "./node-evictions.ts";
import type { LocalPathSettings } from "./storage/local-path.ts";

export interface ControllerSettings extends NodeEvictionSettings {
  /** Enables the local path provisioner and sets its folder. */
  readonly localPath?: LocalPathSettings;
  /** Key that signs token secrets; without it none are filled in. */
  readonly serviceAccountKey?: TokenKey;
  /** Authority that signs certificate requests; without it none are signed. */
  readonly signing?: SigningSettings;
  /** CA certificates of the API server as PEM; without them none are published to namespaces. */
  readonly rootCa?: string;
  readonly autoscaler: AutoscalerSettings;
  /** Cluster CIDRs to allocate node CIDRs from; without it none are allocated. */
  readonly nodeIpam?: NodeIpamSettings;
  readonly nodeMonitorPeriodMilliseconds: number;
  readonly nodeMonitorGraceMilliseconds: number;
  readonly nodeStartupGraceMilliseconds: number;
  /** Resync interval of unbound claims. */
  readonly claimBinderSyncMilliseconds: number;
  /** Number of finished pods beyond which the oldest are deleted; 0 keeps all of them. */
  readonly terminatedPodThreshold: number;
  /** How long a legacy service account token must be unused before it is marked, and before it is deleted. */
  readonly tokenCleanUpMilliseconds: number;
  readonly maxEndpointsPerSlice: number;
  readonly maxMirroredPerSubset: number;
}

export const defaultSettings: ControllerSettings = {
  autoscaler: defaultAutoscalerSettings,
  nodeMonitorPeriodMilliseconds: 5000,
  nodeMonitorGraceMilliseconds: 40_000,
  nodeStartupGraceMilliseconds: 60_000,
  nodeEvictionRate: 0.1,
  secondaryNodeEvictionRate: 0.01,
  largeClusterSizeThreshold: 50,
  unhealthyZoneThreshold: 0.55,
  claimBinderSyncMilliseconds: 15_000,
  terminatedPodThreshold: 12_500,
  tokenCleanUpMilliseconds: 365 * 86_400_000,
  maxEndpointsPerSlice: 100,
  maxMirroredPerSubset: 1000,
};
