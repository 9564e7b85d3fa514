// Start-up work for custom resources and aggregation, under the names by which operators wait for it.
import type { Dialect } from "#dialect";
import type { HealthCheck } from "./health.ts";

export interface ExtensionState {
  /** Whether all definitions that were there at the start are known. */
  definitionsLoaded(): boolean;
  /** Whether every version that this server has is registered. */
  servicesRegistered(): boolean;
}

export function extensionChecks({ cli }: Dialect, state: ExtensionState): readonly HealthCheck[] {
  const aggregator = cli.apiServer.replace(/apiserver$/, "aggregator");
  const definitions = [
    "start-apiextensions-informers",
    "start-apiextensions-controllers",
    "crd-informer-synced",
  ];
  const services = [
    "aggregator-reload-proxy-client-cert",
    `start-${aggregator}-informers`,
    "apiservice-registration-controller",
    "apiservice-status-available-controller",
    `${cli.apiServer}-autoregistration`,
    "apiservice-openapi-controller",
    "apiservice-openapiv3-controller",
    "apiservice-discovery-controller",
  ];
  const loaded = (): void => failUnless(state.definitionsLoaded(), "definitions are not loaded yet");
  const registered = (): void =>
    failUnless(state.servicesRegistered(), "API services are not registered yet");
  return [
    ...definitions.map((name) => ({ name: `poststarthook/${name}`, check: loaded })),
    ...services.map((name) => ({ name: `poststarthook/${name}`, check: registered })),
    { name: "autoregister-completion", check: registered },
  ];
}

function failUnless(holds: boolean, message: string): void {
  if (!holds) throw new Error(message);
}
