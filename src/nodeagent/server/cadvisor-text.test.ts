import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { silentLog } from "#base";
import { cgroupTree } from "../resources/cgroup-tree.ts";
import { collectCgroupStats } from "../resources/cgroup-stats.ts";
import { readMachine } from "../resources/machine.ts";
import type { NodeStats } from "../resources/stats.ts";
import { cadvisorText } from "./cadvisor-text.ts";

const disk = { capacityBytes: 100, availableBytes: 40, freeBytes: 40, inodes: 10, inodesFree: 4 };
const network = [
  {
    name: "eth0",
    rxBytes: 1,
    rxPackets: 2,
    rxErrors: 3,
    rxDropped: 4,
    txBytes: 5,
    txPackets: 6,
    txErrors: 7,
    txDropped: 8,
  },
];
const cpu = { nanoseconds: 2e9, nanoCores: 1 };
const container = {
  name: "main",
  id: "abc",
  image: "busybox:1",
  startedAt: 2000,
  cpu,
  workingSetBytes: 9,
  rootfs: { bytes: 10, inodes: 2 },
  logs: { bytes: 0, inodes: 0 },
};
const figures: NodeStats = {
  at: 1000,
  startedAt: 1000,
  cpu,
  memory: {
    availableBytes: 1,
    usageBytes: 2,
    workingSetBytes: 3,
    rssBytes: 4,
    pageFaults: 5,
    majorPageFaults: 6,
  },
  network,
  disk,
  images: { filesystem: disk, used: { bytes: 1, inodes: 1 } },
  processes: 3,
  podsGroup: undefined,
  pods: [
    {
      name: "p",
      namespace: "n",
      uid: "u",
      startedAt: 1000,
      group: "/pods/u",
      cpu,
      usage: undefined,
      network,
      containers: [container],
      volumes: [],
      files: { bytes: 0, inodes: 0 },
    },
  ],
};

/** Returns the cgroup files of one group, by cgroup version. */
const versions: Readonly<Record<1 | 2, (group: string) => Readonly<Record<string, string>>>> = {
  1: (group) => ({
    [`cpuacct${group}/cpuacct.usage`]: "5000000000\n",
    [`cpu${group}/cpu.shares`]: "102\n",
    [`cpu${group}/cpu.cfs_period_us`]: "100000\n",
    [`cpu${group}/cpu.cfs_quota_us`]: "20000\n",
    [`memory${group}/memory.usage_in_bytes`]: "1000\n",
    [`memory${group}/memory.stat`]: "pgfault 7\npgmajfault 1\ntotal_pgfault 70\n",
    [`memory${group}/memory.limit_in_bytes`]: "67108864\n",
    [`memory${group}/memory.soft_limit_in_bytes`]: "9223372036854771712\n",
    [`memory${group}/memory.oom_control`]: "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
    [`memory${group}/cgroup.procs`]: `${process.pid}\n`,
    [`pids${group}/pids.max`]: "max\n",
    [`blkio${group}/blkio.throttle.io_serviced_recursive`]:
      "8:0 Read 11\n8:0 Write 12\n8:0 Total 23\nTotal 23\n",
    [`blkio${group}/blkio.throttle.io_service_bytes_recursive`]: "8:0 Read 1100\n",
  }),
  2: (group) => ({
    [`.${group}/cpu.stat`]: "usage_usec 5000000\n",
    [`.${group}/cpu.weight`]: "4\n",
    [`.${group}/cpu.max`]: "20000 100000\n",
    [`.${group}/memory.current`]: "1000\n",
    [`.${group}/memory.max`]: "67108864\n",
    [`.${group}/memory.events`]: "oom_kill 2\n",
    [`.${group}/memory.stat`]: "pgfault 7\n",
    [`.${group}/cgroup.procs`]: `${process.pid}\n`,
    [`.${group}/io.stat`]: "8:0 rbytes=1100 wbytes=0 rios=11 wios=12 dbytes=0 dios=0\n",
  }),
};

async function textOf(t: TestContext, version: 1 | 2): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "groups-"));
  t.after(() => rm(root, { recursive: true }));
  for (const group of ["", "/pods", "/pods/u", "/pods/u/abc"]) {
    for (const [path, text] of Object.entries(versions[version](group))) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
  }
  const controllers = ["cpu", "cpuacct", "memory", "pids", "blkio", "io"];
  const tree = cgroupTree(
    version === 1
      ? { version, controllers: new Map(controllers.map((name) => [name, join(root, name)])) }
      : { version, path: root, controllers: new Set(controllers) },
    silentLog,
  );
  return cadvisorText(figures, await collectCgroupStats(figures, tree, "/pods", root), await readMachine());
}

for (const version of [1, 2] as const) {
  test(`a container's cgroup is reported in full from cgroup v${version} files`, async (t) => {
    const text = await textOf(t, version);
    const value = (name: string, more = ""): number => {
      const labels = `container="main",${more}id="/pods/u/abc",image="busybox:1",name="abc",namespace="n",pod="p"`;
      return Number(new RegExp(`^${name}\\{${labels}[^}]*\\} (\\S+)`, "m").exec(text)?.[1] ?? Number.NaN);
    };
    assert.deepEqual(
      [
        value("container_cpu_usage_seconds_total", 'cpu="total",'),
        value("container_memory_usage_bytes"),
        value("container_memory_working_set_bytes"),
        value("container_memory_failures_total", 'failure_type="pgfault",'),
        value("container_spec_cpu_quota"),
        value("container_spec_cpu_period"),
        value("container_spec_memory_limit_bytes"),
        value("container_spec_memory_reservation_limit_bytes"),
        value("container_oom_events_total"),
        value("container_threads_max"),
        value("container_processes"),
        value("container_fs_reads_total", 'device="/dev/[^"]+",'),
        value("container_fs_writes_total", 'device="/dev/[^"]+",'),
      ],
      [2, 1000, 9, 7, 20_000, 100_000, 67_108_864, 0, 2, 0, 1, 11, 12],
    );
    const shares = value("container_spec_cpu_shares");
    assert.ok(version === 1 ? shares === 102 : Math.abs(shares - 102) < 30, String(shares));
    assert.ok(value("container_file_descriptors") > 3 && value("container_ulimits_soft") > 0);
    assert.match(
      text,
      /^container_memory_usage_bytes\{container="",id="\/",image="",name="",namespace="",pod=""\} 2 1000$/m,
    );
  });
}

const recorded = new URL("../../../../shared/reference/node/http/metrics-cadvisor.json", import.meta.url);
test("every metric family is present with its type and labels", async (t) => {
  if (!existsSync(recorded)) return t.skip("no recorded metrics beside the repo");
  const text = await textOf(t, 1);
  const wanted = (
    JSON.parse(readFileSync(recorded, "utf8")) as {
      metrics: Record<string, { type: string; labels: string[]; timestamped?: boolean }>;
    }
  ).metrics;
  const found = Object.keys(wanted).map((name) => {
    const [type] = new RegExp(`(?<=^# TYPE ${name} )\\w+`, "m").exec(text) ?? [];
    const [, labels = "", at] = new RegExp(`^${name}(?:\\{(.*)\\})? \\S+( \\d+)?$`, "m").exec(text) ?? [];
    return [name, type, [...labels.matchAll(/(\w+)="/g)].map(([, label]) => label), at !== undefined];
  });
  assert.deepEqual(
    found,
    Object.entries(wanted).map(([name, { type, labels, timestamped }]) => [
      name,
      type,
      labels,
      timestamped ?? false,
    ]),
  );
});
