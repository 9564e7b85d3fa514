// Resource usage of the process, under the conventional Prometheus names.
import { readFileSync, readdirSync } from "node:fs";
import type { Metrics } from "./metrics.ts";
import { processStart } from "./process-start.ts";

export function processMetrics(metrics: Metrics): void {
  const gauge = (name: string, help: string) => metrics.gauge({ name, help }).with();
  const cpu = metrics
    .counter({
      name: "process_cpu_seconds_total",
      help: "Total user and system CPU time of the process in seconds.",
    })
    .with();
  const resident = gauge("process_resident_memory_bytes", "Resident memory size of the process in bytes.");
  const virtual = gauge("process_virtual_memory_bytes", "Virtual memory size of the process in bytes.");
  const mostVirtual = gauge(
    "process_virtual_memory_max_bytes",
    "Maximum amount of virtual memory available to the process in bytes; -1 means unlimited.",
  );
  const open = gauge("process_open_fds", "Number of open file descriptors of the process.");
  const most = gauge("process_max_fds", "Maximum number of file descriptors that the process may open.");
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
