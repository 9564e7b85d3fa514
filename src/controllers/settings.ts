// What an operator can set about controllers, with the defaults of the original.

import type { TokenKey } from "#authn";
import { type AutoscalerSettings, defaultAutoscalerSettings } from "./autoscaling/metric-sources.ts";
import type { SigningSettings } from "./certificates/signing.ts";
import type { NodeIpamSettings } from "./node-ipam.ts";
import type { NodeEvictionSettings } from "./node-evictions.ts";
import type { LocalPathSettings } from "./storage/local-path.ts";

export interface ControllerSettings extends NodeEvictionSettings {
  /** Where volumes of this node's own disk are made; without it there are none. */
  readonly localPath?: LocalPathSettings;
  /** Signs tokens that are kept in secrets; without it there are none. */
  readonly serviceAccountKey?: TokenKey;
  /** The authority that signs certificate requests; without it none are signed. */
  readonly signing?: SigningSettings;
  /** The authorities of the API server's certificate, as PEM; without them no namespace gets them. */
  readonly rootCa?: string;
  readonly autoscaler: AutoscalerSettings;
  /** The ranges that nodes get theirs from; without them they get none. */
  readonly nodeIpam?: NodeIpamSettings;
  readonly nodeMonitorPeriodMilliseconds: number;
  readonly nodeMonitorGraceMilliseconds: number;
  readonly nodeStartupGraceMilliseconds: number;
  /** How often claims that wait are looked at again. */
  readonly claimBinderSyncMilliseconds: number;
  /** Finished pods beyond so many are deleted, the oldest first; 0 keeps them all. */
  readonly terminatedPodThreshold: number;
  readonly mostEndpointsPerSlice: number;
  readonly mostMirroredPerSubset: number;
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
  mostEndpointsPerSlice: 100,
  mostMirroredPerSubset: 1000,
};
