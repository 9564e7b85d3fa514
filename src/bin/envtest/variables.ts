// What the launchers of `orch envtest` tell the API server through its environment.

/** It serves a test harness. */
export const envtestVariable = "ORCH_ENVTEST";
/** Owners take their dependents along, and deleted namespaces are emptied. */
export const controllersVariable = "ORCH_ENVTEST_CONTROLLERS";
