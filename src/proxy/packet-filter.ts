// Interface to the kernel's packet filter: nftables where available, otherwise iptables. Each write is one
// transaction.
import { spawn } from "node:child_process";
import {
  type IptablesOptions,
  type IptablesRules,
  iptablesJumps,
  iptablesRules,
  restoreChanges,
  restoreInput,
} from "./iptables.ts";
import { type NftablesOptions, nftablesBuilder } from "./nftables.ts";
import { type Ruleset, changeTable, replaceTable } from "./ruleset.ts";
import type { Family, ServicePort } from "./service-ports.ts";

export interface PacketFilter {
  readonly name: "nftables" | "iptables";
  readonly families: readonly Family[];
  /**
   * Makes the packet filter contain exactly the rules of these ports. Resolves with the size of the written
   * input.
   */
  write(ports: readonly ServicePort[]): Promise<number>;
  /** Reports whether the written rules are still in place. */
  isIntact(): Promise<boolean>;
  /** Removes all rules, including those of earlier processes. */
  remove(): Promise<void>;
}

export type RunCommand = (command: readonly string[], input?: string) => Promise<CommandOutcome>;
export interface CommandOutcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export const runCommand: RunCommand = ([program, ...args], input = "") =>
  new Promise((resolve) => {
    const child = spawn(program!, args, {
      stdio: ["pipe", "pipe", "pipe"],
      env: { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin`, LC_ALL: "C" },
    });
    const read = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const)
      child[name].setEncoding("utf8").on("data", (text: string) => {
        if (read[name].length < 1 << 22) read[name] += text;
      });
    child.once("error", (error) => resolve({ code: null, stdout: "", stderr: error.message }));
    child.once("close", (code) => resolve({ code, ...read }));
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });

async function runOrThrow(run: RunCommand, command: readonly string[], input?: string): Promise<string> {
  const { code, stdout, stderr } = await run(command, input);
  if (code === 0) return stdout;
  // The input may be long, so the error comes first in stderr.
  throw new Error(`${command.join(" ")}: ${stderr.trim().slice(0, 500) || `exited with code ${code}`}`);
}

const families: readonly Family[] = [4, 6];
const nftFamily = { 4: "ip", 6: "ip6" } as const;

export async function nftablesFilter(
  options: NftablesOptions,
  run: RunCommand = runCommand,
): Promise<PacketFilter | undefined> {
  const usable: Family[] = [];
  for (const family of families)
    if ((await run(["nft", "list", "tables", nftFamily[family]])).code === 0) usable.push(family);
  if (!usable.includes(4)) return undefined;
  const builder = nftablesBuilder(options);
  const applied = new Map<Family, Ruleset>();
  return {
    name: "nftables",
    families: usable,
    write: async (ports) => {
      const next = usable.map((family) => {
        const ruleset = builder.build(
          family,
          ports.filter((port) => port.family === family),
        );
        const before = applied.get(family);
        return { family, ruleset, text: before ? changeTable(before, ruleset) : replaceTable(ruleset) };
      });
      const text = next.map((each) => each.text).join("");
      if (text !== "") {
        // The state after a failure is unknown: the next write replaces everything.
        applied.clear();
        await runOrThrow(run, ["nft", "-f", "-"], text);
      }
      for (const { family, ruleset } of next) applied.set(family, ruleset);
      return text.length;
    },
    isIntact: async () => {
      for (const family of usable) {
        const { code } = await run(["nft", "list", "chain", nftFamily[family], options.table, "prerouting"]);
        if (code === 0) continue;
        applied.delete(family);
        return false;
      }
      return true;
    },
    remove: async () => {
      applied.clear();
      const tables = (await runOrThrow(run, ["nft", "list", "tables"])).split("\n");
      const ownTables = tables.filter((line) =>
        new RegExp(`^table ip6? ${options.table}$`).test(line.trim()),
      );
      if (ownTables.length > 0)
        await runOrThrow(
          run,
          ["nft", "-f", "-"],
          ownTables.map((line) => `delete ${line.trim()}\n`).join(""),
        );
    },
  };
}

const tables = ["nat", "filter"] as const;
const iptablesProgram = { 4: "iptables", 6: "ip6tables" } as const;

export async function iptablesFilter(
  options: IptablesOptions,
  run: RunCommand = runCommand,
): Promise<PacketFilter | undefined> {
  const usable: Family[] = [];
  for (const family of families)
    if ((await run([iptablesProgram[family], "-w", "-t", "nat", "-S", "OUTPUT"])).code === 0)
      usable.push(family);
  if (!usable.includes(4)) return undefined;
  const jumps = iptablesJumps(options.prefix);
  const chainsNow = async (family: Family): Promise<Record<"nat" | "filter", ReadonlySet<string>>> => {
    const found = { nat: new Set<string>(), filter: new Set<string>() };
    for (const table of tables)
      for (const line of (await runOrThrow(run, [iptablesProgram[family], "-w", "-t", table, "-S"])).split(
        "\n",
      )) {
        const name = /^-N (\S+)$/.exec(line)?.[1];
        if (name?.startsWith(options.prefix)) found[table].add(name);
      }
    return found;
  };
  const hasJump = async (family: Family, [table, chain, target]: (typeof jumps)[number]): Promise<boolean> =>
    (await run([iptablesProgram[family], "-w", "-t", table, "-C", chain, "-j", target])).code === 0;
  const applied = new Map<Family, IptablesRules>();
  return {
    name: "iptables",
    families: usable,
    write: async (ports) => {
      let size = 0;
      for (const family of usable) {
        const rules = iptablesRules(
          family,
          ports.filter((port) => port.family === family),
          options,
        );
        const before = applied.get(family);
        const text = before ? restoreChanges(before, rules) : restoreInput(rules, await chainsNow(family));
        // The state after a failure is unknown: the next write replaces everything.
        applied.delete(family);
        if (text !== "")
          await runOrThrow(run, [`${iptablesProgram[family]}-restore`, "-w", "--noflush"], text);
        size += text.length;
        for (const jump of before ? [] : jumps) {
          const [table, chain, target] = jump;
          if (!(await hasJump(family, jump)))
            await runOrThrow(run, [iptablesProgram[family], "-w", "-t", table, "-I", chain, "-j", target]);
        }
        applied.set(family, rules);
      }
      return size;
    },
    isIntact: async () => {
      for (const family of usable) {
        let intact = applied.has(family);
        for (const jump of jumps) intact &&= await hasJump(family, jump);
        if (intact) continue;
        applied.delete(family);
        return false;
      }
      return true;
    },
    remove: async () => {
      applied.clear();
      for (const family of usable) {
        for (const jump of jumps) {
          const [table, chain, target] = jump;
          if (await hasJump(family, jump))
            await runOrThrow(run, [iptablesProgram[family], "-w", "-t", table, "-D", chain, "-j", target]);
        }
        const none = { nat: new Map(), filter: new Map() };
        const text = restoreInput(none, await chainsNow(family));
        await runOrThrow(run, [`${iptablesProgram[family]}-restore`, "-w", "--noflush"], text);
      }
    },
  };
}
