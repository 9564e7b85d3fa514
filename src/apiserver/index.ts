export { type StartOptions, type StartedServer, start } from "./server.ts";
export { type ApiserverSettings, settleApiserver, settleFlags } from "./options/settings.ts";
export { apiserverOptions } from "./options/options.ts";
export {
  type Caller,
  type LibraryStore,
  type RunningServer,
  type ServerOptions,
  startServer,
} from "./library.ts";
export type { Kit, Snapshot } from "./library/kit.ts";
export { ApiError, type VirtualClock, virtualClock } from "#base";
export { type ApiClient, apiClient, informer, isWatch, kinds, writeClientConfig } from "#client";
export { fileProblems } from "./serving/file-problems.ts";
