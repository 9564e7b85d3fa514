// The file of --authorization-config: the authorizers in the order in which they are consulted.
import { type TypeOf, bool, duration, embedded, list, optional, pointer, required, string } from "#schema";
import { accessConfig } from "../packages.ts";

function declared(version: string) {
  const { message, kind } = accessConfig(version);
  const WebhookConnectionInfo = message("WebhookConnectionInfo", "How to connect to the webhook.", {
    type: required(1, string, "Type of the connection information; KubeConfigFile is supported."),
    kubeConfigFile: pointer(
      2,
      string,
      "Path of the client configuration file; required for type KubeConfigFile.",
    ),
  });
  const WebhookMatchCondition = message(
    "WebhookMatchCondition",
    "A condition that a request must meet to be sent to the webhook.",
    {
      expression: required(
        1,
        string,
        "CEL expression over request, the spec of the review, that must evaluate to true.",
      ),
    },
  );
  const WebhookConfiguration = message("WebhookConfiguration", "Configuration of a webhook authorizer.", {
    authorizedTTL: optional(1, duration, "How long 'authorized' responses are cached; defaults to 5m."),
    cacheAuthorizedRequests: pointer(2, bool, "Whether 'authorized' responses are cached; defaults to true."),
    unauthorizedTTL: optional(3, duration, "How long 'unauthorized' responses are cached; defaults to 30s."),
    cacheUnauthorizedRequests: pointer(
      4,
      bool,
      "Whether 'unauthorized' responses are cached; defaults to true.",
    ),
    timeout: optional(5, duration, "Timeout of webhook requests; at most 30s."),
    subjectAccessReviewVersion: required(
      6,
      string,
      "API version of the access reviews sent to the webhook: v1 or v1beta1.",
    ),
    matchConditionSubjectAccessReviewVersion: optional(
      7,
      string,
      "API version of the access review that match conditions are evaluated against: v1.",
    ),
    failurePolicy: required(
      8,
      string,
      "Decision if the webhook call or a match condition fails: NoOpinion or Deny.",
    ),
    connectionInfo: embedded(9, WebhookConnectionInfo, "How to connect to the webhook."),
    matchConditions: optional(
      10,
      list(WebhookMatchCondition),
      "Conditions that must all be met for a request to be sent to the webhook.",
    ),
  });
  const AuthorizerConfiguration = message(
    "AuthorizerConfiguration",
    "Configuration of one authorizer of the chain.",
    {
      type: required(1, string, "Mode of the authorizer, such as Node, RBAC or Webhook."),
      name: required(
        2,
        string,
        "Name of the authorizer; for modes other than Webhook, the mode in lower case.",
      ),
      webhook: optional(3, WebhookConfiguration, "Webhook configuration; required for mode Webhook."),
    },
  );
  return kind("AuthorizationConfiguration", "Configuration of how requests are authorized.", {
    authorizers: required(1, list(AuthorizerConfiguration), "Chain of authorizers, consulted in order."),
  });
}

const versions = ["v1", "v1beta1", "v1alpha1"].map(declared);
/** Returns the kind in each version that files may use. */
export const authorizationConfigs = (): typeof versions => versions;
export type AuthorizationConfig = TypeOf<(typeof versions)[number]>;
export type WebhookAuthorizerConfig = NonNullable<
  NonNullable<AuthorizationConfig["authorizers"]>[number]["webhook"]
>;
