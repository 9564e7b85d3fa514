// One call of one webhook: sends the review, validates the response, and passes on warnings and annotations.

import type { ValidatingWebhook } from "#api";
import { type Clock, badRequest } from "#base";
import type { Span } from "#tracing";
import type { AdmissionAttributes } from "../attributes.ts";
import { FailedCall } from "./errors.ts";
import type { Invocation } from "./hooks.ts";
import { readReply } from "./read-reply.ts";
import { type ReviewResponse, checkResponse, buildReview, reviewVersion } from "./review.ts";
import type { PostReview } from "./transport.ts";

export interface CallOptions {
  readonly clock: Clock;
  readonly post: PostReview;
  /** API group of the review on the wire. */
  readonly reviewGroup: string;
}

const resourceText = ({ resource: { group, version, resource } }: AdmissionAttributes): string =>
  `${group}/${version}, Resource=${resource}`;

/** Calls of webhooks slower than this are logged with the trace of the request. */
const slowMilliseconds = 500;

/** Calls a webhook and returns its response; throws BrokenCall if there is no usable one. */
export async function callWebhook(
  { hook: { webhook, configuration }, matched, objects }: Invocation<ValidatingWebhook>,
  attributes: AdmissionAttributes,
  mutating: boolean,
  options: CallOptions,
): Promise<ReviewResponse> {
  const { name, sideEffects } = webhook;
  if (attributes.dryRun && sideEffects !== "None" && sideEffects !== "NoneOnDryRun")
    throw badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`);
  const version = reviewVersion(webhook.admissionReviewVersions);
  if (!version)
    throw new FailedCall(
      name,
      "could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)",
      400,
    );
  const apiVersion = `${options.reviewGroup}/${version}`;
  const { uid, body } = buildReview(attributes, matched, apiVersion, objects);
  const span = attributes.span?.child(
    `Call ${mutating ? "mutating" : "validating"} webhook`,
    () => ({
      configuration,
      webhook: name,
      resource: resourceText(attributes),
      subresource: attributes.subresource,
      operation: attributes.operation,
      UID: uid,
    }),
    { slowMilliseconds },
  );
  let reply: Record<string, unknown>;
  try {
    const limit = timeoutOf(webhook, attributes, options.clock);
    reply = await send(webhook, { apiVersion, body }, limit, options.post, span);
    span?.event("Request completed");
  } finally {
    span?.end();
  }
  const checked = checkResponse(reply, { uid, version, apiVersion }, mutating);
  if ("problem" in checked)
    throw new FailedCall(name, `received invalid webhook response: ${checked.problem}`, 503);
  const { answer } = checked;
  for (const [key, value] of Object.entries(answer.annotations)) attributes.annotate(`${name}/${key}`, value);
  for (const warning of answer.warnings) attributes.warn(warning);
  return answer;
}

/**
 * Returns the timeout of a call in milliseconds: that of the webhook, or what remains until the request's
 * deadline.
 */
function timeoutOf(
  { timeoutSeconds = 10 }: ValidatingWebhook,
  { deadline = Infinity }: AdmissionAttributes,
  clock: Clock,
): number {
  return Math.min(timeoutSeconds * 1000, deadline - clock.monotonic());
}

async function send(
  { name, clientConfig }: ValidatingWebhook,
  { apiVersion, body }: { readonly apiVersion: string; readonly body: Record<string, unknown> },
  limitMilliseconds: number,
  post: PostReview,
  span: Span | undefined,
): Promise<Record<string, unknown>> {
  const failed = (reason: string, code = 400) =>
    new FailedCall(name, `failed to call webhook: ${reason}`, code);
  let reply: Awaited<ReturnType<PostReview>>;
  try {
    if (limitMilliseconds <= 0) throw new Error("context deadline exceeded");
    reply = await post(clientConfig, body, limitMilliseconds, span);
  } catch (error) {
    throw failed((error as Error).message);
  }
  try {
    return readReply(reply, apiVersion);
  } catch (error) {
    throw failed((error as Error).message, reply.status < 200 || reply.status > 206 ? reply.status : 400);
  }
}
