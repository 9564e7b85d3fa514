// Runs the built bin/orch-apiserver as a separate process, on a free loopback port and with a temporary
// directory.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { DialectName } from "#dialect";
import { freePort } from "./free-port.ts";

const launcher = join(import.meta.dirname, "..", "..", "bin", "orch-apiserver");
const usualReadySeconds = 90;

export interface ApiserverOptions {
  readonly dialect?: DialectName;
  /** Additional flags, placed last so that they take precedence. */
  readonly flags?: readonly string[];
  /** Command line up to the flags, if it is not the built program. */
  readonly command?: readonly string[];
  /** Maximum duration of a start. */
  readonly readyWithinSeconds?: number;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface RunningApiserver extends AsyncDisposable {
  readonly url: string;
  /** The token of an administrator. */
  readonly token: string;
  /** The certificate authority to trust, as PEM text. */
  readonly ca: string;
  /** Path of a kubeconfig file for kubectl. */
  readonly kubeconfig: string;
  /** A directory for further files of the test; removed with the server. */
  readonly folder: string;
  readonly pid: number;
  /** The output of the server so far. */
  log(): string;
  /** Sends a request as the administrator. */
  call(method: string, path: string, body?: unknown, contentType?: string): Promise<Answer>;
  /** Requests a shutdown and waits for it; resolves to the exit code. */
  stop(): Promise<number | null>;
  kill9(): Promise<void>;
  /** Restarts the server on the same data and port, stopping it first if it is running. */
  restart(): Promise<void>;
}

/** Starts a server and waits until it is ready. Disposing of it stops it and removes its directory. */
export async function startApiserver({
  dialect = "orch",
  flags = [],
  command = [launcher],
  readyWithinSeconds = usualReadySeconds,
}: ApiserverOptions = {}): Promise<RunningApiserver> {
  const folder = mkdtempSync(join(tmpdir(), "orch-e2e-"));
  const port = await freePort();
  const url = `https://127.0.0.1:${port}`;
  const token = "admin-token";
  const certificate = join(folder, "server.crt");
  const key = join(folder, "server.key");
  const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"];
  execFileSync(
    "openssl",
    [
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
      "-days",
      "2",
      ...subject,
      "-keyout",
      key,
      "-out",
      certificate,
    ],
    {
      stdio: "ignore",
    },
  );
  const accountKey = join(folder, "service-accounts.key");
  execFileSync(
    "openssl",
    ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", accountKey],
    { stdio: "ignore" },
  );
  const tokens = join(folder, "tokens.csv");
  writeFileSync(tokens, `${token},admin,admin,"system:masters"\n`, { mode: 0o600 });
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, clientConfig(url, certificate, token), { mode: 0o600 });
  const ca = readFileSync(certificate, "utf8");
  const logFile = join(folder, "server.log");
  const args = [
    `--dialect=${dialect}`,
    `--data-dir=${join(folder, "data")}`,
    `--secure-port=${port}`,
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1",
    `--tls-cert-file=${certificate}`,
    `--tls-private-key-file=${key}`,
    `--token-auth-file=${tokens}`,
    "--authorization-mode=RBAC",
    "--service-account-issuer=https://issuer.test",
    `--service-account-signing-key-file=${accountKey}`,
    `--service-account-key-file=${accountKey}`,
    "--service-cluster-ip-range=10.0.0.0/24",
    // Open watches of a test must not delay the shutdown.
    "--shutdown-watch-termination-grace-period=1s",
    ...flags,
  ];
  const log = (): string => readFileSync(logFile, "utf8");
  const call = (
    method: string,
    path: string,
    body?: unknown,
    contentType = "application/json",
  ): Promise<Answer> => {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { "content-type": contentType }),
    };
    return ask(
      new URL(path, url),
      { method, headers, ca },
      body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body),
    );
  };

  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const output = openSync(logFile, "a");
    const started = spawn(command[0]!, [...command.slice(1), ...args], { stdio: ["ignore", output, output] });
    closeSync(output);
    child = started;
    for (const deadline = Date.now() + readyWithinSeconds * 1000; Date.now() < deadline; await sleep(20)) {
      if (started.exitCode !== null || started.signalCode !== null)
        throw new Error(`the server ended with ${started.exitCode ?? started.signalCode}:\n${tail(log())}`);
      const answer = await call("GET", "/readyz").catch(() => undefined);
      if (answer?.status === 200) return;
    }
    started.kill("SIGKILL");
    throw new Error(`the server was not ready within ${readyWithinSeconds} s:\n${tail(log())}`);
  };
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    const ending = child;
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return ending?.exitCode ?? null;
    const ended = new Promise<number | null>((resolve) => ending.once("exit", (code) => resolve(code)));
    ending.kill(signal);
    return await ended;
  };

  const server: RunningApiserver = {
    url,
    token,
    ca,
    kubeconfig,
    folder,
    get pid() {
      return child!.pid!;
    },
    log,
    call,
    stop: () => end("SIGTERM"),
    kill9: async () => void (await end("SIGKILL")),
    restart: async () => {
      await end("SIGTERM");
      await start();
    },
    [Symbol.asyncDispose]: async () => {
      await end("SIGTERM");
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await start();
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
  return server;
}

function ask(
  url: URL,
  options: { method: string; headers: Record<string, string>; ca: string },
  body: string | undefined,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { ...options, agent: false, timeout: 30_000 }, (reply) => {
      let text = "";
      reply.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      reply.on("end", () => resolve({ status: reply.statusCode ?? 0, body: text }));
      reply.on("error", reject);
    });
    sent.on("timeout", () => sent.destroy(new Error(`no answer from ${url.href}`)));
    sent.on("error", reject);
    sent.end(body);
  });
}

const tail = (text: string): string => text.split("\n").slice(-20).join("\n");

const clientConfig = (url: string, certificate: string, token: string): string => `apiVersion: v1
kind: Config
current-context: test
clusters: [{ name: test, cluster: { server: "${url}", certificate-authority: "${certificate}" } }]
users: [{ name: admin, user: { token: "${token}" } }]
contexts: [{ name: test, context: { cluster: test, user: admin } }]
`;
