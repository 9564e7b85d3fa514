// Metrics of the service proxy.
import type { Metrics } from "#base";

export interface ProxyMetrics {
  written(seconds: number, bytes: number, services: number, ports: number): void;
  failed(): void;
}

export function proxyMetrics(metrics: Metrics, prefix: string): ProxyMetrics {
  const subsystem = `${prefix.replaceAll("-", "")}proxy`;
  const duration = metrics
    .histogram({
      name: `${subsystem}_sync_proxy_rules_duration_seconds`,
      help: "Latency in seconds of writing the proxy rules.",
    })
    .with();
  const bytes = metrics
    .counter({
      name: `${subsystem}_sync_proxy_rules_bytes_total`,
      help: "Total size in bytes of the transactions that wrote proxy rules.",
    })
    .with();
  const failures = metrics
    .counter({
      name: `${subsystem}_sync_proxy_rules_failures_total`,
      help: "Number of failed attempts to write the proxy rules.",
    })
    .with();
  const services = metrics
    .gauge({ name: `${subsystem}_services`, help: "Number of services handled by the proxy." })
    .with();
  const ports = metrics
    .gauge({ name: `${subsystem}_service_ports`, help: "Number of service ports handled by the proxy." })
    .with();
  return {
    written: (seconds, size, serviceCount, portCount) => {
      duration.observe(seconds);
      bytes.add(size);
      services.set(serviceCount);
      ports.set(portCount);
    },
    failed: () => failures.add(),
  };
}
