// Named types that several declarations share. The name appears in decoding errors.
import { apiPackage, list, map, quantity, string } from "#schema";
import { apps, authentication, autoscalingV2, core, meta } from "./packages.ts";

export const UID = apiPackage({ package: "apimachinery.pkg.types" }).named("UID", string);
/**
 * True, False or Unknown. The core group and the metadata group each have one, and errors show both as
 * `v1.ConditionStatus`.
 */
export const ConditionStatus = meta.named("ConditionStatus", string);
export const StatusReason = meta.named("StatusReason", string);

export const ResourceName = core.named("ResourceName", string);
export const ResourceList = core.named("ResourceList", map(quantity));
export const ResourceQuotaScope = core.named("ResourceQuotaScope", string);
export const Protocol = core.named("Protocol", string);
export const Capability = core.named("Capability", string);
export const TaintEffect = core.named("TaintEffect", string);
export const PreemptionPolicy = core.named("PreemptionPolicy", string);
export const NodeInclusionPolicy = core.named("NodeInclusionPolicy", string);
export const PodConditionType = core.named("PodConditionType", string);
export const UniqueVolumeName = core.named("UniqueVolumeName", string);
export const PersistentVolumeMode = core.named("PersistentVolumeMode", string);
export const PersistentVolumeAccessMode = core.named("PersistentVolumeAccessMode", string);
export const PersistentVolumeReclaimPolicy = core.named("PersistentVolumeReclaimPolicy", string);

export const PersistentVolumeClaimRetentionPolicyType = apps.named(
  "PersistentVolumeClaimRetentionPolicyType",
  string,
);
/** Of authentication, authorization and certificates, all in `v1`. */
export const ExtraValue = authentication.named("ExtraValue", list(string));
export const MetricSourceType = autoscalingV2.named("MetricSourceType", string);
