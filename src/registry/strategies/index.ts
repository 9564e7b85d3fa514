// Every kind that is served, one line each.
import type { Strategy } from "../strategy.ts";
import { configMap } from "./config-map.ts";
import { controllerRevision } from "./controller-revision.ts";
import { cronJob } from "./cron-job.ts";
import { daemonSet } from "./daemon-set.ts";
import { deployment, replicaSet } from "./deployment.ts";
import { podDisruptionBudget } from "./disruption-budget.ts";
import { endpoints } from "./endpoints.ts";
import { event } from "./event.ts";
import { job } from "./job.ts";
import { lease } from "./lease.ts";
import { limitRange } from "./limit-range.ts";
import { namespace } from "./namespace.ts";
import { node } from "./node.ts";
import { pod } from "./pod.ts";
import { priorityClass } from "./priority-class.ts";
import { podTemplate, replicationController } from "./replication-controller.ts";
import { resourceQuota } from "./resource-quota.ts";
import { clusterRoleBinding, roleBinding } from "./role-binding.ts";
import { clusterRole, role } from "./role.ts";
import { runtimeClass } from "./runtime-class.ts";
import { secret } from "./secret.ts";
import { serviceAccount } from "./service-account.ts";
import { service } from "./service.ts";
import { statefulSet } from "./stateful-set.ts";

export const builtInStrategies: readonly Strategy[] = [
  // core
  configMap,
  endpoints,
  event,
  limitRange,
  namespace,
  node,
  pod,
  podTemplate,
  replicationController,
  resourceQuota,
  secret,
  service,
  serviceAccount,
  // apps
  controllerRevision,
  daemonSet,
  deployment,
  replicaSet,
  statefulSet,
  // batch
  cronJob,
  job,
  // coordination
  lease,
  // node
  runtimeClass,
  // policy
  podDisruptionBudget,
  // rbac.authorization
  clusterRole,
  clusterRoleBinding,
  role,
  roleBinding,
  // scheduling
  priorityClass,
];
