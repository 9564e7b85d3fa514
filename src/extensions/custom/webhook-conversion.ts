// Conversion by a webhook: objects go out in a review and come back in the wanted version. A webhook may change
// everything but the kind and, of metadata, labels and annotations alone.
import { randomUUID } from "node:crypto";
import {
  ConversionReview,
  type CustomResourceDefinition,
  type ObjectMeta,
  type WebhookConversion,
} from "#api";
import { ApiError } from "#base";
import { type Dialect, groupName } from "#dialect";
import { type ApiObject, validateAnnotations, validateLabels } from "#registry";
import { parseJson, stringifyJson } from "#schema";
import { isObject } from "../structural/structural.ts";
import type { Convert } from "./conversion.ts";

type ClientConfig = NonNullable<WebhookConversion["clientConfig"]>;
export type ServiceReference = NonNullable<ClientConfig["service"]>;

export interface ConversionReply {
  readonly status: number;
  readonly body: string;
}

/** Posts a review to the webhook; throws when no answer comes. */
export type PostConversion = (
  client: ClientConfig,
  body: Record<string, unknown>,
  limitMilliseconds: number,
) => Promise<ConversionReply>;

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
    const failed = (why: string): ApiError =>
      new ApiError(500, "", `conversion webhook for ${from} failed: ${why}`);
    const client = webhook?.clientConfig;
    if (!version || !client) throw failed("no supported conversion review versions");
    const uid = randomUUID();
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
    const converted = convertedIn(reply, { uid, version, reviewVersion, count: sent.length }, failed);
    const made = sent.map((object, i) => restored(object, converted[i], to, failed));
    return objects.map((object) => (object.apiVersion === to ? object : made.shift()!));
  };
}

interface Expected {
  readonly uid: string;
  readonly version: string;
  readonly reviewVersion: string;
  readonly count: number;
}

type Fail = (why: string) => ApiError;

function convertedIn(reply: ConversionReply, expected: Expected, failed: Fail): readonly unknown[] {
  if (reply.status < 200 || reply.status > 206)
    throw failed(`the server answered with status ${reply.status}`);
  let review: unknown;
  try {
    review = parseJson(reply.body).value;
  } catch (error) {
    throw failed((error as Error).message);
  }
  const { kind, apiVersion, response } = isObject(review) ? review : {};
  // The older version did not look at what it is told, nor by whom.
  const strict = expected.version === "v1";
  if (strict && (kind !== "ConversionReview" || apiVersion !== expected.reviewVersion))
    throw failed(
      `expected webhook response of ${expected.reviewVersion}, Kind=ConversionReview, got ${String(apiVersion)}, Kind=${String(kind)}`,
    );
  if (!isObject(response)) throw failed("no response provided");
  if (strict && response["uid"] !== expected.uid)
    throw failed(`expected response.uid="${expected.uid}", got "${String(response["uid"] ?? "")}"`);
  const result = isObject(response["result"]) ? response["result"] : {};
  if (result["status"] !== "Success")
    throw failed(
      typeof result["message"] === "string" && result["message"] !== ""
        ? result["message"]
        : `response.result.status was '${String(result["status"] ?? "")}', not 'Success'`,
    );
  const objects = Array.isArray(response["convertedObjects"]) ? response["convertedObjects"] : [];
  if (objects.length !== expected.count)
    throw failed(`it returned ${objects.length} objects, expected ${expected.count}`);
  return objects;
}

/** The converted object with the metadata it had; only labels and annotations are the webhook's. */
function restored(original: ApiObject, converted: unknown, to: string, failed: Fail): ApiObject {
  if (!isObject(converted)) throw failed("it returned something that is no object");
  if (converted["apiVersion"] !== to)
    throw failed(`invalid groupVersion (expected ${to}, received ${String(converted["apiVersion"] ?? "")})`);
  if (converted["kind"] !== original.kind)
    throw failed(`invalid kind (expected ${original.kind}, received ${String(converted["kind"] ?? "")})`);
  const given = converted["metadata"];
  if (!isObject(given)) throw failed("missing metadata in converted object");
  for (const key of ["name", "namespace", "uid"] as const)
    if ((given[key] ?? "") !== (original.metadata[key] ?? ""))
      throw failed(
        `must have the same ${key}: ${original.metadata[key] ?? ""} != ${String(given[key] ?? "")}`,
      );
  const { labels: _labels, annotations: _annotations, ...kept } = original.metadata;
  const metadata: ObjectMeta = { ...kept };
  for (const key of ["labels", "annotations"] as const) {
    const texts = given[key] ?? undefined;
    if (texts === undefined) continue;
    if (!isObject(texts) || Object.values(texts).some((text) => typeof text !== "string"))
      throw failed(`invalid metadata.${key} in converted object`);
    const map = texts as Record<string, string>;
    const check = key === "labels" ? validateLabels : validateAnnotations;
    if (stringifyJson(map) !== stringifyJson(original.metadata[key] ?? {}))
      for (const { field, detail } of check(map, `metadata.${key}`)) throw failed(`${field}: ${detail}`);
    metadata[key] = map;
  }
  return { ...converted, metadata } as unknown as ApiObject;
}
