export { type StartOptions, type StartedServer, start } from "./start.ts";
export { type ApiserverSettings, settleFlags } from "./settings-of.ts";
export { apiserverOptions } from "./options/options.ts";
export { versionText } from "./version.ts";
