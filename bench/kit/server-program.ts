// The built API server as a separate process, so that its cost is what users pay.
import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../test/kit/free-port.ts";

export interface ServerProgram {
  readonly child: ChildProcess;
  readonly url: string;
  readonly startMilliseconds: number;
  stop(): Promise<void>;
}

const root = join(import.meta.dirname, "..", "..");
export const launcher = join(root, "bin", "orch-apiserver");

/** An administrator's token. */
export const token = "bench";

/** Starts the program with its files in a folder and waits until it is ready. */
export async function startProgram(
  [command, ...words]: readonly string[],
  folder: string,
  more: readonly string[] = [],
): Promise<ServerProgram> {
  mkdirSync(folder, { recursive: true });
  const file = (name: string): string => join(folder, name);
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  writeFileSync(file("accounts.key"), privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  writeFileSync(file("tokens.csv"), `${token},admin,admin,"system:masters"\n`, { mode: 0o600 });
  const flags = [
    `--data-dir=${file("data")}`,
    "--bind-address=127.0.0.1",
    `--cert-dir=${file("certificates")}`,
    `--token-auth-file=${file("tokens.csv")}`,
    "--authorization-mode=RBAC",
    "--service-account-issuer=https://issuer.test",
    `--service-account-signing-key-file=${file("accounts.key")}`,
    `--service-account-key-file=${file("accounts.key")}`,
    ...more,
  ];
  const port = await freePort();
  const began = performance.now();
  const child = spawn(command!, [...words, `--secure-port=${port}`, ...flags], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  };
  const url = `https://127.0.0.1:${port}`;
  while (!(await ready(url))) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    if (performance.now() - began > 30_000) {
      await stop();
      throw new Error("the server was not ready within 30 s");
    }
    await sleep(5);
  }
  return { child, url, startMilliseconds: performance.now() - began, stop };
}

function ready(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = request(
      `${url}/readyz`,
      { rejectUnauthorized: false, agent: false, headers: { authorization: `Bearer ${token}` } },
      (reply) => {
        reply.resume();
        resolve(reply.statusCode === 200);
      },
    );
    sent.on("error", () => resolve(false));
    sent.end();
  });
}
