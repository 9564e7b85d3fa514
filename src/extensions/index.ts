export { definitionStrategy } from "./definitions/strategy.ts";
export { DefinitionController, type DefinitionControllerOptions } from "./definitions/controller.ts";
