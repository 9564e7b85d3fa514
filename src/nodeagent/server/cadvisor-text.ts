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
    "Tasks that ran or wanted to, on average; not measured.",
    () => 0,
  ],
  [
    "container_cpu_system_seconds_total",
    "counter",
    "Processor time in the kernel.",
    (usage) => usage.systemNanoseconds / 1e9,
  ],
  [
    "container_cpu_user_seconds_total",
    "counter",
    "Processor time outside the kernel.",
    (usage) => usage.userNanoseconds / 1e9,
  ],
  ["container_file_descriptors", "gauge", "Open files.", (_, { details }) => details.processes.descriptors],
  ["container_memory_cache", "gauge", "Page cache.", (usage) => usage.cacheBytes],
  ["container_memory_failcnt", "counter", "How often the limit was hit.", (usage) => usage.memoryFailures],
  ["container_memory_mapped_file", "gauge", "Mapped files.", (usage) => usage.mappedFileBytes],
  [
    "container_memory_max_usage_bytes",
    "gauge",
    "Most memory in use so far.",
    (usage) => usage.mostMemoryBytes,
  ],
  ["container_memory_rss", "gauge", "Anonymous memory.", (usage) => usage.rssBytes],
  ["container_memory_swap", "gauge", "Swap in use.", (usage) => usage.swapBytes],
  ["container_memory_usage_bytes", "gauge", "Memory in use, caches included.", (usage) => usage.memoryBytes],
  [
    "container_memory_working_set_bytes",
    "gauge",
    "Memory in use that is not easily given back.",
    (usage, { container }) => container?.workingSetBytes ?? usage.workingSetBytes,
  ],
  [
    "container_oom_events_total",
    "counter",
    "Processes that were ended because memory ran out.",
    (_, { details }) => details.oomKills,
  ],
  [
    "container_processes",
    "gauge",
    "Processes.",
    (usage, { container, details }) => (container ? details.processes.count : usage.processes),
  ],
  ["container_sockets", "gauge", "Open sockets.", (_, { details }) => details.processes.sockets],
  ["container_threads", "gauge", "Threads.", (usage) => usage.processes],
  [
    "container_threads_max",
    "gauge",
    "Most threads there may be; 0 is no limit.",
    (_, { details }) => details.mostThreads,
  ],
];

const specMetrics: [name: string, help: string, value: Usage][] = [
  [
    "container_spec_cpu_period",
    "The period in which the quota counts, in microseconds.",
    (_, { details }) => details.cpuPeriod,
  ],
  [
    "container_spec_cpu_shares",
    "The share of the processors that it gets when others want them, too.",
    (_, { details }) => details.cpuShares,
  ],
  ["container_spec_memory_limit_bytes", "Memory limit; 0 is none.", (usage) => usage.memoryLimitBytes ?? 0],
  [
    "container_spec_memory_reservation_limit_bytes",
    "Memory kept for it; 0 is none.",
    (_, { details }) => details.memoryReservationBytes,
  ],
  [
    "container_spec_memory_swap_limit_bytes",
    "Limit of memory and swap together; 0 is none.",
    (_, { details }) => details.swapLimitBytes,
  ],
  [
    "container_start_time_seconds",
    "Start time in seconds since the epoch.",
    (_, { startedAt }) => startedAt / 1000,
  ],
];

const throttlingMetrics: [name: string, help: string, value: (usage: CgroupUsage) => number][] = [
  ["container_cpu_cfs_periods_total", "Elapsed enforcement periods.", (usage) => usage.periods],
  [
    "container_cpu_cfs_throttled_periods_total",
    "Throttled enforcement periods.",
    (usage) => usage.throttledPeriods,
  ],
  [
    "container_cpu_cfs_throttled_seconds_total",
    "Time throttled.",
    (usage) => usage.throttledNanoseconds / 1e9,
  ],
];

const networkMetrics: [name: string, help: string, value: (one: InterfaceUsage) => number][] = [
  ["container_network_receive_bytes_total", "Bytes received.", (one) => one.rxBytes],
  ["container_network_receive_errors_total", "Errors while receiving.", (one) => one.rxErrors],
  [
    "container_network_receive_packets_dropped_total",
    "Packets dropped while receiving.",
    (one) => one.rxDropped,
  ],
  ["container_network_receive_packets_total", "Packets received.", (one) => one.rxPackets],
  ["container_network_transmit_bytes_total", "Bytes sent.", (one) => one.txBytes],
  ["container_network_transmit_errors_total", "Errors while sending.", (one) => one.txErrors],
  [
    "container_network_transmit_packets_dropped_total",
    "Packets dropped while sending.",
    (one) => one.txDropped,
  ],
  ["container_network_transmit_packets_total", "Packets sent.", (one) => one.txPackets],
];

/** Counts both for the machine's disks and for each group's share of them. */
const accessMetrics: [
  name: string,
  help: string,
  value: (one: Pick<DiskCounts, "reads" | "writes">) => number,
][] = [
  ["container_fs_reads_total", "Reads.", ({ reads }) => reads],
  ["container_fs_writes_total", "Writes.", ({ writes }) => writes],
];
const diskMetrics: [name: string, type: Type, help: string, value: (one: DiskCounts) => number][] = [
  ["container_fs_io_current", "gauge", "Requests under way.", (one) => one.underWay],
  [
    "container_fs_io_time_seconds_total",
    "counter",
    "Time with requests under way.",
    (one) => one.busyMilliseconds / 1000,
  ],
  [
    "container_fs_io_time_weighted_seconds_total",
    "counter",
    "Time of all requests together.",
    (one) => one.weightedMilliseconds / 1000,
  ],
  ["container_fs_read_seconds_total", "counter", "Time spent reading.", (one) => one.readMilliseconds / 1000],
  ["container_fs_reads_merged_total", "counter", "Reads that were made one.", (one) => one.readsMerged],
  ["container_fs_sector_reads_total", "counter", "Sectors read.", (one) => one.readSectors],
  ["container_fs_sector_writes_total", "counter", "Sectors written.", (one) => one.writtenSectors],
  [
    "container_fs_write_seconds_total",
    "counter",
    "Time spent writing.",
    (one) => one.writeMilliseconds / 1000,
  ],
  ["container_fs_writes_merged_total", "counter", "Writes that were made one.", (one) => one.writesMerged],
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
    formatFamily("cadvisor_version_info", "gauge", "The kernel and the system, as labels of a constant 1.", [
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
      "Processor time.",
      each(({ usage, container }) => [
        [{ cpu: "total" }, (container?.cpu.nanoseconds ?? usage.cpuNanoseconds) / 1e9],
      ]),
      at,
    ),
    formatFamily(
      "container_fs_inodes_free",
      "gauge",
      "Files that can still be made.",
      onMachine([[device, nodeStats.disk.inodesFree]]),
      at,
    ),
    formatFamily(
      "container_fs_inodes_total",
      "gauge",
      "Files that there can be.",
      onMachine([[device, nodeStats.disk.inodes]]),
      at,
    ),
    formatFamily(
      "container_fs_limit_bytes",
      "gauge",
      "Bytes that the file system holds.",
      onMachine([[device, nodeStats.disk.capacityBytes]]),
      at,
    ),
    formatFamily(
      "container_fs_usage_bytes",
      "gauge",
      "Bytes of the file system in use; of a container, those in its own layer.",
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
      "When it was last seen.",
      ofGroups(() => Math.floor(at / 1000)),
      at,
    ),
    formatFamily(
      "container_memory_failures_total",
      "counter",
      "Page faults.",
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
      "Processor time in each period, in microseconds.",
      limited.map((group) => ({ labels: labelsOf(group), value: group.details.cpuQuota! })),
    ),
    ...specMetrics.map(([name, help, value]) => formatFamily(name, "gauge", help, ofGroups(value))),
    formatFamily(
      "container_tasks_state",
      "gauge",
      "Tasks by what they are at.",
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
      "Limits of the first process.",
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
    formatFamily("machine_cpu_cores", "gauge", "Logical processors.", [
      { labels: machineLabels, value: machine.cpus },
    ]),
    formatFamily("machine_cpu_physical_cores", "gauge", "Processor cores.", [
      { labels: machineLabels, value: machine.cores },
    ]),
    formatFamily("machine_cpu_sockets", "gauge", "Processor sockets.", [
      { labels: machineLabels, value: machine.sockets },
    ]),
    formatFamily("machine_memory_bytes", "gauge", "Memory of the machine.", [
      { labels: machineLabels, value: machine.memoryBytes },
    ]),
    formatFamily(
      "machine_nvm_avg_power_budget_watts",
      "gauge",
      "Power that lasting memory may draw; none is looked for.",
      [{ labels: machineLabels, value: 0 }],
    ),
    formatFamily(
      "machine_nvm_capacity",
      "gauge",
      "Lasting memory by its use; none is looked for.",
      ["app_direct_mode", "memory_mode"].map((mode) => ({ labels: { ...machineLabels, mode }, value: 0 })),
    ),
    formatFamily("machine_scrape_error", "gauge", "1 if the machine could not be read, 0 otherwise.", [
      { labels: {}, value: 0 },
    ]),
  ].join("");
}
