// Environment variables by which the launchers of `orch envtest` configure the API server.

/** Set if the server is started by a test harness. */
export const envtestVariable = "ORCH_ENVTEST";
/** Set to enable garbage collection and the deletion of namespace content. */
export const controllersVariable = "ORCH_ENVTEST_CONTROLLERS";
