// Webhooks of all configurations, in the order of invocation.

import type { ValidatingWebhook } from "#api";
import { forbidden } from "#base";
import type { Decide } from "#cel";
import type { AdmissionAttributes, Equivalent, UserInfo, VersionedObjects } from "../attributes.ts";
import { type Conditions, conditionsOf } from "../expressions/conditions.ts";
import type { Expressions } from "../expressions/expressions.ts";
import { internalError } from "./errors.ts";
import { type NamespaceLabels, matchedResource, namespaceMatches, objectMatches } from "./matching.ts";
import type { WebhookKind, WebhookMetrics } from "./metrics.ts";

export interface Hook<W extends ValidatingWebhook = ValidatingWebhook> {
  /** Unique among all webhooks of the plugin. */
  readonly uid: string;
  readonly configuration: string;
  readonly webhook: W;
}

type Configuration<W> = {
  readonly metadata: { readonly name?: string | undefined };
  readonly webhooks?: readonly W[] | undefined;
};

const ordered = new WeakMap<readonly Configuration<never>[], readonly Hook<never>[]>();

/** Returns the webhooks of all configurations, sorted by the configurations' names; cached per list. */
export const hooksOf = <W extends ValidatingWebhook>(
  configurations: readonly Configuration<W>[],
): readonly Hook<W>[] =>
  (ordered as WeakMap<readonly Configuration<W>[], readonly Hook<W>[]>).getOrInsertComputed(
    configurations,
    inOrder,
  );

function inOrder<W extends ValidatingWebhook>(
  configurations: readonly Configuration<W>[],
): readonly Hook<W>[] {
  const nameOf = ({ metadata }: Configuration<W>): string => metadata.name ?? "";
  return configurations
    .toSorted((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1))
    .flatMap((configuration) => {
      const repeats = new Map<string, number>();
      return (configuration.webhooks ?? []).map((webhook) => {
        const count = repeats.get(webhook.name) ?? 0;
        repeats.set(webhook.name, count + 1);
        const uid = `${nameOf(configuration)}/${webhook.name}/${count}`;
        return { uid, configuration: nameOf(configuration), webhook };
      });
    });
}

export interface Invocation<W extends ValidatingWebhook> {
  readonly hook: Hook<W>;
  /** The resource and version by which the webhook's rules match the request. */
  readonly matched: Equivalent;
  /** The objects in this version; webhooks may share them and do not change them. */
  readonly objects: VersionedObjects;
}

export interface HookMatcherOptions {
  readonly namespaceLabels: NamespaceLabels;
  readonly expressions: Expressions;
  /** Whether match conditions are enabled; otherwise they are ignored. */
  readonly conditions: boolean;
  readonly decide: (user: UserInfo) => Decide;
  readonly metrics: WebhookMetrics;
}

/** Returns a function that determines whether to call a webhook. */
export function hookMatcher(
  options: HookMatcherOptions,
  kind: WebhookKind,
): <W extends ValidatingWebhook>(
  hook: Hook<W>,
  attributes: AdmissionAttributes,
  versioned: AdmissionAttributes["versioned"],
) => Promise<Invocation<W> | undefined> {
  const compiled = new WeakMap<object, Conditions>();
  return async (hook, attributes, versioned) => {
    const { webhook } = hook;
    const equivalent = webhook.matchPolicy === "Equivalent";
    const matched = matchedResource(webhook.rules ?? [], equivalent, attributes);
    if (!matched || !objectMatches(webhook.objectSelector, attributes)) return undefined;
    if (!(await namespaceMatches(webhook.namespaceSelector, attributes, options.namespaceLabels)))
      return undefined;
    const objects = await objectsIn(apiVersionOf(matched), versioned);
    const { matchConditions } = webhook;
    if (options.conditions && matchConditions && matchConditions.length > 0) {
      const holds = compiled.getOrInsertComputed(matchConditions, () =>
        conditionsOf(options.expressions, matchConditions, webhook.failurePolicy, { params: false }),
      );
      const decide = options.decide(attributes.user);
      const view = { attributes, matched, objects, decide };
      const result = await holds(view, () => options.metrics.conditionFailed(webhook.name, kind));
      if ("error" in result) throw forbidden(attributes.resource, attributes.name, result.error);
      if (!result.matches) return undefined;
    }
    return { hook, matched, objects };
  };
}

/** Returns the objects in a version. A failed conversion fails the request, whatever the failure policy. */
async function objectsIn(
  apiVersion: string,
  versioned: AdmissionAttributes["versioned"],
): Promise<VersionedObjects> {
  try {
    return await versioned(apiVersion);
  } catch (error) {
    throw internalError((error as Error).message);
  }
}

export const apiVersionOf = ({ kind: { group, version } }: Equivalent): string =>
  group === "" ? version : `${group}/${version}`;

const exemptKinds = new Set([
  "ValidatingWebhookConfiguration",
  "MutatingWebhookConfiguration",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
]);

/**
 * Reports whether the request is for an admission configuration, which is never intercepted so that a broken
 * one can be repaired.
 */
export const isExempt = ({ requestKind }: AdmissionAttributes, group: string): boolean =>
  requestKind.group === group && exemptKinds.has(requestKind.kind);
