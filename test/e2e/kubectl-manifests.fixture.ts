// Manifests for the tests of kubectl commands.
export const pod = (name: string, more = ""): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: { name: ${name}, labels: { app: ${name} } }\nspec: { ${more}containers: [{ name: web, image: "example.com/web:1", args: [serve] }] }\n`;

const template = (image: string): string =>
  `template: { metadata: { labels: { app: d } }, spec: { containers: [{ name: a, image: "${image}" }] } }`;

export const replicaSet = (revision: number, owner: string): string => `apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: d-${revision}
  labels: { app: d }
  annotations: { deployment.kubernetes.io/revision: "${revision}" }
  ownerReferences: [{ apiVersion: apps/v1, kind: Deployment, name: d, uid: ${owner}, controller: true }]
spec: { selector: { matchLabels: { app: d } }, ${template(`example.com/a:${revision}`)} }
`;

export const event = (namespace: string, about: string, type: string): string => `apiVersion: v1
kind: Event
metadata: { name: ${about}.1 }
involvedObject: { apiVersion: v1, kind: Pod, name: ${about}, namespace: ${namespace} }
reason: Happened
message: it did
type: ${type}
firstTimestamp: "2026-01-01T00:00:00Z"
lastTimestamp: "2026-01-01T00:00:00Z"
count: 1
`;

/** A certificate request of jane, generated once; its private key was discarded. */
export const request =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISk1IRUNBUUF3RHpFTk1Bc0dBMVVFQXd3RWFtRnVaVEJaTUJNR0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSApBMElBQkR6M3pBMFY1MnBpSmpyZUMvek1Ga2c1UHo0MXlJQ2lJeXRrTmtBVTZZbmllMGp4Tm01YlIvU1BhdzVTCjJ2dFErdG0rVHpQd0JHcmszY2tYMXpWMDk5YWdBREFLQmdncWhrak9QUVFEQWdOSUFEQkZBaUFyK2owVmVXb2sKOXlZV3VTSStqa1RnRVl2UVVtNkQ2QzNsUVNuVUl5M254UUloQUtDSDZEMWpWUDZIdUt5ZXh5ZE5CbTN0QWowagp6NExmdVNqUUVad2V4RElsCi0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=";

const metadata = (name: string): string => `metadata: { name: ${name}, labels: { app: d } }`;
export const everyKind = [
  `apiVersion: v1\nkind: ConfigMap\n${metadata("cm")}\ndata: { a: b }`,
  `apiVersion: v1\nkind: Secret\n${metadata("secret")}\nstringData: { a: b }`,
  `apiVersion: v1\nkind: ServiceAccount\n${metadata("account")}`,
  `apiVersion: v1\nkind: Service\n${metadata("service")}\nspec: { ports: [{ port: 80 }], selector: { app: d } }`,
  `apiVersion: v1\nkind: Endpoints\n${metadata("endpoints")}\nsubsets: [{ addresses: [{ ip: 192.0.2.1 }], ports: [{ port: 80 }] }]`,
  `apiVersion: v1\nkind: PersistentVolume\n${metadata("described-volume")}\nspec: { capacity: { storage: 1Gi }, accessModes: [ReadWriteOnce], hostPath: { path: /x } }`,
  `apiVersion: v1\nkind: PersistentVolumeClaim\n${metadata("claim")}\nspec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }`,
  `apiVersion: v1\nkind: LimitRange\n${metadata("range")}\nspec: { limits: [{ type: Container, max: { cpu: "2" }, default: { cpu: "1" } }] }`,
  `apiVersion: v1\nkind: ResourceQuota\n${metadata("quota")}\nspec: { hard: { configmaps: "100" } }`,
  `apiVersion: v1\nkind: ReplicationController\n${metadata("controller")}\nspec: { replicas: 1, selector: { app: d }, ${template("example.com/a:1")} }`,
  `apiVersion: v1\nkind: Pod\n${metadata("pod")}\nspec: { containers: [{ name: c, image: i, env: [{ name: A, value: b }], livenessProbe: { httpGet: { port: 80 } } }] }`,
  `apiVersion: apps/v1\nkind: Deployment\n${metadata("deployment")}\nspec: { selector: { matchLabels: { app: d } }, ${template("example.com/a:1")} }`,
  `apiVersion: apps/v1\nkind: StatefulSet\n${metadata("stateful")}\nspec: { serviceName: service, selector: { matchLabels: { app: d } }, ${template("example.com/a:1")} }`,
  `apiVersion: apps/v1\nkind: DaemonSet\n${metadata("daemon")}\nspec: { selector: { matchLabels: { app: d } }, ${template("example.com/a:1")} }`,
  `apiVersion: batch/v1\nkind: Job\n${metadata("job")}\nspec: { template: { spec: { restartPolicy: Never, containers: [{ name: a, image: i }] } } }`,
  `apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\n${metadata("policy")}\nspec: { podSelector: {}, ingress: [{ from: [{ podSelector: {} }] }] }`,
  `apiVersion: networking.k8s.io/v1\nkind: Ingress\n${metadata("ingress")}\nspec: { defaultBackend: { service: { name: service, port: { number: 80 } } } }`,
  `apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\n${metadata("role")}\nrules: [{ apiGroups: [""], resources: [pods], verbs: [get] }]`,
  `apiVersion: storage.k8s.io/v1\nkind: StorageClass\n${metadata("described-class")}\nprovisioner: example.com/p`,
  `apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n${metadata("described-priority")}\nvalue: 5`,
  `apiVersion: coordination.k8s.io/v1\nkind: Lease\n${metadata("lease")}\nspec: { holderIdentity: me }`,
  `apiVersion: v1\nkind: Node\n${metadata("described-node")}`,
].join("\n---\n");

export const configMap = (
  name: string,
  data: Record<string, string>,
  labels: Record<string, string> = {},
): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: ${JSON.stringify({ name, ...(Object.keys(labels).length > 0 && { labels }) })}\ndata: ${JSON.stringify(data)}\n`;

export const labelledPod = (name: string): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: { name: ${name}, labels: { app: ${name} } }\nspec: { containers: [{ name: web, image: "example.com/web:1", args: [serve] }] }\n`;

export const warningEvent = (
  namespace: string,
  name: string,
  uid: string,
  type = "Warning",
): string => `apiVersion: v1
kind: Event
metadata: { name: ${name}, namespace: ${namespace} }
involvedObject: { apiVersion: v1, kind: Pod, name: ${name.split(".")[0]}, namespace: ${namespace}, uid: "${uid}" }
reason: Unlucky
message: it went wrong
type: ${type}
source: { component: test }
firstTimestamp: "2026-01-01T00:00:00Z"
lastTimestamp: "2026-01-01T00:00:00Z"
count: 1
`;
