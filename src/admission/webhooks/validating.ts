// ValidatingAdmissionWebhook: calls all matching webhooks in parallel; any of them may refuse the request.

import type { ValidatingWebhook, ValidatingWebhookConfiguration } from "#api";
import { ApiError, type Clock, type FieldError, type Log, timeout } from "#base";
import { type AdmissionAttributes, type AdmissionPlugin, sharedVersions } from "../attributes.ts";
import { sliceOf } from "../expressions/expressions.ts";
import { type CallOptions, callWebhook } from "./call.ts";
import { FailedCall, Rejection, internalError, rejection } from "./errors.ts";
import { type HookMatcherOptions, type Invocation, hookMatcher, hooksOf, isExempt } from "./hooks.ts";
import type { WebhookCall, WebhookMetrics } from "./metrics.ts";

export interface WebhookOptions extends HookMatcherOptions, CallOptions {
  readonly log: Log;
  /** API group of webhook configurations on the wire. */
  readonly registrationGroup: string;
  /** Prefix of the keys of audit annotations, followed by `round_0_index_0`. */
  readonly failedOpenPrefix: string;
}

export interface ValidatingOptions extends WebhookOptions {
  readonly configurations: () => readonly ValidatingWebhookConfiguration[];
}

export function validatingWebhooks(options: ValidatingOptions): AdmissionPlugin {
  const match = hookMatcher(options, "validating");
  return {
    name: "ValidatingAdmissionWebhook",
    handles: ["CREATE", "UPDATE", "DELETE", "CONNECT"],
    validate: (attributes) => {
      const configurations = options.configurations();
      return configurations.length === 0 || isExempt(attributes, options.registrationGroup)
        ? []
        : callAll(configurations, attributes);
    },
  };

  async function callAll(
    configurations: readonly ValidatingWebhookConfiguration[],
    attributes: AdmissionAttributes,
  ): Promise<readonly FieldError[]> {
    const invocations: Invocation<ValidatingWebhook>[] = [];
    const versioned = sharedVersions(attributes);
    for (const hook of hooksOf(configurations)) {
      const invocation = await match(hook, attributes, versioned);
      if (invocation) invocations.push(invocation);
    }
    // Encoding the review of a large object takes long, so other work runs in between.
    const slice = sliceOf(attributes);
    const refusals: Promise<{ readonly error: unknown } | undefined>[] = [];
    for (const [index, invocation] of invocations.entries()) {
      if (slice.expired) await slice.yield();
      refusals.push(
        validate(invocation, index, attributes, options).then(
          () => undefined,
          (error: unknown) => ({ error }),
        ),
      );
    }
    const refused = (await Promise.all(refusals)).find((each) => each !== undefined);
    if (refused) throw refused.error;
    return [];
  }
}

async function validate(
  invocation: Invocation<ValidatingWebhook>,
  index: number,
  attributes: AdmissionAttributes,
  options: ValidatingOptions,
): Promise<void> {
  const { webhook } = invocation.hook;
  const call: WebhookCall = { webhook: webhook.name, kind: "validating", operation: attributes.operation };
  const broken = await observed(call, options, webhook.failurePolicy, async () => {
    const answer = await callWebhook(invocation, attributes, false, options);
    if (!answer.allowed) throw rejection(webhook.name, answer.status);
  });
  if (!broken) return;
  failAfterDeadline(attributes, options.clock);
  options.log.warn("failed calling webhook, failing open", {
    webhook: webhook.name,
    error: broken.message,
  });
  attributes.annotate(`${options.failedOpenPrefix}round_0_index_${index}`, webhook.name);
}

/** Fails a request whose deadline has passed, even if the failure of the webhook is ignored. */
export function failAfterDeadline({ deadline = Infinity }: AdmissionAttributes, clock: Clock): void {
  if (clock.monotonic() >= deadline)
    throw timeout("Timeout: request did not complete within requested timeout");
}

/**
 * Runs a call and records metrics. Returns a broken call that the failure policy ignores, throws everything
 * else.
 */
export async function observed(
  call: WebhookCall,
  { metrics, clock }: { readonly metrics: WebhookMetrics; readonly clock: Clock },
  failurePolicy: string | undefined,
  run: () => Promise<void>,
): Promise<FailedCall | undefined> {
  const start = clock.monotonic();
  const seconds = () => (clock.monotonic() - start) / 1000;
  try {
    await run();
    metrics.called(call, seconds(), 200, false);
    return undefined;
  } catch (error) {
    if (error instanceof FailedCall) {
      const forgiven = failurePolicy === "Ignore";
      if (forgiven) metrics.failedOpen(call);
      else metrics.rejected(call, "calling_webhook_error", error.code);
      metrics.called(call, seconds(), error.code, !forgiven);
      if (forgiven) return error;
      throw internalError(error.message);
    }
    const code = error instanceof Rejection ? error.code : 0;
    metrics.rejected(call, error instanceof Rejection ? "no_error" : "apiserver_internal_error", code);
    metrics.called(call, seconds(), code, true);
    throw error instanceof ApiError ? error : internalError((error as Error).message);
  }
}
