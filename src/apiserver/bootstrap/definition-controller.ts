// The controller of custom resource definitions, wired to this server.
import { type WebhookExchange, webhookTransport } from "#admission";
import { CustomResourceDefinition } from "#api";
import type { Metrics } from "#base";
import {
  DefinitionController,
  type DefinitionGates,
  type ResolveService,
  webhookConversion,
} from "#extensions";
import type { ServerObjects } from "#registry";
import type { Store } from "#store";
import { definitionMetrics, measuredConversion, ruleMetrics } from "../metrics/extension-metrics.ts";
import type { Caches } from "../storage/caches.ts";

export interface DefinitionStorage {
  readonly store: Store;
  readonly storePrefix: string;
  readonly cached: boolean;
  readonly gates: DefinitionGates;
  readonly expressionRelease: number;
  readonly resolve: ResolveService;
  readonly metrics: Metrics;
  readonly onExchange: (exchange: WebhookExchange) => void;
}

export function definitionController(
  { dialect, clock, writer, onError }: ServerObjects,
  { resources, reflector }: Caches,
  { store, storePrefix, cached, resolve, metrics, onExchange, ...validationOptions }: DefinitionStorage,
): DefinitionController {
  const post = webhookTransport({
    clock,
    userAgent: `${dialect.cli.apiServer}-admission`,
    resolveService: resolve,
    observe: onExchange,
  });
  const measured = measuredConversion(metrics);
  return new DefinitionController({
    definitions: resources.find(({ strategy }) => strategy.hub.kind === CustomResourceDefinition.kind)!,
    dialect,
    clock,
    resources: {
      dialect,
      store,
      storePrefix,
      reflector,
      uncached: !cached,
      ruleObserver: ruleMetrics(metrics),
      ...validationOptions,
      webhook: (definition) => measured(definition, webhookConversion(definition, post, dialect)),
    },
    request: (endpoint, namespace) => writer.request(endpoint, namespace),
    onError,
    documentsChanged: definitionMetrics(metrics),
  });
}
