// Runs a credential provider program: a request on its input, a response on its output, one minute at most.
import { spawn } from "node:child_process";
import { killGroup } from "../process-group.ts";

export interface ProviderProgram {
  readonly path: string;
  readonly args: readonly string[];
  /** Added to the agent's own environment; the later of two equal names wins. */
  readonly environment: readonly { readonly name: string; readonly value: string }[];
}

const longestMilliseconds = 60_000;
const mostOutputBytes = 1 << 20;

/** The program's output. Rejects when it fails, says too much or takes too long; what it wrote is not told. */
export function runProvider(program: ProviderProgram, input: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const child = spawn(program.path, program.args, {
      env: environmentOf(program),
      stdio: ["pipe", "pipe", "ignore"],
      detached: true,
    });
    const over = AbortSignal.any([signal, AbortSignal.timeout(longestMilliseconds)]);
    const stop = (why: Error): void => {
      over.removeEventListener("abort", stopped);
      killGroup(child);
      child.stdout.destroy();
      reject(why);
    };
    const stopped = (): void => stop(over.reason as Error);
    over.addEventListener("abort", stopped, { once: true });
    const chunks: Buffer[] = [];
    let size = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > mostOutputBytes)
        stop(new Error(`credential provider failed: its output is larger than ${mostOutputBytes} bytes`));
      else chunks.push(chunk);
    });
    child.stdin.on("error", () => undefined);
    child.on("error", stop);
    child.on("close", (code, killedBy) => {
      over.removeEventListener("abort", stopped);
      if (code === 0) resolve(Buffer.concat(chunks).toString());
      else reject(new Error(`credential provider failed: ${killedBy ?? `exit status ${code}`}`));
    });
    child.stdin.end(input);
  });
}

/** Where two have one name, the later one counts, and stands where it comes. */
function environmentOf({ environment }: ProviderProgram): NodeJS.ProcessEnv {
  const all = { ...process.env };
  for (const { name, value } of environment) {
    delete all[name];
    all[name] = value;
  }
  return all;
}
