// `orch join`: makes this machine a node of a cluster, until Ctrl-C. The agent requests its certificate with
// the token once; later starts need no token.
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeFolder, systemClock, writePrivate } from "#base";
import { singleContext, writeClientConfig } from "#client";
import type { Dialect } from "#dialect";
import {
  type OptionSet,
  type OptionsOf,
  type SettingsOf,
  bool,
  dialectOption,
  helpOption,
  option,
  section,
  text,
} from "#options";
import type { Output } from "../output.ts";
import { claimFolder } from "./claim.ts";
import { clusterCommand } from "./cluster-command.ts";
import { clusterGatesOption, gateFlags } from "./cluster-gates.ts";
import { Cluster, waitUntilReady, stopRequest } from "./cluster-processes.ts";
import { discover, parseToken, publishedCluster } from "./discovery.ts";
import { addLocalAddress, localAddressOf, removeLocalAddress } from "./local-address.ts";
import { authorityFile, bootstrapFile, isNodeOf } from "./membership.ts";
import { type NetworkPlan, networkPlans } from "./network-plans.ts";
import { stopLeftover } from "./own-runtime-end.ts";
import { ownRuntimePlan, supplySandboxImage } from "./own-runtime.ts";
import { type ClusterPaths, dataDirOption, pathsFor } from "./paths.ts";
import { pauseImageName } from "./pause-image.ts";
import { type Programs, commonAgentSettings } from "./plans.ts";
import { announcePodRange, podRangeIn } from "./pod-range.ts";
import { canNameNode, installRuntime, thisMachine } from "./preflight.ts";
import { readRunning, writeRunning } from "./running.ts";
import { type StatusView, statusView } from "./status-view.ts";
import type { ProcessPlan } from "./supervisor.ts";

const sections = (dialect: Dialect) =>
  [
    section("Cluster", [
      option({
        flag: "token",
        type: text,
        default: "",
        doc: "Bootstrap token, from orch token; required the first time.",
      }),
      option({
        flag: "discovery-token-ca-cert-hash",
        type: text,
        default: "",
        doc: "Hash of the public key of the cluster's CA, sha256:...; required the first time.",
      }),
      option({
        flag: "node-name",
        type: text,
        default: "",
        defaultText: "the machine's host name",
        doc: "Name of the node.",
      }),
      dataDirOption,
      clusterGatesOption(dialect),
      dialectOption(dialect),
    ]),
    section("Service network", [
      option({
        flag: "proxy",
        type: bool,
        default: true,
        doc: "Run the service proxy on this machine.",
      }),
      option({
        flag: "dns",
        type: bool,
        default: true,
        doc: "Run the DNS server for this machine's pods.",
      }),
    ]),
    section("Other", [helpOption]),
  ] as const;
type JoinOption = OptionsOf<ReturnType<typeof sections>>;
type JoinSettings = SettingsOf<JoinOption>;
const joinOptions = (dialect: Dialect): OptionSet<JoinOption> => ({
  program: "orch join SERVER",
  summary:
    "Makes this machine a node of a cluster until Ctrl-C, with its own container runtime. Requires root.",
  dialect,
  sections: sections(dialect),
  checks: [],
  takesArguments: true,
});

interface JoinRequest {
  readonly dialect: Dialect;
  readonly settings: JoinSettings;
  readonly programs: Programs;
  readonly paths: ClusterPaths;
  readonly nodeName: string;
  readonly server: string;
}

export const joinCommand = (argv: readonly string[], programs: Programs, output: Output): Promise<number> =>
  clusterCommand(joinOptions, argv, output, async ({ dialect, settings, words }) => {
    const [server, ...more] = words;
    if (server === undefined || !/^https:\/\/./.test(server) || more.length > 0)
      throw new Error("specify one server, such as https://192.0.2.1:6443");
    const paths = pathsFor(dialect, settings.dataDir);
    const nodeName = settings.nodeName || hostname().toLowerCase();
    if (!canNameNode(nodeName))
      throw new Error(`${nodeName} is not valid as the name of a node; choose another with --node-name`);
    const release = claimFolder(paths.root);
    if (!release) throw new Error(`${paths.root} is in use by another orch`);
    try {
      await run({ dialect, settings, programs, paths, nodeName, server }, statusView(output.out));
      return 0;
    } finally {
      release();
    }
  });

async function run(request: JoinRequest, view: StatusView): Promise<void> {
  const { dialect, settings, programs, paths, nodeName } = request;
  if (!thisMachine.isRoot) throw new Error("running pods requires root: sudo orch join");
  await bootstrap(request);
  const problem = installRuntime(thisMachine, (line) => view.print(line));
  if (problem !== undefined) throw new Error(problem);
  const running = {
    pid: process.pid,
    port: 0,
    dialect: dialect.name,
    runtimeEndpoint: paths.runtime.endpoint,
  };
  writeRunning(paths.running, { ...readRunning(paths.running), ...running, up: true });
  const localAddress = localAddressOf(paths.runtime.id);
  const addressProblem = addLocalAddress(localAddress);
  if (addressProblem !== undefined) throw new Error(`${localAddress} could not be added: ${addressProblem}`);
  view.print(`joining ${request.server} as ${nodeName}`);
  const cluster = new Cluster(view);
  const keepAlive = setInterval(() => undefined, 2 ** 30);
  const stopped = stopRequest(cluster);
  const ending = new AbortController();
  try {
    await stopLeftover(paths.runtime);
    const runtime = cluster.start(ownRuntimePlan(paths.runtime, join(paths.logs, "runtime.log")));
    if ((await Promise.race([waitUntilReady(runtime, view), stopped])) !== undefined) return;
    await supplySandboxImage(paths.runtime);
    const { makeCgroupRoot } = await import("#nodeagent");
    await makeCgroupRoot(paths.cgroupRoot);
    const agent = cluster.start(await agentPlan(request, localAddress));
    const started = agent.ready.then(() => startNetwork());
    const early = await Promise.race([started.then(() => undefined), stopped]);
    if (early === undefined) view.print("\nThis machine is a node. Stop with Ctrl-C; all data is kept.");
    view.print(`stopping: ${early ?? (await stopped)}`);
  } finally {
    ending.abort();
    await cluster.stop();
    removeLocalAddress(localAddress);
    writeRunning(paths.running, { ...running, up: false });
    clearInterval(keepAlive);
  }

  /** Starts the network programs with the agent's credentials, which exist once it is ready. */
  async function startNetwork(): Promise<void> {
    while (!existsSync(paths.agentConfig) && !ending.signal.aborted) await sleep(100);
    if (ending.signal.aborted) return;
    const plan: NetworkPlan = {
      dialect,
      programs,
      config: paths.agentConfig,
      logs: paths.logs,
      nodeName,
      gates: settings.featureGates,
    };
    for (const each of networkPlans(plan, settings, localAddress)) cluster.start(each);
    const range = podRangeIn(paths.runtime.network.file);
    const of = { config: paths.agentConfig, dialect, nodeName };
    if (range !== undefined)
      await announcePodRange({ ...of, range }, systemClock, ending.signal).catch((error: Error) =>
        view.print(`  node agent   its pod CIDR was not published: ${error.message}`),
      );
  }
}

/** Discovers the cluster, unless this machine is already one of its nodes. */
async function bootstrap({ dialect, settings, paths, nodeName, server }: JoinRequest): Promise<void> {
  const isNode = await isNodeOf(paths, {
    server,
    nodeName,
    hash: settings.discoveryTokenCaCertHash,
    published: () => publishedCluster(server, dialect),
    now: Date.now(),
  });
  // Without a token, the agent tries the one that it was given first.
  if (isNode || (existsSync(paths.agentConfig) && settings.token === "")) return;
  const token = parseToken(settings.token);
  if (!token)
    throw new Error("--token is required to join, such as abcdef.0123456789abcdef; orch token creates one");
  const hash = settings.discoveryTokenCaCertHash;
  if (!/^sha256:[0-9a-f]{64}$/.test(hash))
    throw new Error("--discovery-token-ca-cert-hash is required to join; orch token prints it");
  const found = await discover(server, token, hash, dialect);
  makeFolder(paths.pki);
  writePrivate(authorityFile(paths), found.authority);
  writeClientConfig(
    bootstrapFile(paths),
    singleContext({
      name: dialect.cli.product,
      server: found.server,
      ca: found.authority,
      token: settings.token,
    }),
  );
}

async function agentPlan(
  { dialect, settings, programs, paths, nodeName }: JoinRequest,
  localAddress: string,
): Promise<ProcessPlan> {
  const { nodeagentOptions } = await import("#nodeagent");
  const content = {
    ...nodeagentOptions(dialect).file![0],
    ...(await commonAgentSettings({
      runtimeEndpoint: paths.runtime.endpoint,
      cgroupRoot: paths.cgroupRoot,
      nameServer: settings.dns ? localAddress : undefined,
      authorityFile: authorityFile(paths),
    })),
    rotateCertificates: true,
    serverTLSBootstrap: true,
  };
  writePrivate(paths.agentSettings, `${JSON.stringify(content, undefined, 2)}\n`);
  const [command, ...before] = programs.commandOf("nodeagent");
  const config = (flag: string): string => `--${dialect.spelling.flag(flag)}`;
  return {
    name: "node agent",
    command: command!,
    logFile: join(paths.logs, "agent.log"),
    stopTimeoutMilliseconds: 15_000,
    args: [
      ...before,
      `--dialect=${dialect.name}`,
      `${config("orchconfig")}=${paths.agentConfig}`,
      ...(existsSync(bootstrapFile(paths))
        ? [`${config("bootstrap-orchconfig")}=${bootstrapFile(paths)}`]
        : []),
      `--config=${paths.agentSettings}`,
      `--root-dir=${paths.agentRoot}`,
      `--cert-dir=${join(paths.pki, "agent")}`,
      `--hostname-override=${nodeName}`,
      `--pod-infra-container-image=${pauseImageName}`,
      ...gateFlags(dialect, settings.featureGates),
    ],
  };
}
