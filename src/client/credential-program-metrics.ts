// client-go's metrics of exec credential plugins. No program of ours runs such plugins: client configs that
// name one are rejected, so no certificate of a plugin is ever in use or rotated.
import type { Metrics } from "#base";

export function credentialProgramMetrics(metrics: Metrics): void {
  metrics
    .histogram({
      name: "rest_client_exec_plugin_certificate_rotation_age",
      help: "Lifetime in seconds of rotated exec plugin client certificates; always empty.",
      buckets: [
        600, 1800, 3600, 14_400, 86_400, 604_800, 2_592_000, 7_776_000, 15_552_000, 31_104_000, 124_416_000,
      ],
      stability: "ALPHA",
    })
    .with();
  metrics
    .gauge({
      name: "rest_client_exec_plugin_ttl_seconds",
      help: "Seconds until the next client certificate of an exec plugin expires; +Inf if there is none.",
      stability: "ALPHA",
    })
    .with()
    .set(Infinity);
}
