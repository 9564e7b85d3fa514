// Metrics of the service proxy.
import type { Metrics } from "#base";

export interface ProxyMetrics {
  written(seconds: number, bytes: number, services: number, ports: number): void;
  failed(): void;
}

export function proxyMetrics(metrics: Metrics, prefix: string): ProxyMetrics {
  const subsystem = `${prefix.replaceAll("-", "")}proxy`;
  const duration = metrics
    .histogram({ name: `${subsystem}_sync_proxy_rules_duration_seconds`, help: "Time of one write." })
    .with();
  const bytes = metrics
    .counter({ name: `${subsystem}_sync_proxy_rules_bytes_total`, help: "Size of all transactions." })
    .with();
  const failures = metrics
    .counter({ name: `${subsystem}_sync_proxy_rules_failures_total`, help: "Writes that failed." })
    .with();
  const services = metrics.gauge({ name: `${subsystem}_services`, help: "Services that are served." }).with();
  const ports = metrics.gauge({ name: `${subsystem}_service_ports`, help: "Their ports." }).with();
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
