// Records the object or patch of a write for its audit event.
import { deepCopy } from "#base";
import type { ApiObject, Endpoint } from "#registry";
import { encodeJson, yamlToJson } from "#schema";
import type { ApiCall } from "./api-call.ts";

/** Records the object with its defaults, in the endpoint's version. */
export function recordRequest({ audit }: ApiCall, endpoint: Endpoint, hub: ApiObject): void {
  if (!audit) return;
  audit.setObjectMetadata(hub.metadata);
  audit.requestObject(() => encodeJson(endpoint.schema, endpoint.fromHub(deepCopy(hub)) as never));
}

/** Records a patch as it was sent, in JSON. An invalid one is not recorded. */
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
