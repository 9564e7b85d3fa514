export { type Identity, type TestAuthority, testAuthority } from "./certificates.ts";
export { type Answer, type ApiserverOptions, type RunningApiserver, startApiserver } from "./apiserver.ts";
export { type HollowNodes, type HollowNodesOptions, hollowNodes } from "./hollow-nodes.ts";
export { freePort } from "./free-port.ts";
export { golden } from "./golden.ts";
export { processorMilliseconds } from "./processor-time.ts";
export { endSlices } from "./slices.ts";
export { eventually, until } from "./until.ts";
export {
  type Following,
  follow,
  kubectl,
  type KubectlOptions,
  kubectlProgram,
  type KubectlResult,
} from "./kubectl.ts";
export { needs, programPath } from "./needs.ts";
export { type EtcdCluster, type EtcdClusterOptions, type EtcdMember, startEtcd } from "./etcd.ts";
export { type Containerd, needsContainerd, startContainerd } from "./containerd.ts";
export { type ImagePlan, type Registry, startRegistry } from "./registry.ts";
export {
  type Between,
  type Cluster,
  type ClusterOptions,
  needsCluster,
  type RunningAgent,
  startCluster,
} from "./cluster.ts";
export { type LoginManager, loginManager } from "./login-manager.ts";
export { type AnnouncedPlugin, type NodePlugin, announcePlugin } from "./node-plugin.ts";
export { type ListedPod, listPodResources } from "./pod-resources.ts";
export { writeImageArchive } from "./image-archive.ts";
export { programCommand } from "./program.ts";
export { killedForMemory } from "./out-of-memory.ts";
export { endsWhenTold, type PodHome, podHome, saidWhole, type SpecPart } from "./pods.ts";
export { type CallParts, apiCall, pending, turn, memorySink } from "./api-call.ts";
export { type Issuer, startIssuer } from "./issuer.ts";
export { type IdentityProvider, startIdentityProvider } from "./identity-provider.ts";
