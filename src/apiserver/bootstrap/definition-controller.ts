// Custom resources as part of this server: the controller of definitions, with what it needs.
import { CustomResourceDefinition } from "#api";
import { serviceUnavailable } from "#base";
import { DefinitionController } from "#extensions";
import type { ServerObjects } from "#registry";
import type { Store } from "#store";
import type { Caches } from "../storage/caches.ts";

export interface DefinitionStorage {
  readonly store: Store;
  readonly storePrefix: string;
  readonly cached: boolean;
}

export function definitionController(
  { dialect, clock, writer, onError }: ServerObjects,
  { resources, reflector }: Caches,
  { store, storePrefix, cached }: DefinitionStorage,
): DefinitionController {
  return new DefinitionController({
    definitions: resources.find(({ strategy }) => strategy.hub === CustomResourceDefinition)!,
    dialect,
    clock,
    resources: {
      dialect,
      store,
      storePrefix,
      reflector,
      uncached: !cached,
      webhook: () => async () => {
        throw serviceUnavailable("conversion webhooks are not served yet");
      },
    },
    request: (endpoint, namespace) => writer.request(endpoint, namespace),
    onError,
  });
}
