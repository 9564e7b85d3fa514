// `/metrics/cadvisor`: all control groups of the machine, its pods and containers, in the Prometheus text
// format.
import type { CgroupUsage, InterfaceUsage } from "../resources/cgroup-usage.ts";
import type { DiskCounts } from "../resources/disk-traffic.ts";
import type { AllCgroupStats, FullCgroupStats } from "../resources/cgroup-stats.ts";
import type { Machine } from "../resources/machine.ts";
import type { NodeStats } from "../resources/stats.ts";
import { type Labels, type Series, formatFamily, scrapeError } from "./metrics-text.ts";

type Type = "counter" | "gauge";
type Usage = (usage: CgroupUsage, group: FullCgroupStats) => number;

const usageMetrics: [name: string, type: Type, help: string, value: Usage][] = [
  [
    "container_cpu_load_average_10s",
    "gauge",
    "Average number of runnable tasks over the last 10 seconds; not measured, always 0.",
    () => 0,
  ],
  [
    "container_cpu_system_seconds_total",
    "counter",
    "Cumulative system CPU time in seconds.",
    (usage) => usage.systemNanoseconds / 1e9,
  ],
  [
    "container_cpu_user_seconds_total",
    "counter",
    "Cumulative user CPU time in seconds.",
    (usage) => usage.userNanoseconds / 1e9,
  ],
  [
    "container_file_descriptors",
    "gauge",
    "Number of open file descriptors.",
    (_, { details }) => details.processes.descriptors,
  ],
  ["container_memory_cache", "gauge", "Size of the page cache in bytes.", (usage) => usage.cacheBytes],
  [
    "container_memory_failcnt",
    "counter",
    "Number of times the memory limit was hit.",
    (usage) => usage.memoryFailures,
  ],
  [
    "container_memory_mapped_file",
    "gauge",
    "Size of memory-mapped files in bytes.",
    (usage) => usage.mappedFileBytes,
  ],
  [
    "container_memory_max_usage_bytes",
    "gauge",
    "Maximum memory usage recorded in bytes.",
    (usage) => usage.mostMemoryBytes,
  ],
  ["container_memory_rss", "gauge", "Size of anonymous memory (RSS) in bytes.", (usage) => usage.rssBytes],
  ["container_memory_swap", "gauge", "Swap usage in bytes.", (usage) => usage.swapBytes],
  [
    "container_memory_usage_bytes",
    "gauge",
    "Current memory usage in bytes, including caches.",
    (usage) => usage.memoryBytes,
  ],
  [
    "container_memory_working_set_bytes",
    "gauge",
    "Current working set in bytes: memory usage less inactive page cache.",
    (usage, { container }) => container?.workingSetBytes ?? usage.workingSetBytes,
  ],
  [
    "container_oom_events_total",
    "counter",
    "Number of processes killed by the OOM killer.",
    (_, { details }) => details.oomKills,
  ],
  [
    "container_processes",
    "gauge",
    "Number of processes.",
    (usage, { container, details }) => (container ? details.processes.count : usage.processes),
  ],
  ["container_sockets", "gauge", "Number of open sockets.", (_, { details }) => details.processes.sockets],
  ["container_threads", "gauge", "Number of threads.", (usage) => usage.processes],
  [
    "container_threads_max",
    "gauge",
    "Maximum number of threads; 0 means unlimited.",
    (_, { details }) => details.mostThreads,
  ],
];

const specMetrics: [name: string, help: string, value: Usage][] = [
  ["container_spec_cpu_period", "CPU quota period in microseconds.", (_, { details }) => details.cpuPeriod],
  [
    "container_spec_cpu_shares",
    "CPU shares: the relative weight under contention.",
    (_, { details }) => details.cpuShares,
  ],
  [
    "container_spec_memory_limit_bytes",
    "Memory limit in bytes; 0 means unlimited.",
    (usage) => usage.memoryLimitBytes ?? 0,
  ],
  [
    "container_spec_memory_reservation_limit_bytes",
    "Memory reservation in bytes; 0 means none.",
    (_, { details }) => details.memoryReservationBytes,
  ],
  [
    "container_spec_memory_swap_limit_bytes",
    "Combined limit of memory and swap in bytes; 0 means unlimited.",
    (_, { details }) => details.swapLimitBytes,
  ],
  [
    "container_start_time_seconds",
    "Start time of the container in seconds since the Unix epoch.",
    (_, { startedAt }) => startedAt / 1000,
  ],
];

const throttlingMetrics: [name: string, help: string, value: (usage: CgroupUsage) => number][] = [
  [
    "container_cpu_cfs_periods_total",
    "Number of elapsed CPU quota enforcement periods.",
    (usage) => usage.periods,
  ],
  [
    "container_cpu_cfs_throttled_periods_total",
    "Number of CPU quota enforcement periods that were throttled.",
    (usage) => usage.throttledPeriods,
  ],
  [
    "container_cpu_cfs_throttled_seconds_total",
    "Total time in seconds during which the container was throttled.",
    (usage) => usage.throttledNanoseconds / 1e9,
  ],
];

const networkMetrics: [name: string, help: string, value: (one: InterfaceUsage) => number][] = [
  ["container_network_receive_bytes_total", "Cumulative count of bytes received.", (one) => one.rxBytes],
  [
    "container_network_receive_errors_total",
    "Cumulative count of errors while receiving.",
    (one) => one.rxErrors,
  ],
  [
    "container_network_receive_packets_dropped_total",
    "Cumulative count of packets dropped while receiving.",
    (one) => one.rxDropped,
  ],
  [
    "container_network_receive_packets_total",
    "Cumulative count of packets received.",
    (one) => one.rxPackets,
  ],
  ["container_network_transmit_bytes_total", "Cumulative count of bytes transmitted.", (one) => one.txBytes],
  [
    "container_network_transmit_errors_total",
    "Cumulative count of errors while transmitting.",
    (one) => one.txErrors,
  ],
  [
    "container_network_transmit_packets_dropped_total",
    "Cumulative count of packets dropped while transmitting.",
    (one) => one.txDropped,
  ],
  [
    "container_network_transmit_packets_total",
    "Cumulative count of packets transmitted.",
    (one) => one.txPackets,
  ],
];

/** Counts both for the machine's disks and for each group's share of them. */
const accessMetrics: [
  name: string,
  help: string,
  value: (one: Pick<DiskCounts, "reads" | "writes">) => number,
][] = [
  ["container_fs_reads_total", "Cumulative count of completed reads.", ({ reads }) => reads],
  ["container_fs_writes_total", "Cumulative count of completed writes.", ({ writes }) => writes],
];
const diskMetrics: [name: string, type: Type, help: string, value: (one: DiskCounts) => number][] = [
  ["container_fs_io_current", "gauge", "Number of I/O operations in progress.", (one) => one.underWay],
  [
    "container_fs_io_time_seconds_total",
    "counter",
    "Cumulative time in seconds with I/O operations in progress.",
    (one) => one.busyMilliseconds / 1000,
  ],
  [
    "container_fs_io_time_weighted_seconds_total",
    "counter",
    "Cumulative weighted I/O time in seconds.",
    (one) => one.weightedMilliseconds / 1000,
  ],
  [
    "container_fs_read_seconds_total",
    "counter",
    "Cumulative time in seconds spent reading.",
    (one) => one.readMilliseconds / 1000,
  ],
  [
    "container_fs_reads_merged_total",
    "counter",
    "Cumulative count of merged reads.",
    (one) => one.readsMerged,
  ],
  [
    "container_fs_sector_reads_total",
    "counter",
    "Cumulative count of sectors read.",
    (one) => one.readSectors,
  ],
  [
    "container_fs_sector_writes_total",
    "counter",
    "Cumulative count of sectors written.",
    (one) => one.writtenSectors,
  ],
  [
    "container_fs_write_seconds_total",
    "counter",
    "Cumulative time in seconds spent writing.",
    (one) => one.writeMilliseconds / 1000,
  ],
  [
    "container_fs_writes_merged_total",
    "counter",
    "Cumulative count of merged writes.",
    (one) => one.writesMerged,
  ],
];

const emptyLabels = { container: "", image: "", name: "", namespace: "", pod: "" };
const labelsOf = ({ id, pod, container }: FullCgroupStats): Labels => ({
  ...emptyLabels,
  id,
  ...(pod && { namespace: pod.namespace, pod: pod.name }),
  ...(container && { container: container.name, image: container.image, name: container.id }),
});

/** Formats the metrics of cgroups, disks and the machine. */
export function cadvisorText(
  nodeStats: NodeStats,
  { groups, disks, device }: AllCgroupStats,
  machine: Machine,
): string {
  const { at, pods } = nodeStats;
  const ofGroups = (value: Usage): Series[] =>
    groups.map((group) => ({ labels: labelsOf(group), value: value(group.usage, group) }));
  const each = (
    list: (group: FullCgroupStats) => readonly (readonly [more: Labels, value: number])[],
  ): Series[] =>
    groups.flatMap((group) =>
      list(group).map(([more, value]) => ({ labels: { ...labelsOf(group), ...more }, value })),
    );
  const onMachine = (values: readonly (readonly [device: string, value: number])[]): Series[] =>
    values.map(([name, value]) => ({ labels: { ...emptyLabels, id: "/", device: name }, value }));
  const limited = groups.filter(({ details }) => details.cpuQuota !== undefined);
  const texts = [
    formatFamily("cadvisor_version_info", "gauge", "Constant 1 with the kernel and OS versions as labels.", [
      {
        labels: {
          cadvisorRevision: "",
          cadvisorVersion: "",
          dockerVersion: "",
          kernelVersion: machine.kernelVersion,
          osVersion: machine.osImage,
        },
        value: 1,
      },
    ]),
    ...throttlingMetrics.map(([name, help, value]) =>
      formatFamily(
        name,
        "counter",
        help,
        limited.map((group) => ({ labels: labelsOf(group), value: value(group.usage) })),
        at,
      ),
    ),
    formatFamily(
      "container_cpu_usage_seconds_total",
      "counter",
      "Cumulative CPU time consumed in seconds.",
      each(({ usage, container }) => [
        [{ cpu: "total" }, (container?.cpu.nanoseconds ?? usage.cpuNanoseconds) / 1e9],
      ]),
      at,
    ),
    formatFamily(
      "container_fs_inodes_free",
      "gauge",
      "Number of free inodes of the file system.",
      onMachine([[device, nodeStats.disk.inodesFree]]),
      at,
    ),
    formatFamily(
      "container_fs_inodes_total",
      "gauge",
      "Total number of inodes of the file system.",
      onMachine([[device, nodeStats.disk.inodes]]),
      at,
    ),
    formatFamily(
      "container_fs_limit_bytes",
      "gauge",
      "Capacity of the file system in bytes.",
      onMachine([[device, nodeStats.disk.capacityBytes]]),
      at,
    ),
    formatFamily(
      "container_fs_usage_bytes",
      "gauge",
      "File system usage in bytes; for a container, the usage of its writable layer.",
      [
        ...onMachine([[device, nodeStats.disk.capacityBytes - nodeStats.disk.freeBytes]]),
        ...each(({ container }) => (container ? [[{ device }, container.rootfs.bytes]] : [])),
      ],
      at,
    ),
    ...accessMetrics.map(([name, help, value]) =>
      formatFamily(
        name,
        "counter",
        help,
        [
          ...onMachine(disks.map((one) => [one.device, value(one)])),
          ...each(({ id, details }) =>
            id === "/" ? [] : details.disks.map((one) => [{ device: one.device }, value(one)]),
          ),
        ],
        at,
      ),
    ),
    ...diskMetrics.map(([name, type, help, value]) =>
      formatFamily(name, type, help, onMachine(disks.map((one) => [one.device, value(one)])), at),
    ),
    formatFamily(
      "container_last_seen",
      "gauge",
      "Time the container was last seen, in seconds since the Unix epoch.",
      ofGroups(() => Math.floor(at / 1000)),
      at,
    ),
    formatFamily(
      "container_memory_failures_total",
      "counter",
      "Cumulative count of page faults, by type and scope.",
      each(({ usage, details }) => [
        [{ failure_type: "pgfault", scope: "container" }, details.ownPageFaults],
        [{ failure_type: "pgfault", scope: "hierarchy" }, usage.pageFaults],
        [{ failure_type: "pgmajfault", scope: "container" }, details.ownMajorPageFaults],
        [{ failure_type: "pgmajfault", scope: "hierarchy" }, usage.majorPageFaults],
      ]),
      at,
    ),
    ...usageMetrics.map(([name, type, help, value]) => formatFamily(name, type, help, ofGroups(value), at)),
    ...networkMetrics.map(([name, help, value]) =>
      formatFamily(
        name,
        "counter",
        help,
        [
          ...nodeStats.network.map((one) => ({
            labels: { ...emptyLabels, id: "/", interface: one.name },
            value: value(one),
          })),
          ...pods.flatMap((pod) =>
            pod.network.map((one) => ({
              labels: {
                ...emptyLabels,
                id: pod.group,
                interface: one.name,
                namespace: pod.namespace,
                pod: pod.name,
              },
              value: value(one),
            })),
          ),
        ],
        at,
      ),
    ),
    scrapeError("container_scrape_error", "", 0),
    formatFamily(
      "container_spec_cpu_quota",
      "gauge",
      "CPU quota per period in microseconds.",
      limited.map((group) => ({ labels: labelsOf(group), value: group.details.cpuQuota! })),
    ),
    ...specMetrics.map(([name, help, value]) => formatFamily(name, "gauge", help, ofGroups(value))),
    formatFamily(
      "container_tasks_state",
      "gauge",
      "Number of tasks, by state.",
      each(({ details: { processes } }) =>
        (["running", "sleeping", "stopped", "uninterruptible"] as const)
          .map((state): [Labels, number] => [{ state }, processes[state]])
          .concat([[{ state: "iowaiting" }, 0]]),
      ),
      at,
    ),
    formatFamily(
      "container_ulimits_soft",
      "gauge",
      "Soft resource limits of the first process of the container.",
      each(({ container, details }) =>
        container && details.processes.openFilesLimit !== undefined
          ? [[{ ulimit: "max_open_files" }, details.processes.openFilesLimit]]
          : [],
      ),
      at,
    ),
    machineText(machine),
  ];
  return texts.join("");
}

/** Returns the response if the stats could not be collected. */
export const failedCadvisorText = (machine: Machine): string =>
  scrapeError("container_scrape_error", "", 1) + machineText(machine);

export function machineText(machine: Machine): string {
  const machineLabels = {
    boot_id: machine.bootId,
    machine_id: machine.machineId,
    system_uuid: machine.systemUuid,
  };
  return [
    formatFamily("machine_cpu_cores", "gauge", "Number of logical CPU cores.", [
      { labels: machineLabels, value: machine.cpus },
    ]),
    formatFamily("machine_cpu_physical_cores", "gauge", "Number of physical CPU cores.", [
      { labels: machineLabels, value: machine.cores },
    ]),
    formatFamily("machine_cpu_sockets", "gauge", "Number of CPU sockets.", [
      { labels: machineLabels, value: machine.sockets },
    ]),
    formatFamily("machine_memory_bytes", "gauge", "Size of the machine's memory in bytes.", [
      { labels: machineLabels, value: machine.memoryBytes },
    ]),
    formatFamily(
      "machine_nvm_avg_power_budget_watts",
      "gauge",
      "Average power budget of non-volatile memory in watts; not detected, always 0.",
      [{ labels: machineLabels, value: 0 }],
    ),
    formatFamily(
      "machine_nvm_capacity",
      "gauge",
      "Capacity of non-volatile memory in bytes, by mode; not detected, always 0.",
      ["app_direct_mode", "memory_mode"].map((mode) => ({ labels: { ...machineLabels, mode }, value: 0 })),
    ),
    formatFamily(
      "machine_scrape_error",
      "gauge",
      "1 if there was an error while getting machine metrics, 0 otherwise.",
      [{ labels: {}, value: 0 }],
    ),
  ].join("");
}
