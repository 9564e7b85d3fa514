export type { Convert } from "./custom/conversion.ts";
export { type PostConversion, webhookConversion } from "./custom/webhook-conversion.ts";
export type { RuleObserver } from "./structural/rules.ts";
export type { DefinitionGates } from "./definitions/disabled-fields.ts";
export { definitionStrategy } from "./definitions/strategy.ts";
export { DefinitionController, type DefinitionControllerOptions } from "./definitions/controller.ts";
export {
  AggregationController,
  type AggregationOptions,
  type LocalVersion,
} from "./aggregation/controller.ts";
export type { AggregationObserver } from "./aggregation/observer.ts";
export { type ClientPair } from "./aggregation/backend.ts";
export { type ResolveService, serviceResolver } from "./aggregation/resolve-service.ts";
export { apiServiceStrategy } from "./aggregation/strategy.ts";
