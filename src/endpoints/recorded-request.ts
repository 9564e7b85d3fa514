// What is noted for the audit event of a write: the object or the patch that was sent.
import { deepCopy } from "#base";
import type { ApiObject, Endpoint } from "#registry";
import { encodeJson, yamlToJson } from "#schema";
import type { ApiCall } from "./api-call.ts";

/** The object with its defaults, in the endpoint's version. */
export function recordRequest({ audit }: ApiCall, endpoint: Endpoint, hub: ApiObject): void {
  if (!audit) return;
  audit.named(hub.metadata);
  audit.requestObject(() => encodeJson(endpoint.schema, endpoint.fromHub(deepCopy(hub)) as never));
}

/** A patch as it was sent, in JSON. One that cannot be read is not noted. */
export function recordPatch({ audit }: ApiCall, body: Uint8Array): void {
  if (!audit?.wantsRequest) return;
  const json = patchText(body);
  if (json !== undefined) audit.requestObject(() => json);
}

function patchText(body: Uint8Array): string | undefined {
  const text = Buffer.from(body).toString();
  try {
    JSON.parse(text);
    return text;
  } catch {
    try {
      return yamlToJson(body);
    } catch {
      return undefined;
    }
  }
}
