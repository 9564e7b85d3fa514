// Options of authorization.

import { duration, file, listOf, notNegative, oneOf, option, section } from "#options";

export const authorizationModes = ["AlwaysAllow", "AlwaysDeny", "ABAC", "Webhook", "RBAC", "Node"] as const;

export const authorizationSection = () =>
  section("Authorization", [
    option({
      flag: "authorization-mode",
      type: listOf(oneOf(...authorizationModes)),
      default: ["AlwaysAllow"],
      check: (modes) =>
        modes.length === 0
          ? "must name at least one mode"
          : new Set(modes).size < modes.length
            ? "must name each mode once"
            : undefined,
      doc: `Ordered list of authorization plugins: ${authorizationModes.join(", ")}.`,
    }),
    option({
      flag: "authorization-config",
      type: file,
      default: "",
      readable: true,
      doc: "File with an AuthorizationConfiguration: the ordered authorizers, including several webhooks, each with match conditions and a failure policy. Replaces --authorization-mode and the --authorization-webhook-* flags; reloaded when it changes.",
    }),
    option({
      flag: "authorization-policy-file",
      type: file,
      default: "",
      readable: true,
      doc: "File with the policy of mode ABAC, one JSON object per line.",
    }),
    option({
      flag: "authorization-webhook-config-file",
      type: file,
      default: "",
      readable: true,
      doc: "Client configuration of the webhook used by mode Webhook.",
    }),
    option({
      flag: "authorization-webhook-version",
      type: oneOf("v1beta1", "v1"),
      default: "v1beta1",
      doc: "API version of the SubjectAccessReview sent to the webhook: v1beta1 or v1.",
    }),
    option({
      flag: "authorization-webhook-cache-authorized-ttl",
      type: duration,
      default: 300_000,
      check: notNegative,
      doc: "How long 'authorized' responses of the webhook are cached.",
    }),
    option({
      flag: "authorization-webhook-cache-unauthorized-ttl",
      type: duration,
      default: 30_000,
      check: notNegative,
      doc: "How long 'unauthorized' responses of the webhook are cached.",
    }),
  ]);
