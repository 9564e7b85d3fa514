// Asks a remote service by ImageReview whether the images of a pod are allowed.
import { type Pod, webhookResponse } from "#api";
import { ApiError, type Clock, forbidden } from "#base";
import type { Webhook } from "#client";
import { type Dialect, apiVersionOf } from "#dialect";
import { type AdmissionAttributes, type AdmissionPlugin, typed } from "../attributes.ts";

export interface ImagePolicyOptions {
  readonly webhook: Webhook;
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly allowMilliseconds: number;
  readonly denyMilliseconds: number;
  /** Whether pods are admitted while the service is unavailable. */
  readonly defaultAllow: boolean;
  readonly onError: (error: Error) => void;
}

interface ReviewStatus {
  readonly allowed?: unknown;
  readonly reason?: unknown;
  readonly auditAnnotations?: Readonly<Record<string, unknown>>;
}

const maxCached = 1024;

export function imagePolicyWebhook(options: ImagePolicyOptions): AdmissionPlugin {
  const { webhook, dialect, clock, defaultAllow, onError } = options;
  const apiVersion = apiVersionOf(dialect, { group: "imagepolicy", branded: true, version: "v1alpha1" });
  const prefix = `imagepolicywebhook.image-policy.${dialect.wire.groupSuffix}/`;
  const cache = new Map<string, { readonly status: ReviewStatus; readonly until: number }>();
  const cacheStatus = (spec: string, status: ReviewStatus): void => {
    const milliseconds = status.allowed === true ? options.allowMilliseconds : options.denyMilliseconds;
    if (milliseconds <= 0) return;
    cache.set(spec, { status, until: clock.monotonic() + milliseconds });
    if (cache.size > maxCached) cache.delete(cache.keys().next().value!);
  };
  const fetchStatus = async (spec: string): Promise<ReviewStatus> => {
    const known = cache.get(spec);
    if (known && known.until > clock.monotonic()) return known.status;
    cache.delete(spec);
    const review = `{"kind":"ImageReview","apiVersion":"${apiVersion}","metadata":{"creationTimestamp":null},"spec":${spec},"status":{"allowed":false}}`;
    const answer = webhookResponse(await webhook.post(review), { kind: "ImageReview", apiVersion }) as {
      readonly status?: ReviewStatus;
    };
    const status = answer.status ?? {};
    cacheStatus(spec, status);
    return status;
  };
  return {
    name: "ImagePolicyWebhook",
    handles: ["CREATE", "UPDATE"],
    resources: ["pods"],
    validate: async (attributes) => {
      const spec = specOf(attributes, dialect);
      if (spec === undefined) return [];
      let status: ReviewStatus;
      try {
        status = await fetchStatus(JSON.stringify(spec));
      } catch (error) {
        onError(error as Error);
        if (!defaultAllow) throw refusalOf(error as Error, attributes);
        attributes.annotate(`${prefix}failed-open`, "true");
        return [];
      }
      for (const [key, value] of Object.entries(status.auditAnnotations ?? {}))
        if (!key.includes("/")) attributes.annotate(`${prefix}${key}`, String(value));
      if (status.allowed === true) return [];
      const why =
        typeof status.reason === "string" && status.reason !== ""
          ? `image policy webhook backend denied one or more images: ${status.reason}`
          : "one or more images rejected by webhook backend";
      throw forbidden(attributes.resource, attributes.name, why);
    },
  };
}

/** Returns the error of a failed call; a 403 of the service is passed on as it is. */
function refusalOf(error: Error, { resource, name }: AdmissionAttributes): Error {
  if (!("status" in error) || error.status !== 403) return forbidden(resource, name, error.message);
  return new ApiError(403, "Forbidden", error.message, {
    causes: [{ message: error.message, reason: "UnexpectedServerResponse" }],
  });
}

/** Returns the spec of the review: the images and the annotations addressed to the service. */
function specOf(attributes: AdmissionAttributes, dialect: Dialect): object | undefined {
  const { resource, subresource, namespace, object } = attributes;
  if (resource.group !== "" || (subresource !== "" && subresource !== "ephemeralcontainers"))
    return undefined;
  const { metadata, spec } = typed<Pod>(object);
  const containers =
    subresource === ""
      ? [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
      : (spec.ephemeralContainers ?? []);
  const addressed = `.image-policy.${dialect.wire.groupSuffix}/`;
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => key.includes(addressed));
  return {
    ...(containers.length > 0 && {
      containers: containers.map(({ image }) => ({ ...(image && { image }) })),
    }),
    ...(annotations.length > 0 && { annotations: Object.fromEntries(annotations) }),
    ...(namespace && { namespace }),
  };
}
