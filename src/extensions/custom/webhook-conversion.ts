// Conversion by a webhook: objects are sent in a review and returned in the desired version. A webhook may
// change everything except the kind and, in metadata, only labels and annotations.
import {
  ConversionReview,
  type CustomResourceDefinition,
  type ObjectMeta,
  type WebhookConversion,
} from "#api";
import { type WebhookReply, reviewDocument } from "#admission";
import { ApiError, fieldErrorText, goType, jsonKind, newUuid } from "#base";
import { type Dialect, groupName } from "#dialect";
import { type ApiObject, validateAnnotations, validateLabels } from "#registry";
import { DecodeError, fromJsonValue, stringifyJson } from "#schema";
import { isObject } from "../structural/structural.ts";
import type { Convert } from "./conversion.ts";

type ClientConfig = NonNullable<WebhookConversion["clientConfig"]>;
export type ServiceReference = NonNullable<ClientConfig["service"]>;

/** Posts a review to the webhook; throws if there is no response. */
export type PostConversion = (
  client: ClientConfig,
  body: Record<string, unknown>,
  limitMilliseconds: number,
) => Promise<WebhookReply>;

const limitMilliseconds = 30_000;
const versions = ["v1", "v1beta1"];

export function webhookConversion(
  { spec }: CustomResourceDefinition,
  post: PostConversion,
  dialect: Dialect,
): Convert {
  const { webhook } = spec.conversion ?? {};
  const version = webhook?.conversionReviewVersions?.find((each) => versions.includes(each));
  const reviewVersion = `${groupName(dialect, ConversionReview.kind)}/${version ?? ""}`;
  return async (objects, to) => {
    const sent = objects.filter(({ apiVersion }) => apiVersion !== to);
    if (sent.length === 0) return objects;
    const from = `${sent[0]!.apiVersion}, Kind=${sent[0]!.kind}`;
    const webhookError = (what: string): ApiError =>
      new ApiError(500, "", `conversion webhook for ${from} ${what}`);
    const failed = (why: string): ApiError => webhookError(`failed: ${why}`);
    const client = webhook?.clientConfig;
    if (!version || !client) throw failed("no supported conversion review versions");
    const uid = newUuid();
    const reply = await post(
      client,
      {
        kind: "ConversionReview",
        apiVersion: reviewVersion,
        request: { uid, desiredAPIVersion: to, objects: sent },
        response: { uid: "", convertedObjects: null, result: { metadata: {} } },
      },
      limitMilliseconds,
    ).catch((error: unknown) => {
      throw failed((error as Error).message);
    });
    const converted = convertedIn(reply, { uid, version, reviewVersion, dialect }, failed);
    if (converted.length !== sent.length)
      throw webhookError(`returned ${converted.length} objects, expected ${sent.length}`);
    const restoredObjects = sent.map((object, i) =>
      restored(object, converted[i], to, (what) => webhookError(`returned ${what}`)),
    );
    return objects.map((object) => (object.apiVersion === to ? object : restoredObjects.shift()!));
  };
}

interface Expected {
  readonly uid: string;
  readonly version: string;
  readonly reviewVersion: string;
  readonly dialect: Dialect;
}

type Fail = (why: string) => ApiError;

function convertedIn(
  reply: WebhookReply,
  { uid, version, reviewVersion, dialect }: Expected,
  failed: Fail,
): readonly unknown[] {
  let review: Record<string, unknown>;
  try {
    const scheme = `${dialect.wire.groupSuffix}/apiserver/pkg/util/webhook/client.go:69`;
    const reviewOptions = { apiVersion: reviewVersion, kind: "ConversionReview", scheme, objects: true };
    review = reviewDocument(reply, reviewOptions);
  } catch (error) {
    throw failed((error as Error).message);
  }
  const { kind, apiVersion, response } = review;
  refuseWrongTypes(response, failed);
  // The v1beta1 review does not check the response's type and uid.
  const strict = version === "v1";
  if (strict && (!kind || !apiVersion))
    throw failed(
      `expected webhook response of ${reviewVersion}, Kind=ConversionReview, got ${String(apiVersion ?? "/")}, Kind=${String(kind ?? "")}`,
    );
  if (!isObject(response)) throw failed("no response provided");
  if (strict && response["uid"] !== uid)
    throw failed(`expected response.uid="${uid}", got "${String(response["uid"] ?? "")}"`);
  const result = isObject(response["result"]) ? response["result"] : {};
  if (result["status"] !== "Success")
    throw failed(
      typeof result["message"] === "string" && result["message"] !== ""
        ? result["message"]
        : `response.result.status was '${String(result["status"] ?? "")}', not 'Success'`,
    );
  return Array.isArray(response["convertedObjects"]) ? response["convertedObjects"] : [];
}

/** Rejects a response with values of the wrong type. */
function refuseWrongTypes(response: unknown, failed: Fail): void {
  if (response === undefined || response === null) return;
  if (isObject(response)) {
    const { uid = "", convertedObjects = [], result = {} } = response;
    const plain = isObject(result) && Object.values(result).every((value) => typeof value === "string");
    if (typeof uid === "string" && Array.isArray(convertedObjects) && plain) return;
  }
  try {
    fromJsonValue(ConversionReview, { response });
  } catch (error) {
    throw error instanceof DecodeError ? failed(error.message) : error;
  }
}

/** A value that is not an API object is reported without mentioning the webhook, as in kube-apiserver. */
function checkDocument(converted: unknown): asserts converted is Record<string, unknown> {
  const refused = (why: string): ApiError => new ApiError(500, "", why);
  if (converted === null || converted === undefined) throw refused("unexpected end of JSON input");
  if (!isObject(converted))
    throw refused(
      `json: cannot unmarshal ${jsonKind(converted)} into Go value of type map[string]interface {}`,
    );
  if (!converted["kind"]) throw refused(`Object 'Kind' is missing in '${stringifyJson(converted)}'`);
}

/**
 * Returns the converted object with its original metadata, except for the webhook's labels and annotations.
 */
function restored(original: ApiObject, converted: unknown, to: string, wrong: Fail): ApiObject {
  checkDocument(converted);
  if (converted["apiVersion"] !== to)
    throw wrong(
      `invalid object at index 0: invalid groupVersion (expected ${to}, received ${String(converted["apiVersion"] ?? "")})`,
    );
  if (converted["kind"] !== original.kind)
    throw wrong(
      `invalid object at index 0: invalid kind (expected ${original.kind}, received ${String(converted["kind"] ?? "")})`,
    );
  const metadataGiven = converted["metadata"];
  const convertedMetadata = isObject(metadataGiven) ? metadataGiven : {};
  for (const [key, word] of [["name"], ["namespace"], ["uid", "UID"]] as const)
    if ((convertedMetadata[key] ?? "") !== (original.metadata[key] ?? ""))
      throw wrong(
        `invalid object: must have the same ${word ?? key}: ${original.metadata[key] ?? ""} != ${String(convertedMetadata[key] ?? "")}`,
      );
  if (metadataGiven === undefined) throw wrong("invalid metadata: missing metadata in converted object");
  if (!isObject(metadataGiven))
    throw wrong(`invalid metadata: it is ${goType(metadataGiven)} in converted object`);
  const { labels: _labels, annotations: _annotations, ...kept } = original.metadata;
  const metadata: ObjectMeta = { ...kept };
  for (const key of ["labels", "annotations"] as const) {
    const texts = metadataGiven[key] ?? undefined;
    if (texts === undefined) continue;
    if (!isObject(texts))
      throw wrong(`invalid metadata: invalid metadata.${key} of type ${goType(texts)} in converted object`);
    for (const [name, text] of Object.entries(texts))
      if (typeof text !== "string")
        throw wrong(
          `invalid metadata: metadata.${key}[${name}] must be a string, but is ${goType(text)} in converted object`,
        );
    const map = texts as Record<string, string>;
    const errors =
      stringifyJson(map) === stringifyJson(original.metadata[key] ?? {})
        ? []
        : key === "labels"
          ? validateLabels(map, "metadata.labels")
          : // The singular is kube-apiserver's.
            validateAnnotations(map, "metadata.annotation");
    if (errors.length > 0) {
      const messages = errors.map(fieldErrorText);
      throw wrong(`invalid metadata: ${messages.length > 1 ? `[${messages.join(", ")}]` : messages[0]}`);
    }
    metadata[key] = map;
  }
  return { ...converted, metadata } as unknown as ApiObject;
}
