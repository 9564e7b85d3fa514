// The dynamic admission plug-ins, reading from the server's caches: admission webhooks and policies.

import {
  type AdmissionPlugin,
  type PodSecurityObserver,
  type UserInfo,
  type WebhookExchange,
  admissionExpressions,
  admissionPolicies,
  mutatingWebhooks,
  policyMetrics,
  validatingWebhooks,
  webhookMetrics,
  webhookTransport,
} from "#admission";
import { ValidatingAdmissionPolicy } from "#api";
import type { User } from "#authn";
import { type Authorizer, selectorsOf } from "#authz";
import type { Log, Metrics } from "#base";
import type { AuthorizationDecision, AuthorizationQuery, Decide, ResourceQuery } from "#cel";
import type { Catalog } from "#endpoints";
import type { Dial } from "#http";
import type { ServerObjects } from "#registry";
import { podSecurityMetrics } from "../metrics/pod-security-metrics.ts";
import { paramKinds, paramsFinder, policyParamsGuard } from "./policy-params.ts";
import type { PluginConfigs } from "./config-file.ts";
import { webhookCredentials } from "./plugin-settings.ts";
import { webhookCredentialsFrom } from "./webhook-credentials.ts";
import { resolveService } from "../services/resolve-service.ts";

export interface DynamicAdmissionOptions {
  readonly authorizer: Authorizer;
  readonly metrics: Metrics;
  readonly onExchange: (exchange: WebhookExchange) => void;
  readonly log: Log;
  readonly enabled: (gate: string) => boolean;
  /** The served resources; called for each request rather than at construction. */
  readonly catalog: () => Catalog;
  readonly configs: PluginConfigs;
  /** The minor release that determines which functions are available in expressions. */
  readonly expressionRelease: number;
  /** Calls to webhook URLs use the control plane's egress, calls to services the cluster's. */
  readonly egress: { readonly controlplane?: Dial; readonly cluster?: Dial };
}

export interface DynamicAdmissionPlugins {
  readonly mutating: AdmissionPlugin;
  readonly validating: AdmissionPlugin;
  readonly podSecurityObserver: PodSecurityObserver;
  /** The policy plug-in and the guard of its parameters; empty if the feature gate is off. */
  readonly policies: readonly AdmissionPlugin[];
}

export function dynamicAdmissionPlugins(
  server: ServerObjects,
  options: DynamicAdmissionOptions,
): DynamicAdmissionPlugins {
  const { dialect, resources, clock } = server;
  const suffix = dialect.wire.groupSuffix;
  const namespace = (name: string) => resources.namespaces.get(name);
  const expressionsFor = (gate: string) =>
    admissionExpressions(dialect.cli.product, options.expressionRelease, options.enabled(gate));
  const shared = {
    clock,
    log: options.log,
    metrics: webhookMetrics(options.metrics),
    registrationGroup: `admissionregistration.${suffix}`,
    reviewGroup: `admission.${suffix}`,
    namespaceLabels: async (name: string) => {
      const found = await namespace(name);
      return found && (found.metadata.labels ?? {});
    },
    expressions: expressionsFor("StrictCostEnforcementForWebhooks"),
    conditions: options.enabled("AdmissionWebhookMatchConditions"),
    decide: (user: UserInfo) =>
      decisionsFor(options.authorizer, user, options.enabled("AuthorizeWithSelectors")),
  };
  const { controlplane: dial, cluster } = options.egress;
  const post = (plugin: string): ReturnType<typeof webhookTransport> => {
    const file = options.configs.read(plugin, webhookCredentials(dialect));
    return webhookTransport({
      clock,
      userAgent: `${dialect.cli.apiServer}-admission`,
      observe: options.onExchange,
      resolveService: async (within, name, port) => ({
        ...(await resolveService((key) => resources.services.get(key), within, name, port)),
        dial: cluster,
      }),
      dial,
      ...(file !== "" && { credentialsFor: webhookCredentialsFrom(file) }),
    });
  };
  return {
    podSecurityObserver: podSecurityMetrics(options.metrics),
    mutating: mutatingWebhooks({
      ...shared,
      post: post("MutatingAdmissionWebhook"),
      configurations: () => resources.mutatingWebhookConfigurations.listCached(""),
      failedOpenPrefix: `failed-open.mutation.webhook.admission.${suffix}/`,
      mutationPrefix: `mutation.webhook.admission.${suffix}/`,
      patchPrefix: `patch.webhook.admission.${suffix}/`,
    }),
    validating: validatingWebhooks({
      ...shared,
      post: post("ValidatingAdmissionWebhook"),
      configurations: () => resources.validatingWebhookConfigurations.listCached(""),
      failedOpenPrefix: `failed-open.validating.webhook.admission.${suffix}/`,
    }),
    policies: options.enabled("ValidatingAdmissionPolicy")
      ? [
          policyParamsGuard(options.authorizer, options.catalog, (name) =>
            resources.validatingAdmissionPolicies.get(name),
          ),
          admissionPolicies({
            ...shared,
            expressions: expressionsFor("StrictCostEnforcementForVAP"),
            metrics: { ...shared.metrics, ...policyMetrics(options.metrics) },
            policies: () => resources.validatingAdmissionPolicies.listCached(""),
            bindings: () => resources.validatingAdmissionPolicyBindings.listCached(""),
            findParams: paramsFinder(options.catalog),
            knowsKind: paramKinds(options.catalog),
            namespace: hasLaterPolicies(resources) ? namespace : undefined,
            failureAnnotation: `validation.policy.admission.${suffix}/validation_failure`,
          }),
        ]
      : [],
  };
}

/** Reports whether policies are served as in a release after 1.27. */
const hasLaterPolicies = ({
  validatingAdmissionPolicies: { resource },
}: ServerObjects["resources"]): boolean => resource.strategy.hub !== ValidatingAdmissionPolicy;

/** Evaluates the authorizer checks of CEL expressions. */
export function decisionsFor(authorizer: Authorizer, user: UserInfo, withSelectors: boolean): Decide {
  return async (query): Promise<AuthorizationDecision> => {
    const { fieldSelector = "", labelSelector = "", ...resource } = query.resource ?? {};
    const decision = await authorizer.decide({
      user: subjectOf(query, user),
      verb: query.verb,
      ...(query.resource
        ? { resource: { ...(resource as ResourceQuery), version: "*" } }
        : { path: query.path ?? "" }),
      ...(withSelectors && { selectors: selectorsOf(fieldSelector, labelSelector) }),
    });
    if (decision.error) throw new Error(decision.error);
    return { allowed: decision.verdict === "allow", reason: decision.reason };
  };
}

function subjectOf({ serviceAccount }: AuthorizationQuery, user: UserInfo): User {
  if (!serviceAccount) {
    const { name, groups, uid, extra } = user;
    return { name, groups, ...(uid !== undefined && { uid }), ...(extra && { extra }) };
  }
  const { namespace, name } = serviceAccount;
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
  };
}
