// Resource usage of the process, under the conventional Prometheus names.
import { readFileSync, readdirSync } from "node:fs";
import type { Metrics } from "./metrics.ts";
import { processStart } from "./process-start.ts";

export function processMetrics(metrics: Metrics): void {
  const gauge = (name: string, help: string) => metrics.gauge({ name, help }).with();
  const cpu = metrics
    .counter({
      name: "process_cpu_seconds_total",
      help: "Seconds of processor time used, in user and system mode.",
    })
    .with();
  const resident = gauge("process_resident_memory_bytes", "Resident memory.");
  const virtual = gauge("process_virtual_memory_bytes", "Virtual memory.");
  const mostVirtual = gauge(
    "process_virtual_memory_max_bytes",
    "Virtual memory that the process may have; -1 is no limit.",
  );
  const open = gauge("process_open_fds", "Open file descriptors.");
  const most = gauge("process_max_fds", "Most file descriptors that may be open.");
  processStart(metrics);
  metrics.beforeScrape(() => {
    const { user, system } = process.cpuUsage();
    cpu.value = (user + system) / 1e6;
    resident.set(process.memoryUsage.rss());
    virtual.set(Number(found("/proc/self/status", /^VmSize:\s+(\d+) kB/m) ?? 0) * 1024);
    mostVirtual.set(Number(found("/proc/self/limits", /^Max address space\s+(\d+)/m) ?? -1));
    open.set(descriptors());
    most.set(Number(found("/proc/self/limits", /^Max open files\s+(\d+)/m) ?? 0));
  });
}

/** Returns a value from a file of procfs; undefined on other systems. */
function found(file: string, pattern: RegExp): string | undefined {
  try {
    return pattern.exec(readFileSync(file, "utf8"))?.[1];
  } catch {
    return undefined;
  }
}

function descriptors(): number {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return 0;
  }
}
