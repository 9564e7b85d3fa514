// Has the work of the API server's bench done by a process of its own, and gives what it cost.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { groupOf } from "./paths.ts";

export interface Step {
  readonly step: string;
  readonly operations: number;
  readonly microsPerOperation: number;
  readonly perSecond: number;
  readonly residentMegabytes: number;
  /** Of the monotonic clock, in microseconds. */
  readonly began: number;
  readonly ended: number;
}

export interface Work {
  /** Its processor time is counted. */
  readonly server: { readonly url: string; readonly pid: number; readonly token: string };
  readonly objects: number;
  /** All of them, unless some are named. */
  readonly steps?: readonly string[];
  readonly onStep?: (step: Step) => void;
}

const script = join(import.meta.dirname, "apiserver-load.ts");

export async function doWork({ server, objects, steps, onStep }: Work): Promise<readonly Step[]> {
  const { url, pid, token } = server;
  const words = [url, pid, token, groupOf("events"), objects, ...(steps ? [steps.join(",")] : [])];
  const child = spawn(process.execPath, ["--conditions=orch-source", script, ...words.map(String)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const done: Step[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const step = JSON.parse(line) as Step;
    onStep?.(step);
    done.push(step);
  }
  const [code] = (await ended) as [number | null];
  if (code !== 0) throw new Error(`the work ended with ${code}`);
  return done;
}
