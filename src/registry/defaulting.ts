// From what a client sent to the stored shape with every default in place.
import { applyDefaults } from "#schema";
import type { WriteRequest } from "./request.ts";
import { writeContext } from "./write-context.ts";
import type { ApiObject } from "./strategy.ts";

/** Converts what was sent to the stored shape and fills in defaults. The object is used up. */
export function defaulted(request: WriteRequest, sent: ApiObject): ApiObject {
  request.endpoint.schema.more.open?.dropNulls(sent as unknown as Record<string, unknown>);
  return defaultedMerge(request, sent);
}

/** The same for what an apply made: its nulls are judged with the rest. */
export function defaultedMerge(request: WriteRequest, merged: ApiObject): ApiObject {
  const { endpoint } = request;
  applyDefaults(endpoint.schema, merged as never);
  const hub = endpoint.toHub(merged);
  endpoint.resource.strategy.defaults?.(hub, writeContext(request));
  return hub;
}
