// The client configuration of webhooks: the same for admission and for conversion of custom resources, but
// declared in each group.
import { bytes, int32, optional, pointer, required, string } from "#schema";
import { hiddenDefault } from "./extras.ts";
import type { admissionregistration, apiextensions } from "./packages.ts";

export function webhookClientIn({ message }: typeof admissionregistration | typeof apiextensions) {
  const ServiceReference = message("ServiceReference", "Reference to a service.", {
    namespace: required(1, string, "Namespace of the service."),
    name: required(2, string, "Name of the service."),
    path: pointer(3, string, "URL path of the requests to the service."),
    port: pointer(4, int32, "Port of the service; defaults to 443.", hiddenDefault(443)),
  });
  const WebhookClientConfig = message(
    "WebhookClientConfig",
    "Connection to a webhook; exactly one of url and service is set.",
    {
      url: pointer(3, string, "URL of the webhook, such as https://host:port/path."),
      service: optional(1, ServiceReference, "Service that serves the webhook, if it runs in the cluster."),
      caBundle: optional(
        2,
        bytes,
        "PEM-encoded CA bundle for verifying the certificate of the webhook; defaults to the system's roots.",
      ),
    },
  );
  return { ServiceReference, WebhookClientConfig };
}
