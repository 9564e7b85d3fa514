// Runs the workload of the API server benchmark in a separate process and returns the cost.
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
  /** Monotonic time in microseconds. */
  readonly began: number;
  readonly ended: number;
}

export interface Work {
  /** The process whose CPU time is counted. */
  readonly server: { readonly url: string; readonly pid: number; readonly token: string };
  readonly objects: number;
  /** Steps to run; by default all. */
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
