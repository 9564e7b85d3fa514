export { type Identity, type TestAuthority, testAuthority } from "./certificates.ts";
export { type Answer, type ApiserverOptions, type DialectName, type RunningApiserver, startApiserver } from "./apiserver.ts";
export { freePort } from "./free-port.ts";
export { golden } from "./golden.ts";
export { type Following, follow, kubectl, type KubectlOptions, type KubectlResult } from "./kubectl.ts";
export { needs, programPath } from "./needs.ts";
export { type EtcdCluster, type EtcdClusterOptions, type EtcdMember, startEtcd } from "./etcd.ts";
export { type Containerd, needsContainerd, startContainerd } from "./containerd.ts";
export { type ImagePlan, type Registry, startRegistry } from "./registry.ts";
