// Memory and CPU of an idle `orch up` by process, without the container runtime. Runs in a separate network
// namespace; needs root and containerd. "resident" counts shared pages (mostly the Node executable) in every
// process, "proportional" divides them.
//
//   npm run bench -- idle-cluster [--settle-seconds=30] [--idle-seconds=30]
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "#kit";
import { givenNumber } from "./kit/given.ts";
import { inOwnNetwork, ip } from "./kit/own-network.ts";

const settleSeconds = givenNumber("settle-seconds", 30);
const idleSeconds = givenNumber("idle-seconds", 30);
const orch = join(import.meta.dirname, "..", "bin", "orch");

await inOwnNetwork(import.meta.filename, measure);

async function measure(): Promise<void> {
  ip(
    "link set lo up",
    "link add eth0 type veth peer name eth1",
    "link set eth1 up",
    "addr add 192.0.2.1/24 dev eth0",
    "link set eth0 up",
    "route add default via 192.0.2.2",
  );
  const folder = mkdtempSync(join(tmpdir(), "orch-bench-"));
  const up = spawn(orch, ["up", `--data-dir=${folder}`, "--install-runtime"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => up.once("exit", () => resolve()));
  let output = "";
  up.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  try {
    const parts = ["API server", "node agent", "network"];
    await until(
      () => Promise.resolve(`the cluster is ready:\n${output}`),
      () => Promise.resolve(parts.every((part) => new RegExp(`${part} +ready`).test(output))),
    );
    await sleep(settleSeconds * 1000);
    const before = processesOf(up.pid!);
    await sleep(idleSeconds * 1000);
    const after = processesOf(up.pid!);
    let sum = { resident: 0, proportional: 0, cpu: 0 };
    for (const each of after) {
      const cpu = (each.cpuMilliseconds - (before.find(({ pid }) => pid === each.pid)?.cpuMilliseconds ?? 0)) / idleSeconds; // prettier-ignore
      tell(each.program, { ...each, cpu });
      if (each.isOurs)
        sum = {
          resident: sum.resident + each.resident,
          proportional: sum.proportional + each.proportional,
          cpu: sum.cpu + cpu,
        };
    }
    tell("all of ours", sum);
  } finally {
    up.kill("SIGINT");
    await ended;
    spawnSync(orch, ["down", "--purge", `--data-dir=${folder}`], { stdio: "ignore" });
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Process {
  readonly pid: number;
  readonly program: string;
  readonly isOurs: boolean;
  /** Megabytes. */
  readonly resident: number;
  readonly proportional: number;
  readonly cpuMilliseconds: number;
}

/** The process and its children. */
function processesOf(parent: number): Process[] {
  return readdirSync("/proc").flatMap((name) => {
    const pid = Number(name);
    if (!(pid > 0)) return [];
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const parentOf = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
      if (pid !== parent && parentOf !== parent) return [];
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      const program = words.map((word) => basename(word)).find((word) => /^(orch|nodeagent)/.test(word));
      const memory = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
      const megabytes = (field: string): number =>
        Number(new RegExp(`^${field}: +(\\d+)`, "m").exec(memory)![1]) / 1024;
      const nanoseconds = readdirSync(`/proc/${pid}/task`)
        .map((task) => Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]))
        .reduce((sum, each) => sum + each, 0);
      return [
        {
          pid,
          program: program ?? basename(words[0]!),
          isOurs: program !== undefined,
          resident: megabytes("Rss"),
          proportional: megabytes("Pss"),
          cpuMilliseconds: nanoseconds / 1e6,
        },
      ];
    } catch {
      return [];
    }
  });
}

function tell(
  what: string,
  cost: { readonly resident: number; readonly proportional: number; readonly cpu: number },
): void {
  console.log(
    `${what}: ${cost.resident.toFixed(0)} MB resident, ${cost.proportional.toFixed(0)} MB proportional, ${cost.cpu.toFixed(1)} ms of CPU a second`,
  );
}
