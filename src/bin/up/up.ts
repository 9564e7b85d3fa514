// `orch up`: runs a whole cluster on this machine until Ctrl-C. Data is kept for the next start.
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { hostAndPort, minorOf, systemClock } from "#base";
import type { Dialect } from "#dialect";
import { knownGates, resolveGates } from "#options";
import { ownMemory, returnMemory } from "../memory-return.ts";
import type { Output } from "../output.ts";
import { dropNodeBinding } from "./agent-access.ts";
import { claimFolder } from "./claim.ts";
import { type Credentials, createsAuthorityForData, credentialsFor, outsideAddress } from "./credentials.ts";
import { clusterCommand } from "./cluster-command.ts";
import { Cluster, waitUntilReady, stopRequest } from "./cluster-processes.ts";
import { type RunningControllerManager, startControllerManager } from "./controller-manager.ts";
import { type ClusterPaths, pathsFor } from "./paths.ts";
import { stopLeftover } from "./own-runtime-end.ts";
import { ownRuntimePlan, runsPods, supplySandboxImage } from "./own-runtime.ts";
import {
  type Relay,
  addLocalAddress,
  localAddressOf,
  removeLocalAddress,
  startRelay,
} from "./local-address.ts";
import { refuseNode } from "./membership.ts";
import { type NetworkPlan, networkPlans, podRange } from "./network-plans.ts";
import { announcePodRange, podRangeIn } from "./pod-range.ts";
import { prepareJoin } from "./join-access.ts";
import { type ClusterPlan, type Programs, agentPlan, apiserverPlan, isLoopback } from "./plans.ts";
import { choosePort } from "./ports.ts";
import { foreignPods } from "./foreign-pods.ts";
import { type Running, readRunning, writeRunning } from "./running.ts";
import { preflight, installRuntime, thisMachine } from "./preflight.ts";
import { type StatusView, firstCommand, statusView } from "./status-view.ts";
import type { Supervised } from "./supervisor.ts";
import { leaveRuntime } from "./cleanup.ts";
import { makeUiLink } from "./ui-link.ts";
import { type UpSettings, upOptions, defaultEndpoint } from "./up-options.ts";

interface UpRequest {
  readonly dialect: Dialect;
  readonly settings: UpSettings;
  /** Flags passed on to the API server. */
  readonly passed: readonly string[];
  readonly programs: Programs;
  readonly paths: ClusterPaths;
}

export function upCommand(argv: readonly string[], programs: Programs, output: Output): Promise<number> {
  const separator = argv.indexOf("--");
  const own = separator < 0 ? argv : argv.slice(0, separator);
  const passed = separator < 0 ? [] : argv.slice(separator + 1);
  return clusterCommand(upOptions, own, output, async ({ dialect, settings }) => {
    const paths = pathsFor(dialect, settings.dataDir);
    const release = claimFolder(paths.root);
    if (!release) throw new Error(runningText(readRunning(paths.running), paths));
    try {
      refuseNode(paths);
      await run({ dialect, settings, passed, programs, paths }, statusView(output.out));
      return 0;
    } finally {
      release();
    }
  });
}

const runningText = (running: Running | undefined, paths: ClusterPaths): string =>
  `this cluster is already running${running ? ` (process ${running.pid}, port ${running.port})` : ""}; its client config is ${paths.adminConfig}`;

/** Runs until a signal arrives; throws if the cluster cannot run. */
async function run(request: UpRequest, view: StatusView): Promise<void> {
  const { dialect, settings, paths } = request;
  const before = readRunning(paths.running);
  const ownRuntime = await wantsOwnRuntime(request, before, view);
  const choice = await choosePort({
    host: settings.bindAddress,
    defaultPort: 6443,
    requested: settings.port,
    previous: before?.port ?? 0,
  });
  if ("problem" in choice) throw new Error(choice.problem);
  // Keep the previous record's fields: a purge needs them even if this start fails.
  let running: Running = {
    dialect: dialect.name,
    runtimeEndpoint: "",
    ...before,
    pid: process.pid,
    port: choice.port,
    up: true,
  };
  const updateRunning = (more: Partial<Running>): void =>
    writeRunning(paths.running, (running = { ...running, ...more }));
  updateRunning({});
  try {
    await runCluster(
      ownRuntime
        ? { ...request, settings: { ...settings, runtimeEndpoint: paths.runtime.endpoint } }
        : request,
      choice.port,
      view,
      updateRunning,
    );
  } finally {
    try {
      updateRunning({ up: false });
    } catch {
      // The old record is detected as stale once this process has exited.
    }
  }
}

/**
 * Reports whether the cluster uses its own runtime: if its installation was requested and no usable runtime
 * was found, and from then on.
 */
async function wantsOwnRuntime(
  { settings, paths }: UpRequest,
  before: Running | undefined,
  view: StatusView,
): Promise<boolean> {
  if (!settings.agent || settings.runtimeEndpoint !== defaultEndpoint) return false;
  const last = before?.runtimeEndpoint ?? "";
  const hadOwn = last === paths.runtime.endpoint;
  if (!settings.installRuntime) return hadOwn && thisMachine.isRoot;
  if (!hadOwn && (await runsPods(settings.runtimeEndpoint))) return false;
  const problem = installRuntime(thisMachine, (line) => view.print(line));
  if (problem !== undefined) throw new Error(problem);
  // Pods cannot be moved: remove them from the other runtime; they are recreated on the new one.
  if (!hadOwn && last !== "") await leaveRuntime(paths.agentRoot, last);
  return true;
}

async function runCluster(
  wish: UpRequest,
  port: number,
  view: StatusView,
  learn: (more: Partial<Running>) => void,
): Promise<void> {
  const { dialect, settings, paths } = wish;
  const nodeName = hostname().toLowerCase();
  const host =
    settings.bindAddress === "0.0.0.0" || settings.bindAddress === "::" ? "127.0.0.1" : settings.bindAddress;
  const server = serverFor(host, port);
  const currentCredentials = (): Credentials => {
    const { bindAddress } = settings;
    try {
      return credentialsFor({ paths, dialect, server, bindAddress, nodeName, now: Date.now() });
    } catch (error) {
      throw new Error(`${paths.pki} cannot be used: ${(error as Error).message}`, { cause: error });
    }
  };
  const isNewAuthority = createsAuthorityForData(paths);
  const credentials = currentCredentials();
  const localAddress = assignLocalAddress(wish, view);
  const plan: ClusterPlan = {
    ...wish,
    port,
    credentials,
    ...(localAddress !== undefined && { localAddress }),
  };
  view.print(`starting a cluster in ${paths.root}`);
  if (isNewAuthority)
    view.print(
      "  certificates were created anew for existing data: other machines must join again, and tokens of service accounts and copies of the client config are invalid",
    );
  const cluster = new Cluster(view);
  // Nothing else may keep the process alive while a part waits for its restart.
  const keepAlive = setInterval(() => undefined, 2 ** 30);
  const stopped = stopRequest(cluster);
  let controllers: RunningControllerManager | undefined;
  let relay: Relay | undefined;
  const ending = new AbortController();
  void returnMemory(ownMemory(systemClock), ending.signal);
  void renewCredentials(currentCredentials, view, ending.signal);
  try {
    const runtime = await startOwnRuntime(plan, cluster);
    const apiserver = cluster.start(apiserverPlan(plan));
    const up = await Promise.race([apiserver.ready.then(() => true), stopped.then(() => false)]);
    if (!up) return;
    learn({ dialect: dialect.name });
    controllers = startControllerManager({
      config: paths.adminConfig,
      dialect,
      gates: resolveGates(knownGates, settings.featureGates, minorOf(settings.release)),
      authorityFile: credentials.authorityFile,
      authorityKeyFile: credentials.authorityKeyFile,
      accountKeyFile: credentials.accountKey,
      // The agent's own runtime chooses its pod addresses itself.
      ...(!settings.agent && { clusterCidr: podRange }),
      // Without a node there are no metrics to serve, and another server may provide the API.
      ...(settings.agent && {
        frontProxyAuthorityFile: credentials.frontProxyAuthorityFile,
        localPath: { nodeName, folder: paths.volumes },
      }),
      logFile: join(paths.logs, "controllers.log"),
      print: (line) => view.print(`  registry     ${line}`),
    });
    if (!isLoopback(settings.bindAddress))
      await prepareJoin(paths.adminConfig, dialect, {
        server: serverFor(outsideAddress(settings.bindAddress), port),
        authority: readFileSync(credentials.authorityFile, "utf8"),
      });
    if (runtime && (await Promise.race([waitUntilReady(runtime, view), stopped])) !== undefined) return;
    if (runtime)
      await supplySandboxImage(paths.runtime).catch((error: Error) =>
        view.print(`  runtime      the sandbox image was not imported: ${error.message}`),
      );
    const agent = await startAgent(plan, nodeName, cluster, view);
    if (agent) learn({ runtimeEndpoint: settings.runtimeEndpoint });
    if (agent && localAddress !== undefined) {
      if (isLoopback(settings.bindAddress)) relay = await startRelay(localAddress, port, { host, port });
      startNetwork(plan, { nodeName, localAddress, cluster });
      const range = runtime && podRangeIn(paths.runtime.network.file);
      const of = { config: paths.adminConfig, dialect, nodeName };
      if (range !== undefined)
        void announcePodRange({ ...of, range }, systemClock, ending.signal).catch((error: Error) =>
          view.print(`  node agent   its pod CIDR was not published: ${error.message}`),
        );
    }
    const early = await Promise.race([agent && waitUntilReady(agent, view), stopped]);
    if (early === undefined)
      view.print(
        `\nThe client config of its administrator is ${paths.adminConfig}. Try:\n\n  ${firstCommand(paths.adminConfig)}\n\n${uiHint(wish, server)}Stop with Ctrl-C; all data is kept.`,
      );
    view.print(`stopping: ${early ?? (await stopped)}`);
  } catch (error) {
    throw new Error(`${(error as Error).message}; see the logs in ${paths.logs}`, { cause: error });
  } finally {
    ending.abort();
    await controllers?.stop();
    await cluster.stop();
    relay?.close();
    if (localAddress !== undefined) removeLocalAddress(localAddress);
    clearInterval(keepAlive);
  }
}

const renewalMilliseconds = 12 * 3_600_000;

/** Renews certificates that expire while the cluster runs; its programs read them for new connections. */
async function renewCredentials(renew: () => void, view: StatusView, signal: AbortSignal): Promise<void> {
  for (;;) {
    await systemClock.sleep(renewalMilliseconds, signal).catch(() => undefined);
    if (signal.aborted) return;
    try {
      renew();
    } catch (error) {
      view.print(`  certificates not renewed: ${(error as Error).message}`);
    }
  }
}

/** Returns the hint with a link to the web page; empty if the page is disabled. */
const uiHint = ({ passed, paths }: UpRequest, server: string): string =>
  passed.includes("--ui=false")
    ? ""
    : `Open this one-time link in a browser to see the cluster; it is valid for ten minutes (orch ui prints another):\n\n  ${makeUiLink(paths, server, { now: Date.now() })}\n\n`;

async function startOwnRuntime(
  { settings, paths }: ClusterPlan,
  cluster: Cluster,
): Promise<Supervised | undefined> {
  if (settings.runtimeEndpoint !== paths.runtime.endpoint) return undefined;
  await stopLeftover(paths.runtime);
  return cluster.start(ownRuntimePlan(paths.runtime, join(paths.logs, "runtime.log")));
}

const serverFor = (host: string, port: number): string => `https://${hostAndPort(host, port)}`;

/** Adds the local address for pods; returns undefined if there are no pods to serve. */
function assignLocalAddress({ settings, paths, programs }: UpRequest, view: StatusView): string | undefined {
  const ownRuntime = settings.runtimeEndpoint === paths.runtime.endpoint;
  const canRun =
    ownRuntime || preflight(thisMachine, settings.runtimeEndpoint, programs.pathOf("nodeagent")).possible;
  if (!settings.agent || !canRun || !(settings.proxy || settings.dns)) return undefined;
  const address = localAddressOf(paths.runtime.id);
  const problem = addLocalAddress(address);
  if (problem === undefined) return address;
  view.print(`  network      pods have no DNS and services: ${address} could not be added: ${problem}`);
  return undefined;
}

function startNetwork(
  { dialect, programs, paths, settings }: ClusterPlan,
  {
    nodeName,
    localAddress,
    cluster,
  }: {
    readonly nodeName: string;
    readonly localAddress: string;
    readonly cluster: Cluster;
  },
): void {
  const plan: NetworkPlan = {
    dialect,
    programs,
    config: paths.networkConfig,
    logs: paths.logs,
    nodeName,
    gates: settings.featureGates,
  };
  for (const each of networkPlans(plan, settings, localAddress)) cluster.start(each);
}

/** Starts the node agent; returns undefined, after printing the reason, if it cannot run. */
async function startAgent(
  plan: ClusterPlan,
  nodeName: string,
  cluster: Cluster,
  view: StatusView,
): Promise<Supervised | undefined> {
  const { dialect, settings, paths, programs } = plan;
  const check = preflight(thisMachine, settings.runtimeEndpoint, programs.pathOf("nodeagent"));
  if (!settings.agent) view.print("  node agent   not started, as requested");
  else if (!check.possible) view.print(`  node agent   not started: ${check.reason} (${check.remedy})`);
  else {
    const foreign = await foreignPods(settings.runtimeEndpoint, paths.agentRoot);
    if (foreign > 0) {
      view.print(
        `  node agent   not started: ${foreign} pods of another agent run on ${settings.runtimeEndpoint} (orch up --install-runtime runs a separate runtime for this cluster)`,
      );
      return undefined;
    }
    await dropNodeBinding(paths.adminConfig, dialect, nodeName);
    const isUsable = await runsPods(settings.runtimeEndpoint);
    if (!isUsable)
      view.print(
        `  node agent   ${settings.runtimeEndpoint} cannot run pods yet: it does not respond, or has no pod network (orch up --install-runtime installs one)`,
      );
    const { makeCgroupRoot } = await import("#nodeagent");
    await makeCgroupRoot(paths.cgroupRoot);
    return cluster.start(await agentPlan(plan));
  }
  return undefined;
}
