// The client configuration of webhooks: the same for admission and for conversion of custom resources, but
// declared in each group.
import { bytes, int32, optional, pointer, required, string } from "#schema";
import { hiddenDefault } from "./extras.ts";
import type { admissionregistration, apiextensions } from "./packages.ts";

export function webhookClientIn({ message }: typeof admissionregistration | typeof apiextensions) {
  const ServiceReference = message("ServiceReference", "A service that answers.", {
    namespace: required(1, string, "Namespace of the service."),
    name: required(2, string, "Name of the service."),
    path: pointer(3, string, "Path to ask for."),
    port: pointer(4, int32, "Port of the service.", hiddenDefault(443)),
  });
  const WebhookClientConfig = message(
    "WebhookClientConfig",
    "How the webhook is reached; url or service is set.",
    {
      url: pointer(3, string, "Its address."),
      service: optional(1, ServiceReference, "The service it is behind."),
      caBundle: optional(2, bytes, "Certificates that its own is checked against, in PEM."),
    },
  );
  return { ServiceReference, WebhookClientConfig };
}
