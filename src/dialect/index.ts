export {
  type Dialect,
  type DialectName,
  type Spelling,
  commandLineClient,
  commandLineManagers,
  containerdNamespace,
  pauseImage,
  streamProtocols,
} from "./dialect.ts";
export {
  type GroupName,
  type GroupVersionName,
  apiVersionOf,
  componentAgent,
  componentName,
  groupFrom,
  groupName,
  labelName,
} from "./group.ts";
export { type WellKnownNames } from "./well-known.ts";
export { chosenDialect, dialectArgument, dialectNamed, dialects, originalDialect } from "./dialects.ts";
export { clientProtocol, runtimeProtocols } from "./stream-protocols.ts";
export { foldedAnnotation, timelineGroup } from "./own-groups.ts";
