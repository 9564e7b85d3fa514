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
      doc: `Ordered list of the plug-ins that decide: ${authorizationModes.join(", ")}.`,
    }),
    option({
      flag: "authorization-config",
      type: file,
      default: "",
      readable: true,
      doc: "File with an AuthorizationConfiguration: the authorizers in order, several webhooks among them, each with conditions and a failure policy. Takes the place of --authorization-mode and the --authorization-webhook-* flags; read again when it changes.",
    }),
    option({
      flag: "authorization-policy-file",
      type: file,
      default: "",
      readable: true,
      doc: "Policy of mode ABAC, one JSON record per line.",
    }),
    option({
      flag: "authorization-webhook-config-file",
      type: file,
      default: "",
      readable: true,
      doc: "Client configuration of the service that mode Webhook asks.",
    }),
    option({
      flag: "authorization-webhook-version",
      type: oneOf("v1beta1", "v1"),
      default: "v1beta1",
      doc: "API version of the SubjectAccessReview sent to that service: v1beta1 or v1.",
    }),
    option({
      flag: "authorization-webhook-cache-authorized-ttl",
      type: duration,
      default: 300_000,
      check: notNegative,
      doc: "How long its answer 'authorized' is kept.",
    }),
    option({
      flag: "authorization-webhook-cache-unauthorized-ttl",
      type: duration,
      default: 30_000,
      check: notNegative,
      doc: "How long its answer 'unauthorized' is kept.",
    }),
  ]);
