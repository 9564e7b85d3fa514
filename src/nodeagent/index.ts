export { type CredentialProviderSettings, type CredentialProviders, credentialProvidersFrom, imageMatches, readCredentialProviders } from "./options/credential-providers.ts";
export { type NodeagentSettings, nodeagentOptions } from "./options/options.ts";
export { settleNodeagent } from "./options/settle.ts";
export { writeNodeagentConfig } from "./options/write.ts";
