export { type ClientRequest, type ClientResponse, type Transport, inProcess } from "./transport.ts";
export { type HttpsOptions, Unreachable, https } from "./https.ts";
export {
  type Address,
  type AnyObject,
  type ApiClient,
  type DeleteParameters,
  type ListParameters,
  type ListResult,
  type PatchParameters,
  type PatchType,
  type ResourceClient,
  type ResourceKind,
  type WatchEvent,
  type WatchParameters,
  apiClient,
} from "./client.ts";
export { type Informer, type InformerEvent, type InformerOptions, informer } from "./informer.ts";
