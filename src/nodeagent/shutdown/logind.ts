// The system's login manager: how long it lets a shutdown wait, the lock that makes it wait, and its signal.
import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Dbus } from "./dbus.ts";

export interface Logind {
  /** The most that a shutdown waits for locks, in seconds. */
  longestDelaySeconds(): Promise<number>;
  /** Asks for a longer one by a file beside the login manager's own, and has it read. */
  overrideDelay(seconds: number): Promise<void>;
  /** Holds a shutdown up; gives what lets it go on. */
  inhibit(): Promise<() => void>;
  /** Told when a shutdown begins (true) or is called off (false). */
  onShutdown(listener: (begins: boolean) => void): Promise<void>;
  /** Resolves when it cannot be heard any more. */
  readonly closed: Promise<void>;
}

export interface LogindOptions {
  readonly bus: Dbus;
  /** Who holds the lock, and in capitals for people. */
  readonly agent: string;
  readonly agentTitle: string;
  readonly configFolder?: string;
}

const manager = {
  destination: "org.freedesktop.login1",
  path: "/org/freedesktop/login1",
  interface: "org.freedesktop.login1.Manager",
};

export function logind({ bus, agent, agentTitle, configFolder }: LogindOptions): Logind {
  return {
    closed: bus.closed,
    longestDelaySeconds: async () => {
      const [value] = await bus.call({
        ...manager,
        interface: "org.freedesktop.DBus.Properties",
        member: "Get",
        signature: "ss",
        body: [manager.interface, "InhibitDelayMaxUSec"],
      });
      return Number(value) / 1e6;
    },
    overrideDelay: async (seconds) => {
      const folder = configFolder ?? "/etc/systemd/logind.conf.d";
      await mkdir(folder, { recursive: true, mode: 0o755 });
      const text = `# ${agentTitle} logind override\n[Login]\nInhibitDelayMaxSec=${seconds}\n`;
      await writeFile(join(folder, `99-${agent}.conf`), text, { mode: 0o644 });
      await bus.call({
        destination: "org.freedesktop.systemd1",
        path: "/org/freedesktop/systemd1",
        interface: "org.freedesktop.systemd1.Manager",
        member: "KillUnit",
        signature: "ssi",
        body: ["systemd-logind.service", "all", 1],
      });
    },
    inhibit: () => holdLock(agent, agentTitle),
    onShutdown: async (listener) => {
      bus.onSignal(({ interface: name, member, body }) => {
        if (name === manager.interface && member === "PrepareForShutdown") listener(body[0] === true);
      });
      await bus.call({
        destination: "org.freedesktop.DBus",
        path: "/org/freedesktop/DBus",
        interface: "org.freedesktop.DBus",
        member: "AddMatch",
        signature: "s",
        body: [`type='signal',interface='${manager.interface}',member='PrepareForShutdown'`],
      });
    },
  };
}

/**
 * The lock is an open file that the login manager passes over the socket, which this runtime cannot receive:
 * systemd-inhibit holds it for as long as its program reads our end of a pipe, so it ends with the agent, too.
 */
async function holdLock(agent: string, title: string): Promise<() => void> {
  const why = `${title} needs time to handle node shutdown`;
  const child = spawn(
    "systemd-inhibit",
    ["--what=shutdown", `--who=${agent}`, `--why=${why}`, "--mode=delay", "sh", "-c", "echo held; exec cat"],
    { stdio: ["pipe", "pipe", "ignore"] },
  );
  await new Promise<void>((resolve, reject) => {
    child.stdout.once("data", () => resolve());
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`systemd-inhibit ended with ${code}`)));
  });
  child.unref();
  return () => void child.stdin.destroy();
}
