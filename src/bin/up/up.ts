// `orch up`: a whole cluster on this machine, until Ctrl-C. Data stays; the next start finds it again.
import { mkdirSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { writePrivate } from "#authn";
import { systemClock } from "#base";
import { type Dialect, chosenDialect } from "#dialect";
import { answerOperator, settle, terminalWidth } from "#options";
import { admitAgent } from "./agent-access.ts";
import { type Credentials, credentialsFor } from "./credentials.ts";
import { type Loops, startLoops } from "./loops.ts";
import { type Places, placesFor } from "./places.ts";
import { choosePort } from "./ports.ts";
import { isAlive, readRunning, writeRunning } from "./running.ts";
import { agentChance, installRuntime, thisMachine } from "./runtime.ts";
import { type StatusView, firstCommand, statusView } from "./status-view.ts";
import { type ProcessPlan, type Supervised, supervise } from "./supervisor.ts";
import { type UpSettings, upOptions } from "./up-options.ts";

export interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** Where the other programs are, and how they are run. */
export interface Programs {
  pathOf(program: string): string;
  /** The words of the command line before the flags. */
  commandOf(program: string): readonly string[];
}

const accountRange = "10.96.0.0/16";

export async function upCommand(argv: readonly string[], programs: Programs, version: string, output: Output): Promise<number> {
  const cut = argv.indexOf("--");
  const own = cut < 0 ? argv : argv.slice(0, cut);
  const passed = cut < 0 ? [] : argv.slice(cut + 1);
  const choice = chosenDialect(own);
  if ("problem" in choice) {
    output.err(`error: ${choice.problem}\n`);
    return 1;
  }
  const { dialect } = choice;
  const settled = settle(upOptions(dialect), own);
  const answered = answerOperator(upOptions(dialect), settled, { version, width: terminalWidth(process.env, process.stdout.columns), ...output });
  if (answered !== undefined) return answered;
  return await run(dialect, settled.values, passed, programs, output);
}

async function run(dialect: Dialect, settings: UpSettings, passed: readonly string[], programs: Programs, output: Output): Promise<number> {
  const view = statusView(output.out);
  const places = placesFor(dialect, settings.dataDir);
  mkdirSync(places.root, { recursive: true, mode: 0o700 });
  const before = readRunning(places.running);
  if (before && isAlive(before)) {
    output.err(`error: this cluster is up already (process ${before.pid}, port ${before.port}); its client config is ${places.adminConfig}\n`);
    return 1;
  }
  if (settings.installRuntime) {
    const problem = installRuntime(thisMachine, (line) => view.say(line));
    if (problem !== undefined) {
      output.err(`error: ${problem}\n`);
      return 1;
    }
  }
  const port = await choosePort(settings.bindAddress, settings.port, before?.port);
  if (port === undefined) {
    output.err(`error: port ${settings.port || "6443 and those after it"} on ${settings.bindAddress} ${settings.port ? "is" : "are"} taken; choose another with --port\n`);
    return 1;
  }
  const nodeName = hostname().toLowerCase();
  const host = settings.bindAddress === "0.0.0.0" || settings.bindAddress === "::" ? "127.0.0.1" : settings.bindAddress;
  const server = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const credentials = credentialsFor({ places, dialect, server, bindAddress: settings.bindAddress, nodeName, now: Date.now() });
  writeRunning(places.running, { pid: process.pid, port, dialect: dialect.name, runtimeEndpoint: settings.runtimeEndpoint, up: true });
  view.say(`starting a cluster in ${places.root}`);
  const cluster = new Cluster(view);
  // Nothing else may keep the process alive while a part waits for its next start.
  const alive = setInterval(() => undefined, 2 ** 30);
  const stopped = stopRequest(cluster);
  let loops: Loops | undefined;
  try {
    const apiserver = cluster.start(apiserverPlan(dialect, settings, port, places, credentials, passed, programs));
    const up = await Promise.race([apiserver.ready.then(() => true), stopped.then(() => false)]);
    if (up) {
      loops = startLoops({ config: places.adminConfig, dialect, authorityFile: credentials.authorityFile, logFile: join(places.logs, "controllers.log") });
      const chance = agentChance(thisMachine, settings.runtimeEndpoint, programs.pathOf("nodeagent"));
      if (!settings.agent) view.say("  node agent   left out, as asked");
      else if (!chance.possible) view.say(`  node agent   left out: ${chance.why} (${chance.remedy})`);
      else {
        await admitAgent(places.adminConfig, dialect, nodeName);
        await Promise.race([cluster.start(await agentPlan(dialect, settings, places, credentials, programs)).ready.catch(() => undefined), stopped]);
      }
      view.say(`\nThe client config of its administrator is ${places.adminConfig}. Try:\n\n  ${firstCommand(places.adminConfig)}\n\nStop with Ctrl-C; everything is kept.`);
      view.say(`stopping: ${await stopped}`);
    }
    await loops?.stop();
    await cluster.stop();
    return 0;
  } catch (error) {
    await loops?.stop();
    await cluster.stop();
    output.err(`error: ${(error as Error).message}; its log is in ${places.logs}\n`);
    return 1;
  } finally {
    clearInterval(alive);
    writeRunning(places.running, { pid: process.pid, port, dialect: dialect.name, runtimeEndpoint: settings.runtimeEndpoint, up: false });
  }
}

/** The parts in the order they were started; they end the other way round. */
class Cluster {
  readonly #view: StatusView;
  readonly #parts: Supervised[] = [];
  constructor(view: StatusView) {
    this.#view = view;
  }

  start(plan: ProcessPlan): Supervised {
    const part = supervise(plan, systemClock, (state) => this.#view.part(plan.name, state));
    this.#parts.push(part);
    return part;
  }

  async stop(): Promise<void> {
    for (const part of this.#parts.toReversed()) await part.stop();
  }

  kill(): void {
    for (const part of this.#parts) part.kill();
  }
}

/** Resolves at the first signal; the second one ends everything at once. */
async function stopRequest(cluster: Cluster): Promise<string> {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  const first = await new Promise<string>((resolve) => {
    for (const signal of signals) process.once(signal, resolve);
  });
  for (const signal of signals) {
    process.removeAllListeners(signal);
    process.once(signal, () => {
      cluster.kill();
      process.exit(1);
    });
  }
  return first;
}

function apiserverPlan(dialect: Dialect, settings: UpSettings, port: number, places: Places, credentials: Credentials, passed: readonly string[], programs: Programs): ProcessPlan {
  const [command, ...before] = programs.commandOf("orch-apiserver");
  return {
    name: "API server",
    command: command!,
    logFile: join(places.logs, "apiserver.log"),
    patienceMilliseconds: 15_000,
    args: [
      ...before,
      `--dialect=${dialect.name}`,
      `--data-dir=${places.root}`,
      `--bind-address=${settings.bindAddress}`,
      `--secure-port=${port}`,
      `--tls-cert-file=${credentials.servingCertificate}`,
      `--tls-private-key-file=${credentials.servingKey}`,
      `--client-ca-file=${credentials.authorityFile}`,
      `--token-auth-file=${places.tokens}`,
      "--authorization-mode=RBAC",
      `--service-account-issuer=https://${dialect.data.apiService}.default.svc`,
      `--service-account-signing-key-file=${credentials.accountKey}`,
      `--service-account-key-file=${credentials.accountKey}`,
      `--service-cluster-ip-range=${accountRange}`,
      "--allow-privileged=true",
      `--nodeagent-certificate-authority=${credentials.authorityFile}`,
      `--nodeagent-client-certificate=${credentials.callingCertificate}`,
      `--nodeagent-client-key=${credentials.callingKey}`,
      "--shutdown-send-retry-after=true",
      "--shutdown-watch-termination-grace-period=1s",
      ...passed,
    ],
  };
}

async function agentPlan(dialect: Dialect, settings: UpSettings, places: Places, credentials: Credentials, programs: Programs): Promise<ProcessPlan> {
  writePrivate(places.agentSettings, `${JSON.stringify(await agentSettings(dialect, settings, credentials), undefined, 2)}\n`);
  const [command, ...before] = programs.commandOf("nodeagent");
  return {
    name: "node agent",
    command: command!,
    logFile: join(places.logs, "agent.log"),
    patienceMilliseconds: 15_000,
    args: [
      ...before,
      `--dialect=${dialect.name}`,
      `--${dialect.spelling.flag("orchconfig")}=${places.agentConfig}`,
      `--config=${places.agentSettings}`,
      `--root-dir=${places.agentRoot}`,
    ],
  };
}

/** Nobody is served whom the API server does not know and allow. */
async function agentSettings(dialect: Dialect, settings: UpSettings, credentials: Credentials): Promise<Record<string, unknown>> {
  const { nodeagentOptions } = await import("#nodeagent");
  return {
    ...nodeagentOptions(dialect).file![0],
    containerRuntimeEndpoint: settings.runtimeEndpoint,
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: credentials.authorityFile } },
    authorization: { mode: "Webhook" },
    tlsCertFile: credentials.agentServingCertificate,
    tlsPrivateKeyFile: credentials.agentServingKey,
  };
}
