export { controllerGates } from "./acting-gates.ts";
export {
  type ControllerManagerOptions,
  controllerNames,
  isEnabled,
  runControllerManager,
} from "./controller-manager.ts";
export { type ControllerSettings, defaultSettings } from "./settings.ts";
export { type LocalPathSettings, ensureLocalPathClass, localPathProvisioner } from "./storage/local-path.ts";
export { servingApprovalController } from "./certificates/serving-approval.ts";
export { type NodeIpamSettings, defaultNodeMaskSizes } from "./node-ipam.ts";
