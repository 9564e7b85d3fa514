export {
  type ControllerManagerOptions,
  controllerNames,
  isEnabled,
  runControllerManager,
} from "./controller-manager.ts";
export { type ControllerSettings, defaultSettings } from "./settings.ts";
