// Minimal valid objects of many kinds, by the path of their collection.
import { type Dialect, groupName } from "#dialect";

export function goodObjects(dialect: Dialect): Readonly<Record<string, object>> {
  const at = (group: string, plural: string, version = "v1", namespaced = true): string =>
    `/apis/${groupName(dialect, { group, branded: true })}/${version}${namespaced ? "/namespaces/default" : ""}/${plural}`;
  const core = (plural: string): string => `/api/v1/namespaces/default/${plural}`;
  const pod = {
    serviceAccountName: "a",
    containers: [{ name: "c", image: "i", ports: [{ containerPort: 80 }], env: [{ name: "A", value: "b" }] }],
  };
  const template = { metadata: { labels: { a: "b" } }, spec: pod };
  const selector = { matchLabels: { a: "b" } };
  const rbac = groupName(dialect, { group: "rbac.authorization", branded: true });
  return {
    [core("configmaps")]: { data: { a: "1" } },
    [core("secrets")]: { data: { a: "YQ==" } },
    [core("serviceaccounts")]: {},
    [core("pods")]: { metadata: { finalizers: ["example.com/hold"] }, spec: pod },
    [core("podtemplates")]: { template },
    [core("services")]: { spec: { ports: [{ name: "http", port: 80 }], selector: { a: "b" } } },
    [core("endpoints")]: { subsets: [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }] },
    [core("events")]: {
      involvedObject: { namespace: "default", kind: "Pod", name: "a" },
      reason: "x",
      type: "Normal",
      count: 1,
    },
    [core("limitranges")]: { spec: { limits: [{ type: "Container", max: { cpu: "1" } }] } },
    [core("resourcequotas")]: { spec: { hard: { cpu: "1" } } },
    [core("replicationcontrollers")]: { spec: { selector: { a: "b" }, template } },
    [core("persistentvolumeclaims")]: {
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    },
    "/api/v1/nodes": {},
    "/api/v1/persistentvolumes": {
      spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } },
    },
    "/apis/apps/v1/namespaces/default/deployments": { spec: { selector, template } },
    "/apis/apps/v1/namespaces/default/replicasets": { spec: { selector, template } },
    "/apis/apps/v1/namespaces/default/statefulsets": { spec: { serviceName: "a", selector, template } },
    "/apis/apps/v1/namespaces/default/daemonsets": { spec: { selector, template } },
    "/apis/apps/v1/namespaces/default/controllerrevisions": { revision: 1, data: { a: 1 } },
    "/apis/batch/v1/namespaces/default/jobs": {
      spec: { template: { spec: { ...pod, restartPolicy: "Never" } } },
    },
    "/apis/batch/v1/namespaces/default/cronjobs": {
      spec: {
        schedule: "* * * * *",
        jobTemplate: { spec: { template: { spec: { ...pod, restartPolicy: "Never" } } } },
      },
    },
    "/apis/policy/v1/namespaces/default/poddisruptionbudgets": { spec: { selector, minAvailable: 1 } },
    "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers": {
      spec: { maxReplicas: 2, scaleTargetRef: { kind: "Deployment", name: "a", apiVersion: "apps/v1" } },
    },
    [at("networking", "networkpolicies")]: { spec: { podSelector: {} } },
    [at("networking", "ingresses")]: {
      spec: { defaultBackend: { service: { name: "a", port: { number: 80 } } } },
    },
    [at("networking", "ingressclasses", "v1", false)]: { spec: { controller: "example.com/c" } },
    [at("coordination", "leases")]: { spec: { holderIdentity: "a", leaseDurationSeconds: 10 } },
    [at("rbac.authorization", "roles")]: {
      rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
    },
    [at("rbac.authorization", "clusterroles", "v1", false)]: {
      rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
    },
    [at("rbac.authorization", "rolebindings")]: {
      roleRef: { apiGroup: rbac, kind: "Role", name: "a" },
      subjects: [{ apiGroup: rbac, kind: "User", name: "u" }],
    },
    [at("rbac.authorization", "clusterrolebindings", "v1", false)]: {
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "a" },
    },
    [at("storage", "storageclasses", "v1", false)]: { provisioner: "example.com/p" },
    [at("scheduling", "priorityclasses", "v1", false)]: { value: 5 },
    [at("node", "runtimeclasses", "v1", false)]: { handler: "runc" },
    [at("discovery", "endpointslices")]: {
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.0.0.1"] }],
      ports: [{ port: 80 }],
    },
  };
}
