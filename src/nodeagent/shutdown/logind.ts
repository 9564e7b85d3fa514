// Client of systemd-logind: maximum shutdown delay, inhibitor lock, and shutdown signal.
import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Dbus } from "./dbus.ts";

export interface Logind {
  /** Returns the maximum delay of a shutdown by inhibitor locks, in seconds. */
  longestDelaySeconds(): Promise<number>;
  /** Requests a longer delay with a drop-in configuration file, and reloads logind. */
  overrideDelay(seconds: number): Promise<void>;
  /** Takes a delay inhibitor lock; resolves with a function that releases it. */
  inhibit(): Promise<() => void>;
  /** Calls the listener when a shutdown starts (true) or is cancelled (false). */
  onShutdown(listener: (begins: boolean) => void): Promise<void>;
  /** Resolves when the connection is lost. */
  readonly closed: Promise<void>;
  close(): void;
}

export interface LogindOptions {
  readonly bus: Dbus;
  /** Holder of the lock; the title is the capitalized form for messages. */
  readonly agent: string;
  readonly agentTitle: string;
  readonly configFolder?: string;
}

const manager = {
  destination: "org.freedesktop.login1",
  path: "/org/freedesktop/login1",
  interface: "org.freedesktop.login1.Manager",
};

const ownerOfLogind = {
  destination: "org.freedesktop.DBus",
  path: "/org/freedesktop/DBus",
  interface: "org.freedesktop.DBus",
  member: "GetNameOwner",
  signature: "s",
  body: [manager.destination],
};

export function logind({ bus, agent, agentTitle, configFolder }: LogindOptions): Logind {
  return {
    closed: bus.closed,
    close: () => bus.close(),
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
      bus.onSignal(({ interface: name, member, sender, body }) => {
        if (name !== manager.interface || member !== "PrepareForShutdown") return;
        // Any user of the machine can send a signal of this name.
        bus.call(ownerOfLogind).then(
          ([owner]) => owner === sender && listener(body[0] === true),
          () => undefined,
        );
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
 * Takes a delay inhibitor lock. It is a file descriptor passed by logind over the socket, which Node.js
 * cannot receive. So systemd-inhibit holds it while its program reads from our end of a pipe, and it is
 * released when the agent exits.
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
