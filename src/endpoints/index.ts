export { ApiCall } from "./api-call.ts";
export {
  type Catalog,
  type CustomEndpoints,
  type RemoteDescription,
  type RemoteVersion,
  type RemoteVersions,
  type VirtualGroup,
  type VirtualResource,
  catalog,
  compareVersions,
  dynamicCatalog,
  isServed,
  servesVersion,
} from "./catalog.ts";
export { type Priorities, builtInPriorities, customPriorities } from "./priorities.ts";
export {
  UnfitForm,
  bodyMedia,
  contentType,
  everyForm,
  justObjects,
  negotiate,
  withoutTable,
  type Choice,
} from "./represent/negotiate.ts";
export { checkRoute, listMedia, objectMedia } from "./represent/route-media.ts";
export { type WatchObserver, type WatchedKind, shownOptions } from "./context.ts";
export { checkName } from "./identity.ts";
export { partialMetadata } from "./represent/table.ts";
export { viewBody } from "./represent/view.ts";
export { notServed, router, type PathHandler } from "./router.ts";
export { protocolOf, responding } from "./operation-span.ts";
export { integer, listParameters, type WriteOptions, unknownCommonField, writeOptions } from "./options.ts";
export { isTrue, type Target } from "./target.ts";
export { acceptWebSocket, isHandshake, isWebSocket, closeSocket, webSocketReply } from "./web-socket.ts";
export { decodeObject, applyFieldValidation, readAnyBody, readBody } from "./body.ts";
export { maxFields } from "./body-values.ts";
export { statusObject, statusReply } from "./represent/status.ts";
export { runtimeConfigProblems, switchedOn, versionsSwitchedOn } from "./runtime-config.ts";
export { splicedLongList } from "./represent/long-list.ts";
export { discovery } from "./discovery/discovery.ts";
export { openApi } from "./openapi/handler.ts";
export { servedApis } from "./served-apis.ts";
export { recordedForm } from "./represent/recorded-form.ts";
