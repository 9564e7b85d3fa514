// A whole cluster on one machine: a separate containerd, an API server, and the node agent as processes.
// Everything is removed when it stops.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import {
  type ApiClient,
  apiClient,
  connectionOf,
  https,
  informer,
  kinds,
  readClientConfig,
  singleContext,
  writeClientConfig,
} from "#client";
import { grpcRuntime } from "#cri";
import { apiVersionOf, type Dialect, type DialectName, dialects, groupName } from "#dialect";
import { type RunningApiserver, startApiserver } from "./apiserver.ts";
import { type Identity, type TestAuthority, testAuthority } from "./certificates.ts";
import { type Containerd, needsContainerd, startContainerd } from "./containerd.ts";
import { freePort } from "./free-port.ts";
import { kubectl, type KubectlOptions, kubectlProgram, type KubectlResult } from "./kubectl.ts";
import { needs } from "./needs.ts";
import { programCommand } from "./program.ts";

const run = promisify(execFile);

export interface ClusterOptions {
  readonly dialect?: DialectName;
  readonly agentFlags?: readonly string[];
  /** Fields of the agent's configuration file; they override those of the kit. */
  readonly agentConfig?: Readonly<Record<string, unknown>>;
  readonly apiserverFlags?: readonly string[];
  /** Directory for the agent's files, if it is not in the cluster's directory. */
  readonly agentRoot?: string;
  readonly between?: Between;
}

/** Proxies between the agent and the servers it calls. */
export interface Between {
  /** Returns the endpoint through which the agent connects to the runtime's socket. */
  readonly runtime?: (socket: string) => Promise<string>;
  /**
   * Returns the URL through which the agent connects to the API server; it may present either certificate.
   */
  readonly api?: (server: {
    readonly url: string;
    readonly ca: string;
    readonly agent: Identity;
    readonly serving: Identity;
  }) => Promise<string>;
}

export interface RunningAgent {
  readonly pid: number;
  readonly url: string;
  readonly healthUrl: string;
  readonly rootDir: string;
  readonly staticPods: string;
  log(): Promise<string>;
  stop(): Promise<void>;
  kill9(): Promise<void>;
  /** Starts the agent. Flags override earlier ones until it is started without flags. */
  start(...flags: readonly string[]): Promise<void>;
  /** Stops the agent as a service manager would and starts it again. */
  restart(...flags: readonly string[]): Promise<void>;
  /**
   * Changes fields of the configuration file and removes those set to undefined. Takes effect at the next
   * start.
   */
  configure(fields: Readonly<Record<string, unknown>>): Promise<void>;
}

export interface Cluster {
  readonly dialect: Dialect;
  readonly nodeName: string;
  readonly nodeIp: string;
  readonly folder: string;
  /** A client with the administrator's credentials. */
  readonly client: ApiClient;
  readonly agent: RunningAgent;
  readonly containerd: Containerd;
  readonly apiserver: RunningApiserver;
  /** The authority that signs the certificates of the agent and of its server. */
  readonly authority: TestAuthority;
  kubectl(args: readonly string[], options?: KubectlOptions): Promise<KubectlResult>;
  stop(): Promise<void>;
}

/** Test options that skip the test, with the reason, where a cluster cannot run. */
export const needsCluster = (): { skip: string | false } => {
  const { skip } = needs("openssl", kubectlProgram);
  return { skip: skip || needsContainerd().skip };
};

const nodeName = "n1";
// A loaded machine is slow, and an agent waits for an unresponsive runtime before it is ready.
const readyWithinSeconds = 120;
const endsWithinSeconds = 60;

/** Starts all programs and waits until the node is ready. */
export async function startCluster({
  dialect: name = "orch",
  agentFlags = [],
  agentConfig = {},
  apiserverFlags = [],
  agentRoot,
  between = {},
}: ClusterOptions = {}): Promise<Cluster> {
  const dialect = dialects[name];
  const undo: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  try {
    const containerd = await startContainerd();
    undo.push(() => containerd.stop());
    const folder = join(containerd.folder, "cluster");
    await mkdir(folder);
    const nodeIp = machineAddress();
    const pair = async (file: string, identity: Identity): Promise<{ certificate: string; key: string }> => {
      const [certificate, key] = [join(folder, `${file}.crt`), join(folder, `${file}.key`)];
      await writeFile(certificate, identity.cert);
      await writeFile(key, identity.key, { mode: 0o600 });
      return { certificate, key };
    };
    const authority = await testAuthority();
    const caFile = join(folder, "ca.crt");
    await writeFile(caFile, authority.ca);
    const nodeUser = await authority.issue(`/O=system:nodes/CN=system:node:${nodeName}`);
    const [caller, serving] = await Promise.all([
      authority
        .issue("/O=system:masters/CN=apiserver")
        .then((identity) => pair("apiserver-client", identity)),
      authority
        .issue(`/CN=${nodeName}`, { names: [nodeName], ips: [nodeIp] })
        .then((identity) => pair("agent-serving", identity)),
    ]);
    const flag = (word: string): string => `--${dialect.spelling.flag(word)}`;
    const apiserver = await startApiserver({
      dialect: name,
      command: programCommand("orch-apiserver"),
      flags: [
        `--client-ca-file=${caFile}`,
        "--allow-privileged=true",
        `${flag("nodeagent-certificate-authority")}=${caFile}`,
        `${flag("nodeagent-client-certificate")}=${caller.certificate}`,
        `${flag("nodeagent-client-key")}=${caller.key}`,
        `${flag("nodeagent-preferred-address-types")}=InternalIP`,
        ...apiserverFlags,
      ],
    });
    undo.push(async () => await apiserver[Symbol.asyncDispose]());
    const transport = https(connectionOf(readClientConfig(apiserver.kubeconfig)));
    undo.push(async () => transport.close());
    const client = apiClient(transport, dialect);
    await admitNodes(client, dialect);
    const following = new AbortController();
    undo.push(async () => following.abort());
    const furnished = furnishNamespaces(client, dialect, apiserver.ca, following.signal);

    const nodeConfig = join(folder, "node.conf");
    const { url, ca } = apiserver;
    const server = between.api
      ? await between.api({
          url,
          ca,
          agent: nodeUser,
          serving: await authority.issue("/CN=between", { ips: ["127.0.0.1"] }),
        })
      : url;
    writeClientConfig(
      nodeConfig,
      singleContext({
        name,
        server,
        ca: `${ca}${authority.ca}`,
        certificate: nodeUser.cert,
        key: nodeUser.key,
      }),
    );
    const rootDir = agentRoot ?? join(folder, "agent");
    await mkdir(rootDir, { recursive: true });
    // Init systems share mounts by default, and volumes may require that.
    if (agentRoot === undefined) await run("mount", ["--bind", rootDir, rootDir]);
    await run("mount", ["--make-shared", rootDir]);
    const staticPods = join(folder, "static");
    await mkdir(staticPods);
    const ports = { agent: await freePort(), health: await freePort() };
    const config = {
      apiVersion: apiVersionOf(dialect, { group: "nodeagent.config", branded: true, version: "v1beta1" }),
      kind: dialect.spelling.word("NodeAgentConfiguration"),
      address: nodeIp,
      port: ports.agent,
      healthzPort: ports.health,
      tlsCertFile: serving.certificate,
      tlsPrivateKeyFile: serving.key,
      authentication: { x509: { clientCAFile: caFile } },
      cgroupRoot: containerd.cgroupRoot,
      clusterDNS: ["10.0.0.10"],
      clusterDomain: "cluster.local",
      staticPodPath: staticPods,
      fileCheckFrequency: "2s",
      failSwapOn: false,
      containerRuntimeEndpoint: between.runtime
        ? await between.runtime(containerd.socket)
        : containerd.endpoint,
      ...agentConfig,
    };
    const configFile = join(folder, "agent.json");
    await writeFile(configFile, JSON.stringify(config, undefined, 2));
    const args = [
      `--dialect=${name}`,
      `--config=${configFile}`,
      `${flag("orchconfig")}=${nodeConfig}`,
      `--root-dir=${rootDir}`,
      `--hostname-override=${nodeName}`,
      `--node-ip=${nodeIp}`,
      "-v=2",
      ...agentFlags,
    ];
    const agent = new AgentProcess(args, {
      configFile,
      logFile: join(folder, "agent.log"),
      rootDir,
      staticPods,
      url: `https://${nodeIp}:${ports.agent}`,
      healthUrl: `http://127.0.0.1:${ports.health}`,
    });
    undo.push(async () => {
      await agent.stop();
      await removeLogs(containerd);
    });
    await agent.start();
    await nodeReady(client, agent);
    await furnished;
    return {
      dialect,
      nodeName,
      nodeIp,
      folder,
      client,
      agent,
      containerd,
      apiserver,
      authority,
      kubectl: (given, options) => kubectl(apiserver.kubeconfig, given, options),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

class AgentProcess implements RunningAgent {
  readonly rootDir: string;
  readonly staticPods: string;
  readonly url: string;
  readonly healthUrl: string;
  readonly #command: readonly string[];
  readonly #configFile: string;
  readonly #logFile: string;
  #child: ChildProcess | undefined;

  constructor(
    args: readonly string[],
    places: Pick<RunningAgent, "rootDir" | "staticPods" | "url" | "healthUrl"> & {
      readonly configFile: string;
      readonly logFile: string;
    },
  ) {
    this.#command = [...programCommand("nodeagent"), ...args];
    this.#configFile = places.configFile;
    this.#logFile = places.logFile;
    this.rootDir = places.rootDir;
    this.staticPods = places.staticPods;
    this.url = places.url;
    this.healthUrl = places.healthUrl;
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  log(): Promise<string> {
    return readFile(this.#logFile, "utf8");
  }

  async configure(fields: Readonly<Record<string, unknown>>): Promise<void> {
    const before = JSON.parse(await readFile(this.#configFile, "utf8")) as object;
    await writeFile(this.#configFile, JSON.stringify({ ...before, ...fields }, undefined, 2));
  }

  async start(...flags: readonly string[]): Promise<void> {
    const before = (await this.log().catch(() => "")).length;
    const output = openSync(this.#logFile, "a");
    const [program = "", ...args] = [...this.#command, ...flags];
    const child = spawn(program, args, { stdio: ["ignore", output, output] });
    closeSync(output);
    if (!this.#child) process.once("exit", () => this.#child?.kill("SIGKILL"));
    this.#child = child;
    for (const deadline = Date.now() + readyWithinSeconds * 1000; Date.now() < deadline; await sleep(20)) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(
          `the agent ended with ${child.exitCode ?? child.signalCode}:\n${tail(await this.log())}`,
        );
      if (/\brunning\b/.test((await this.log()).slice(before))) return;
    }
    throw new Error(`the agent did not start within ${readyWithinSeconds} s:\n${tail(await this.log())}`);
  }

  stop(): Promise<void> {
    return this.#end("SIGTERM");
  }

  kill9(): Promise<void> {
    return this.#end("SIGKILL");
  }

  async restart(...flags: readonly string[]): Promise<void> {
    await this.stop();
    await this.start(...flags);
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill("SIGKILL");
    }, endsWithinSeconds * 1000);
    await ended;
    clearTimeout(timer);
    if (late)
      throw new Error(`the agent did not end within ${endsWithinSeconds} s:\n${tail(await this.log())}`);
  }
}

async function nodeReady(client: ApiClient, agent: RunningAgent): Promise<void> {
  for (const deadline = Date.now() + readyWithinSeconds * 1000; Date.now() < deadline; await sleep(50)) {
    const node = await client
      .of(kinds.nodes)
      .get(nodeName)
      .catch(() => undefined);
    if (node?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True")) return;
  }
  throw new Error(`the node was not ready within ${readyWithinSeconds} s:\n${tail(await agent.log())}`);
}

/** Grants every node the permissions of the node role, since the server runs without the Node authorizer. */
async function admitNodes(client: ApiClient, dialect: Dialect): Promise<void> {
  const apiGroup = groupName(dialect, { group: "rbac.authorization", branded: true });
  await client.of(kinds.clusterRoleBindings).create({
    metadata: { name: "test:nodes" },
    roleRef: { apiGroup, kind: "ClusterRole", name: "system:node" },
    subjects: [{ apiGroup, kind: "Group", name: "system:nodes" }],
  });
}

/**
 * Creates in every namespace what controllers would: a service account and the CA certificate. Resolves once
 * all existing namespaces have them.
 */
async function furnishNamespaces(
  client: ApiClient,
  dialect: Dialect,
  ca: string,
  signal: AbortSignal,
): Promise<void> {
  const pending: Promise<unknown>[] = [];
  const furnish = async (namespace: string): Promise<void> => {
    const ignore = (): undefined => undefined;
    await client
      .of(kinds.configMaps)
      .create(
        { metadata: { name: dialect.names.objects.rootCaConfigMap }, data: { "ca.crt": ca } },
        { namespace },
      )
      .catch(ignore);
    await client
      .of(kinds.serviceAccounts)
      .create({ metadata: { name: "default" } }, { namespace })
      .catch(ignore);
  };
  const followed = informer({
    client: client.of(kinds.namespaces),
    signal,
    onEvent: ({ type, object }) => {
      if (type === "added") pending.push(furnish(object.metadata.name ?? ""));
    },
  });
  await followed.synced;
  await Promise.all(pending);
}

/** Removes the logs of this cluster's pods: all agents of a machine share one log directory. */
async function removeLogs(containerd: Containerd): Promise<void> {
  const runtime = grpcRuntime({ endpoint: containerd.endpoint, timeoutMilliseconds: 60_000 });
  try {
    for (const { metadata } of await runtime.listPodSandboxes()) {
      await rm(`/var/log/pods/${metadata?.namespace}_${metadata?.name}_${metadata?.uid}`, {
        recursive: true,
        force: true,
      });
    }
  } catch {
    // A killed runtime does not respond.
  } finally {
    runtime.close();
  }
}

function machineAddress(): string {
  const found = Object.entries(networkInterfaces()).flatMap(([name, items]) =>
    name.startsWith("orch")
      ? []
      : (items ?? []).filter(({ internal, family }) => !internal && family === "IPv4"),
  );
  return found[0]?.address ?? "127.0.0.1";
}

const tail = (text: string): string => text.split("\n").slice(-20).join("\n");
