// Custom resources as part of this server: the controller of definitions, with what it needs.
import { webhookTransport } from "#admission";
import { CustomResourceDefinition } from "#api";
import { DefinitionController, type ResolveService, webhookConversion } from "#extensions";
import type { ServerObjects } from "#registry";
import type { Store } from "#store";
import type { Caches } from "../storage/caches.ts";

export interface DefinitionStorage {
  readonly store: Store;
  readonly storePrefix: string;
  readonly cached: boolean;
  readonly resolve: ResolveService;
}

export function definitionController(
  { dialect, clock, writer, onError }: ServerObjects,
  { resources, reflector }: Caches,
  { store, storePrefix, cached, resolve }: DefinitionStorage,
): DefinitionController {
  const post = webhookTransport({
    clock,
    userAgent: `${dialect.cli.apiServer}-admission`,
    resolveService: resolve,
  });
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
      webhook: (definition) => webhookConversion(definition, post, dialect),
    },
    request: (endpoint, namespace) => writer.request(endpoint, namespace),
    onError,
  });
}
