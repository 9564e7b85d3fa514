// MutatingAdmissionWebhook: calls webhooks in sequence, each sees the changes of the preceding ones. After a
// change, webhooks that request reinvocation are called again in a second round.

import { isDeepStrictEqual } from "node:util";
import type { MutatingWebhook, MutatingWebhookConfiguration } from "#api";
import { deepCopy, jsonKind } from "#base";
import { type Json, jsonPatch, parseJson, stringifyJson } from "#schema";
import { type AdmissionAttributes, type AdmissionPlugin, slot } from "../attributes.ts";
import { reinvocation } from "../reinvocation.ts";
import { callWebhook } from "./call.ts";
import { FailedCall, internalError, rejection } from "./errors.ts";
import { type Invocation, apiVersionOf, hookMatcher, hooksOf, isExempt } from "./hooks.ts";
import type { WebhookCall } from "./metrics.ts";
import { isObject } from "./review-document.ts";
import { setsManagerTime } from "./manager-times.ts";
import { type WebhookOptions, observed, failAfterDeadline } from "./validating.ts";

export interface MutatingOptions extends WebhookOptions {
  readonly configurations: () => readonly MutatingWebhookConfiguration[];
  /** Prefixes of the keys of audit annotations about mutations and patches. */
  readonly mutationPrefix: string;
  readonly patchPrefix: string;
}

/** State of the first round that the second one needs. */
interface Rounds {
  /** Webhooks called so far that request reinvocation after a change. */
  readonly called: Set<string>;
  readonly scheduled: Set<string>;
  /** The object as the last webhook left it. */
  output: unknown;
  /** Whether a patch was applied, so that the object was encoded and decoded. */
  patched: boolean;
}

const rounds = slot<Rounds>("webhook rounds");

export function mutatingWebhooks(options: MutatingOptions): AdmissionPlugin {
  const match = hookMatcher(options, "admit");
  return {
    name: "MutatingAdmissionWebhook",
    handles: ["CREATE", "UPDATE", "DELETE", "CONNECT"],
    mutate: (attributes) => {
      const configurations = options.configurations();
      return configurations.length === 0 || isExempt(attributes, options.registrationGroup)
        ? undefined
        : callAll(configurations, attributes);
    },
  };

  async function callAll(
    configurations: readonly MutatingWebhookConfiguration[],
    attributes: AdmissionAttributes,
  ): Promise<void> {
    const second = reinvocation.isSecond(attributes.state);
    const state = roundsOf(attributes, second);
    if (second && !isDeepStrictEqual(state.output, attributes.object)) scheduleReinvocation(state);
    const versioned: typeof attributes.versioned = (apiVersion) => attributes.versioned(apiVersion);
    let index = -1;
    for (const hook of hooksOf(configurations)) {
      index += 1;
      const invocation = await match(hook, attributes, versioned);
      if (!invocation || (second && !state.scheduled.has(hook.uid))) continue;
      const place = `round_${second ? 1 : 0}_index_${index}`;
      const changed = await mutate(invocation, place, { attributes, state }, options);
      if (changed) {
        scheduleReinvocation(state);
        reinvocation.request(attributes.state);
      }
      if (hook.webhook.reinvocationPolicy === "IfNeeded") state.called.add(hook.uid);
    }
    state.output = deepCopy(attributes.object);
  }
}

function roundsOf({ state }: AdmissionAttributes, second: boolean): Rounds {
  const known = second ? state.get(rounds) : undefined;
  if (known) return known;
  const fresh: Rounds = { called: new Set(), scheduled: new Set(), output: undefined, patched: false };
  state.set(rounds, fresh);
  return fresh;
}

/** Schedules the reinvocation of all webhooks called so far. */
function scheduleReinvocation({ called, scheduled }: Rounds): void {
  for (const uid of called) scheduled.add(uid);
  called.clear();
}

interface Write {
  readonly attributes: AdmissionAttributes;
  readonly state: Rounds;
}

/** Calls a webhook and applies its patch. Reports whether the patch changed the object. */
async function mutate(
  invocation: Invocation<MutatingWebhook>,
  place: string,
  write: Write,
  options: MutatingOptions,
): Promise<boolean> {
  const { attributes } = write;
  const { webhook, configuration } = invocation.hook;
  const call: WebhookCall = { webhook: webhook.name, kind: "admit", operation: attributes.operation };
  let changed = false;
  const note = () =>
    attributes.annotate(
      `${options.mutationPrefix}${place}`,
      JSON.stringify({ configuration, webhook: webhook.name, mutated: changed }),
    );
  try {
    const broken = await observed(call, options, webhook.failurePolicy, async () => {
      const answer = await callWebhook(invocation, attributes, true, options);
      if (!answer.allowed) throw rejection(webhook.name, answer.status);
      if (answer.patch === "") return;
      const patch = parsePatch(answer.patch);
      if (patch.length === 0) return;
      changed = await applyPatch(invocation, patch, answer.patchType, write);
      attributes.annotate(
        `${options.patchPrefix}${place}`,
        stringifyJson({
          configuration,
          webhook: webhook.name,
          patch: inKeyOrder(patch),
          patchType: "JSONPatch",
        }),
        "Request",
      );
    });
    if (broken) {
      failAfterDeadline(attributes, options.clock);
      options.log.warn("failed calling webhook, failing open", {
        webhook: webhook.name,
        error: broken.message,
      });
      attributes.annotate(`${options.failedOpenPrefix}${place}`, webhook.name);
    }
  } finally {
    note();
  }
  return changed;
}

function parsePatch(text: string): readonly unknown[] {
  let patch: unknown;
  try {
    patch = parseJson(text).value;
  } catch (error) {
    throw internalError((error as Error).message);
  }
  if (patch === null) return [];
  if (!Array.isArray(patch))
    throw internalError(`json: cannot unmarshal ${jsonKind(patch)} into Go value of type jsonpatch.Patch`);
  return patch;
}

/** Returns operations with their keys in order, as kube-apiserver records them. */
const inKeyOrder = (patch: readonly unknown[]): readonly unknown[] =>
  patch.map((operation) =>
    isObject(operation)
      ? Object.fromEntries(
          Object.keys(operation)
            .toSorted()
            .map((key) => [key, operation[key]]),
        )
      : operation,
  );

async function applyPatch(
  { hook: { webhook }, matched, objects }: Invocation<MutatingWebhook>,
  patch: readonly unknown[],
  type: string,
  { attributes, state }: Write,
): Promise<boolean> {
  const { object } = objects;
  const apiVersion = apiVersionOf(matched);
  if (!object)
    throw internalError(
      `admission webhook ${JSON.stringify(webhook.name)} attempted to modify the object, ` +
        "which is not supported for this operation",
    );
  if (type !== "JSONPatch")
    throw new FailedCall(webhook.name, `unsupported patch type ${JSON.stringify(type)}`, 400);
  try {
    const patched = jsonPatch(object as Json, patch) as Record<string, unknown>;
    const { custom = false } = attributes;
    for (const key of ["kind", "apiVersion"])
      // Objects of built-in kinds are decoded as their kind if the patch removed its name.
      if (!custom && !patched[key]) patched[key] = object[key];
    if (patched["kind"] !== object["kind"] || patched["apiVersion"] !== object["apiVersion"])
      throw new Error(`a patch may not make a ${String(patched["kind"])} of a ${String(object["kind"])}`);
    await attributes.replace(patched, apiVersion);
    const roundedTimes = !custom && !state.patched && setsManagerTime(objects);
    state.patched = true;
    return roundedTimes || !isDeepStrictEqual(object, (await attributes.versioned(apiVersion)).object);
  } catch (error) {
    throw internalError((error as Error).message);
  }
}
