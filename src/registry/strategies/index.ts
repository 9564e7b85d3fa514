// The strategies of all built-in kinds.
import type { Strategy } from "../strategy.ts";
import { horizontalPodAutoscaler } from "./autoscaler.ts";
import { clusterCidr } from "./cluster-cidr.ts";
import { configMap } from "./config-map.ts";
import { controllerRevision } from "./controller-revision.ts";
import { cronJob } from "./cron-job.ts";
import { csiDriver, csiNode, csiStorageCapacity } from "./csi.ts";
import { daemonSet } from "./daemon-set.ts";
import { deployment, replicaSet } from "./deployment.ts";
import { podDisruptionBudget } from "./disruption-budget.ts";
import { endpointSlice } from "./endpoint-slice.ts";
import { endpoints } from "./endpoints.ts";
import { event } from "./event.ts";
import { flowSchema } from "./flow-schema.ts";
import { ingress, ingressClass } from "./ingress.ts";
import { ipAddress } from "./ip-address.ts";
import { job } from "./job.ts";
import { lease } from "./lease.ts";
import { limitRange } from "./limit-range.ts";
import { namespace } from "./namespace.ts";
import { networkPolicy } from "./network-policy.ts";
import { node } from "./node.ts";
import { persistentVolume } from "./persistent-volume.ts";
import { pod } from "./pod.ts";
import { podSchedulingContext } from "./pod-scheduling-context.ts";
import { priorityClass } from "./priority-class.ts";
import { priorityLevelConfiguration } from "./priority-level.ts";
import { podTemplate, replicationController } from "./replication-controller.ts";
import { resourceQuota } from "./resource-quota.ts";
import { clusterRoleBinding, roleBinding } from "./role-binding.ts";
import { clusterRole, role } from "./role.ts";
import { runtimeClass } from "./runtime-class.ts";
import { secret } from "./secret.ts";
import { serviceAccount } from "./service-account.ts";
import { service } from "./service.ts";
import { certificateSigningRequest } from "./signing-request.ts";
import { statefulSet } from "./stateful-set.ts";
import { storageVersion } from "./storage-version.ts";
import { storageClass } from "./storage-class.ts";
import { resourceClaim, resourceClaimTemplate, resourceClass } from "./resource-claim.ts";
import { clusterTrustBundle } from "./trust-bundle.ts";
import { volumeAttachment } from "./volume-attachment.ts";
import { persistentVolumeClaim } from "./volume-claim.ts";
import { validatingAdmissionPolicy, validatingAdmissionPolicyBinding } from "./admission-policy.ts";
import { mutatingWebhookConfiguration, validatingWebhookConfiguration } from "./webhook-configuration.ts";

export const builtInStrategies: readonly Strategy[] = [
  // core
  configMap,
  endpoints,
  event,
  limitRange,
  namespace,
  persistentVolume,
  persistentVolumeClaim,
  node,
  pod,
  podTemplate,
  replicationController,
  resourceQuota,
  secret,
  service,
  serviceAccount,
  // admissionregistration
  mutatingWebhookConfiguration,
  validatingWebhookConfiguration,
  validatingAdmissionPolicy,
  validatingAdmissionPolicyBinding,
  // apps
  controllerRevision,
  daemonSet,
  deployment,
  replicaSet,
  statefulSet,
  // autoscaling
  horizontalPodAutoscaler,
  // batch
  cronJob,
  job,
  // certificates
  certificateSigningRequest,
  clusterTrustBundle,
  // coordination
  lease,
  // discovery
  endpointSlice,
  // flowcontrol.apiserver
  flowSchema,
  priorityLevelConfiguration,
  // internal.apiserver
  storageVersion,
  // networking
  clusterCidr,
  ingress,
  ingressClass,
  ipAddress,
  networkPolicy,
  // node
  runtimeClass,
  // policy
  podDisruptionBudget,
  // rbac.authorization
  clusterRole,
  clusterRoleBinding,
  role,
  roleBinding,
  // resource
  podSchedulingContext,
  resourceClaim,
  resourceClaimTemplate,
  resourceClass,
  // scheduling
  priorityClass,
  // storage
  csiDriver,
  csiNode,
  csiStorageCapacity,
  storageClass,
  volumeAttachment,
];
