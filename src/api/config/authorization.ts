// The file of --authorization-config: the authorizers in the order in which they are consulted.
import { type TypeOf, bool, duration, embedded, list, optional, pointer, required, string } from "#schema";
import { accessConfig } from "../packages.ts";

function declared(version: string) {
  const { message, kind } = accessConfig(version);
  const WebhookConnectionInfo = message("WebhookConnectionInfo", "How a webhook is reached.", {
    type: required(1, string, "KubeConfigFile."),
    kubeConfigFile: pointer(2, string, "Path of the client configuration."),
  });
  const WebhookMatchCondition = message("WebhookMatchCondition", "Which requests a webhook is asked about.", {
    expression: required(1, string, "An expression over request, the review's spec, that must be true."),
  });
  const WebhookConfiguration = message("WebhookConfiguration", "A remote service that decides.", {
    authorizedTTL: optional(1, duration, "How long its answer 'authorized' is kept; 5m by default."),
    cacheAuthorizedRequests: pointer(2, bool, "Whether it is kept at all; true by default."),
    unauthorizedTTL: optional(3, duration, "How long its answer 'unauthorized' is kept; 30s by default."),
    cacheUnauthorizedRequests: pointer(4, bool, "Whether it is kept at all; true by default."),
    timeout: optional(5, duration, "How long an answer is waited for; at most 30s."),
    subjectAccessReviewVersion: required(6, string, "API version of the review that is sent: v1 or v1beta1."),
    matchConditionSubjectAccessReviewVersion: optional(7, string, "API version that conditions see: v1."),
    failurePolicy: required(8, string, "What counts when it cannot be asked: NoOpinion or Deny."),
    connectionInfo: embedded(9, WebhookConnectionInfo, "How it is reached."),
    matchConditions: optional(10, list(WebhookMatchCondition), "All must hold for it to be asked."),
  });
  const AuthorizerConfiguration = message("AuthorizerConfiguration", "One authorizer.", {
    type: required(1, string, "Its mode."),
    name: required(2, string, "Its name; that of the mode in lower case unless it is a webhook."),
    webhook: optional(3, WebhookConfiguration, "The service, for mode Webhook."),
  });
  return kind("AuthorizationConfiguration", "How requests are authorized.", {
    authorizers: required(1, list(AuthorizerConfiguration), "The authorizers, in order."),
  });
}

const versions = ["v1", "v1beta1", "v1alpha1"].map(declared);
/** Returns the kind in each version that files may use. */
export const authorizationConfigs = (): typeof versions => versions;
export type AuthorizationConfig = TypeOf<(typeof versions)[number]>;
export type WebhookAuthorizerConfig = NonNullable<
  NonNullable<AuthorizationConfig["authorizers"]>[number]["webhook"]
>;
