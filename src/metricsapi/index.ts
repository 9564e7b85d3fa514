export { type MetricsServerOptions, runMetricsServer } from "./serve.ts";
export { unregisterMetricsApi } from "./register.ts";
