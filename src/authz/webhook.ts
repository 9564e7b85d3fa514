// Authorizes with a remote service, by a SubjectAccessReview. Responses are cached; a failure is no opinion,
// and an internal error if no other authorizer decides.
import { SubjectAccessReview, type SubjectAccessReviewStatus, webhookReview } from "#api";
import type { Clock } from "#base";
import type { Webhook } from "#client";
import { type Dialect, apiVersionOf } from "#dialect";
import type { FailurePolicy } from "./authorization-config.ts";
import { type Attributes, type Authorizer, type Decision, type KnownRules, noOpinion } from "./authorizer.ts";
import type { MatchConditions } from "./match-conditions.ts";
import { selectorAttributes } from "./selectors.ts";

export interface WebhookAuthorizerOptions {
  readonly webhook: Webhook;
  readonly version: "v1" | "v1beta1";
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly authorizedMilliseconds: number;
  readonly unauthorizedMilliseconds: number;
  /** The decision if the call fails; no opinion by default. */
  readonly failurePolicy?: FailurePolicy;
  /** The requests to call the service for; all if absent. */
  readonly matches?: MatchConditions | undefined;
  /** Called when the call of the service fails. */
  readonly onError: (error: Error) => void;
}

const maxCached = 8192;
/** Maximum length of a cached review: memory usage must not depend on what clients send. */
const maxCachedLength = 10_000;

const unknownRules: KnownRules = {
  resourceRules: [],
  nonResourceRules: [],
  incomplete: true,
  error: "webhook authorizer does not support user rule resolution",
};

export function webhookAuthorizer(options: WebhookAuthorizerOptions): Authorizer {
  const { webhook, version, dialect, clock, onError, matches } = options;
  const apiVersion = apiVersionOf(dialect, { group: "authorization", branded: true, version });
  const cache = new Map<string, { readonly decision: Decision; readonly until: number }>();
  const pending = new Map<string, Promise<Decision>>();
  const failed = (error: string): Decision => ({
    verdict: options.failurePolicy === "Deny" ? "deny" : "no opinion",
    reason: "",
    error,
    internalError: error,
  });
  const store = (spec: string, decision: Decision, isAllowed: boolean): void => {
    const milliseconds = isAllowed ? options.authorizedMilliseconds : options.unauthorizedMilliseconds;
    if (milliseconds <= 0 || spec.length > maxCachedLength) return;
    cache.delete(spec);
    cache.set(spec, { decision, until: clock.monotonic() + milliseconds });
    if (cache.size > maxCached) cache.delete(cache.keys().next().value!);
  };
  const ask = async (spec: string): Promise<Decision> => {
    const review = `{"kind":"SubjectAccessReview","apiVersion":"${apiVersion}","metadata":{"creationTimestamp":null},"spec":${spec},"status":{"allowed":false}}`;
    try {
      const wanted = { kind: "SubjectAccessReview", apiVersion };
      const answer = webhookReview(await webhook.post(review), SubjectAccessReview, wanted);
      const decision = decisionOf(answer.status ?? {});
      // Any response is cached, even a contradictory one: only failures are retried.
      store(spec, decision, answer.status?.allowed === true);
      return decision;
    } catch (error) {
      onError(error as Error);
      return failed((error as Error).message);
    }
  };
  return {
    decide: (attributes) => {
      const matched = matches ? matches(attributes) : true;
      if (matched === false) return noOpinion;
      if (matched !== true) return failed(matched.error);
      const spec = JSON.stringify(specOf(attributes, version));
      const known = cache.get(spec);
      if (known && known.until > clock.monotonic()) return known.decision;
      let request = pending.get(spec);
      if (!request) {
        request = ask(spec).finally(() => pending.delete(spec));
        pending.set(spec, request);
      }
      return request;
    },
    rulesFor: () => unknownRules,
  };
}

/** Errors the service reports with its decision are not passed on. */
function decisionOf({ allowed, denied, reason = "" }: Partial<SubjectAccessReviewStatus>): Decision {
  if (allowed === true && denied === true) {
    const text = "webhook subject access review returned both allow and deny response";
    return { verdict: "deny", reason, error: text, internalError: text };
  }
  return { verdict: allowed === true ? "allow" : denied === true ? "deny" : "no opinion", reason };
}

/** Returns the spec of the review; empty fields are omitted. */
function specOf({ user, verb, resource, path, selectors }: Attributes, version: "v1" | "v1beta1"): object {
  const filled = (fields: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ""));
  return {
    ...(resource
      ? {
          resourceAttributes: {
            ...filled({
              namespace: resource.namespace,
              verb,
              group: resource.group,
              version: resource.version,
              resource: resource.resource,
              subresource: resource.subresource,
              name: resource.name,
            }),
            ...selectorAttributes(selectors),
          },
        }
      : { nonResourceAttributes: filled({ path: path ?? "", verb }) }),
    ...(user.name && { user: user.name }),
    ...(user.groups.length > 0 && { [version === "v1" ? "groups" : "group"]: user.groups }),
    ...(user.extra && Object.keys(user.extra).length > 0 && { extra: user.extra }),
    ...(user.uid && { uid: user.uid }),
  };
}
