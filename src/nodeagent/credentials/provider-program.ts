// Runs a credential provider program: a request on its input, a response on its output, one minute at most.
import { spawn } from "node:child_process";

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
    const added = Object.fromEntries(program.environment.map(({ name, value }) => [name, value]));
    const child = spawn(program.path, program.args, {
      env: { ...process.env, ...added },
      stdio: ["pipe", "pipe", "ignore"],
      signal: AbortSignal.any([signal, AbortSignal.timeout(longestMilliseconds)]),
      killSignal: "SIGKILL",
    });
    const chunks: Buffer[] = [];
    let size = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > mostOutputBytes) child.kill("SIGKILL");
      else chunks.push(chunk);
    });
    child.stdin.on("error", () => undefined);
    child.on("error", reject);
    child.on("close", (code, killedBy) => {
      if (code === 0 && size <= mostOutputBytes) resolve(Buffer.concat(chunks).toString());
      else reject(new Error(`credential provider failed: ${killedBy ?? `exit status ${code}`}`));
    });
    child.stdin.end(input);
  });
}
