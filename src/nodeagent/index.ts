export {
  type CredentialProviderSettings,
  type CredentialProviders,
  credentialProvidersFrom,
  readCredentialProviders,
} from "./options/credential-providers.ts";
export { type NodeagentSettings, nodeagentOptions } from "./options/options.ts";
export { settleNodeagent } from "./options/settle.ts";
export { writeNodeagentConfig } from "./options/write.ts";
export { type Agent, type AgentOptions, startAgent } from "./agent.ts";
export { ownerOf, ownership } from "./containers/owner.ts";
export { runtimeLabelNames } from "./containers/runtime-labels.ts";
export { makeCgroupRoot } from "./resources/cgroup-root.ts";
export { podUidsBelow } from "./sync/pod-files.ts";
export { csiNodeService } from "./csi/messages.ts";
export { devicePlugin } from "./devices/messages.ts";
export { registration as pluginRegistration } from "./plugins/registration-messages.ts";
export { ListResponse as PodResourcesList } from "./pod-resources/messages.ts";
export { type DbusMessage, decodeMessage as decodeDbusMessage } from "./shutdown/dbus-message.ts";
