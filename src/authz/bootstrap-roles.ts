// The cluster roles every cluster starts with, in the notation of policy-text.

import { type Dialect, componentName } from "#dialect";
import { recordEvents } from "./policy-text.ts";

/** Rules by role name. */
export type RoleLines = Readonly<Record<string, readonly string[]>>;

const workloads = {
  written: "daemonsets,deployments,deployments/rollback,deployments/scale,replicasets,replicasets/scale",
  seen: "daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,replicasets,replicasets/scale,replicasets/status",
};
const reviewTokens = "create authentication tokenreviews";
const reviewAccess = "create authorization subjectaccessreviews";
const requestCertificates = "create,get,list,watch certificates certificatesigningrequests";
const health = "/healthz,/livez,/readyz,/version,/version/";

/** The permissions an agent needs to run pods. The Node authorizer restricts them to the agent's own node. */
export const nodeLines: readonly string[] = [
  reviewTokens,
  "create authorization subjectaccessreviews,localsubjectaccessreviews",
  "read core services",
  "create,get,list,watch core nodes",
  "update,patch core nodes/status",
  "update,patch core nodes",
  "create,update,patch core events",
  "read core pods",
  "create,delete core pods",
  "update,patch core pods/status",
  "create core pods/eviction",
  "read core secrets,configmaps",
  "get core persistentvolumeclaims,persistentvolumes",
  "get core endpoints",
  requestCertificates,
  "get,create,update,patch,delete coordination leases",
  "get storage volumeattachments",
  "create core serviceaccounts/token",
  "get,update,patch core persistentvolumeclaims/status",
  "read storage csidrivers",
  "get,create,update,patch,delete storage csinodes",
  "read node runtimeclasses",
  "DynamicResourceAllocation? get resource resourceclaims",
  "ClusterTrustBundle? read certificates clustertrustbundles",
];

export function clusterRoleLines(dialect: Dialect): RoleLines {
  const { roles, signers } = dialect.names;
  const leads = (component: string): string[] => [
    "create coordination leases",
    `get,update coordination leases =${componentName(dialect, component)}`,
    "create core endpoints",
    `get,update core endpoints =${componentName(dialect, component)}`,
  ];
  return {
    "cluster-admin": ["* * *", "* url *"],
    "system:discovery": [`get url ${health},/openapi,/openapi/*,/api,/api/*,/apis,/apis/*`],
    "system:monitoring": [
      "get url /metrics,/metrics/slis,/livez,/readyz,/healthz,/livez/*,/readyz/*,/healthz/*",
    ],
    "system:basic-user": [
      "create authorization selfsubjectaccessreviews,selfsubjectrulesreviews",
      "APISelfSubjectReview? create authentication selfsubjectreviews",
    ],
    "system:public-info-viewer": [`get url ${health}`],
    "system:aggregate-to-admin": [
      "create authorization localsubjectaccessreviews",
      "all rbac.authorization roles,rolebindings",
    ],
    "system:aggregate-to-edit": [
      "read core pods/attach,pods/proxy,pods/exec,pods/portforward,secrets,services/proxy",
      "impersonate core serviceaccounts",
      "write core pods,pods/attach,pods/proxy,pods/exec,pods/portforward",
      "create core pods/eviction",
      "write core replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,services/proxy,persistentvolumeclaims,configmaps,secrets,events",
      "create core serviceaccounts/token",
      `write apps statefulsets,statefulsets/scale,${workloads.written}`,
      "write autoscaling horizontalpodautoscalers",
      "write batch jobs,cronjobs",
      `write extensions ${workloads.written},ingresses,replicationcontrollers/scale,networkpolicies`,
      "write policy poddisruptionbudgets",
      "write networking networkpolicies,ingresses",
      "all coordination leases",
    ],
    "system:aggregate-to-view": [
      "read core pods,replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,services/status,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,configmaps",
      "read core limitranges,resourcequotas,bindings,events,pods/status,resourcequotas/status,namespaces/status,replicationcontrollers/status,pods/log",
      "read core namespaces",
      "read discovery endpointslices",
      `read apps controllerrevisions,statefulsets,statefulsets/status,statefulsets/scale,${workloads.seen}`,
      "read autoscaling horizontalpodautoscalers,horizontalpodautoscalers/status",
      "read batch jobs,cronjobs,cronjobs/status,jobs/status",
      `read extensions ${workloads.seen},ingresses,ingresses/status,replicationcontrollers/scale,networkpolicies`,
      "read policy poddisruptionbudgets,poddisruptionbudgets/status",
      "read networking networkpolicies,ingresses,ingresses/status",
    ],
    "system:heapster": ["read core events,pods,nodes,namespaces", "read extensions deployments"],
    "system:node": nodeLines,
    "system:node-problem-detector": ["get core nodes", "patch core nodes/status", recordEvents],
    [roles.agentApiAdmin]: [
      "read core nodes",
      "proxy core nodes",
      "* core nodes/proxy,nodes/metrics,nodes/stats,nodes/log",
    ],
    "system:node-bootstrapper": [requestCertificates],
    "system:auth-delegator": [reviewTokens, reviewAccess],
    [roles.aggregator]: ["read core services,endpoints"],
    [roles.controllerManager]: [
      recordEvents,
      ...leads("controller-manager"),
      "create core secrets,serviceaccounts",
      "delete core secrets",
      "get core namespaces,secrets,serviceaccounts,configmaps",
      "update core secrets,serviceaccounts",
      reviewTokens,
      reviewAccess,
      "list,watch * *",
      "create core serviceaccounts/token",
    ],
    [roles.dns]: ["list,watch core endpoints,services"],
    "system:persistent-volume-provisioner": [
      "get,list,watch,create,delete core persistentvolumes",
      "get,list,watch,update core persistentvolumeclaims",
      "read storage storageclasses",
      "watch core events",
      recordEvents,
    ],
    [roles.nodeClientCsr]: ["create certificates certificatesigningrequests/nodeclient"],
    [roles.selfNodeClientCsr]: ["create certificates certificatesigningrequests/selfnodeclient"],
    "system:volume-scheduler": [
      "change core persistentvolumes",
      "read storage storageclasses",
      "change core persistentvolumeclaims",
    ],
    [roles.legacyUnknownApprover]: [`approve certificates signers =${signers.legacyUnknown}`],
    [roles.agentServingApprover]: [`approve certificates signers =${signers.agentServing}`],
    [roles.apiClientApprover]: [`approve certificates signers =${signers.apiClient}`],
    [roles.agentClientApprover]: [`approve certificates signers =${signers.agentClient}`],
    "system:service-account-issuer-discovery": ["get url /.well-known/openid-configuration,/openid/v1/jwks"],
    "system:node-proxier": [
      "list,watch core services,endpoints",
      "read core nodes",
      recordEvents,
      "list,watch discovery endpointslices",
    ],
    [roles.scheduler]: [
      recordEvents,
      ...leads("scheduler"),
      "read core nodes",
      "get,list,watch,delete core pods",
      "create core pods/binding,bindings",
      "patch,update core pods/status",
      "read core services,replicationcontrollers",
      "read apps,extensions replicasets",
      "read apps statefulsets",
      "read policy poddisruptionbudgets",
      "read core persistentvolumeclaims,persistentvolumes",
      reviewTokens,
      reviewAccess,
      "read storage csinodes",
      "read core namespaces",
      "read storage csidrivers",
      "read storage csistoragecapacities",
      "DynamicResourceAllocation? read resource resourceclaims,resourceclasses",
      "DynamicResourceAllocation? change resource resourceclaims/status",
      "DynamicResourceAllocation? all resource podschedulingcontexts",
      "DynamicResourceAllocation? read resource podschedulingcontexts/status",
    ],
    "ClusterTrustBundle? system:cluster-trust-bundle-discovery": ["read certificates clustertrustbundles"],
  };
}
