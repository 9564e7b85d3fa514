export { type Actor, type AdmissionPlugin, type Attempt, type Operation } from "./attempt.ts";
export { type AdmissionChain, admissionChain } from "./chain.ts";
export { type NamespaceLookup, namespaceLifecycle } from "./plugins/namespace-lifecycle.ts";
