// From what a client sent to the stored shape with every default in place.
import { applyDefaults } from "#schema";
import type { WriteRequest } from "./request.ts";
import { writeContext } from "./write-context.ts";
import type { ApiObject } from "./strategy.ts";

/** Converts to the stored shape and fills in defaults. The object is used up. */
export function defaulted(request: WriteRequest, sent: ApiObject): ApiObject {
  const { endpoint } = request;
  applyDefaults(endpoint.schema, sent as never);
  const hub = endpoint.toHub(sent);
  endpoint.resource.strategy.defaults?.(hub, writeContext(request));
  return hub;
}
