// Conversion of a client's object to the stored version, with all defaults applied.
import { applyDefaults } from "#schema";
import type { WriteRequest } from "./request.ts";
import { writeContext } from "./write-context.ts";
import type { ApiObject } from "./strategy.ts";

/** Converts a client's object to the stored version and applies defaults. The object is modified. */
export function defaulted(request: WriteRequest, sent: ApiObject): ApiObject {
  request.endpoint.schema.more.open?.dropNulls(sent as unknown as Record<string, unknown>);
  return defaultedMerge(request, sent);
}

/** Same as {@link defaulted} for the result of an apply, whose nulls are validated with the rest. */
export function defaultedMerge(request: WriteRequest, merged: ApiObject): ApiObject {
  const { endpoint } = request;
  applyDefaults(endpoint.schema, merged as never);
  const hub = endpoint.toHub(merged);
  endpoint.resource.strategy.defaults?.(hub, writeContext(request));
  return hub;
}
