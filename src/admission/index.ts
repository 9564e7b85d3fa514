export { type Actor, type AdmissionPlugin, type Attempt, type Operation } from "./attempt.ts";
export { type AdmissionChain, admissionChain } from "./chain.ts";
export { type NamespaceLookup, namespaceLifecycle } from "./plugins/namespace-lifecycle.ts";
export { defaultTolerationSeconds } from "./plugins/default-toleration-seconds.ts";
export { type PriorityOptions, priorityPlugin } from "./plugins/priority.ts";
export { runtimeClassPlugin } from "./plugins/runtime-class.ts";
export { type ServiceAccountOptions, serviceAccountPlugin } from "./plugins/service-account.ts";
export { taintNodesByCondition } from "./plugins/taint-nodes-by-condition.ts";
