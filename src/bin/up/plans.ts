// Process plans of the API server and the node agent, and the agent's settings file.
import { join } from "node:path";
import { writePrivate } from "#base";
import type { Dialect } from "#dialect";
import { gateFlags, releaseFlags } from "./cluster-gates.ts";
import { type Credentials, frontProxyName } from "./credentials.ts";
import type { ClusterPaths } from "./paths.ts";
import { pauseImageName } from "./pause-image.ts";
import { clusterDomain } from "./network-plans.ts";
import { choosePort } from "./ports.ts";
import { serviceRange } from "./service-range.ts";
import type { ProcessPlan } from "./supervisor.ts";
import type { UpSettings } from "./up-options.ts";

/** Locations and command lines of the other programs. */
export interface Programs {
  pathOf(program: string): string;
  /** The command line before the flags. */
  commandOf(program: string): readonly string[];
}

/** Everything that is decided before the first part starts. */
export interface ClusterPlan {
  readonly dialect: Dialect;
  readonly settings: UpSettings;
  readonly port: number;
  readonly paths: ClusterPaths;
  readonly credentials: Credentials;
  /** Flags passed on to the API server. */
  readonly passed: readonly string[];
  readonly programs: Programs;
  /** The local address for pods; undefined without pods. */
  readonly localAddress?: string;
}

const stopTimeoutMilliseconds = 15_000;
/** Agents renew leases four times as often: a small cluster can afford to detect lost nodes quickly. */
const nodeLeaseSeconds = 20;

export function apiserverPlan({
  dialect,
  settings,
  port,
  paths,
  credentials,
  passed,
  programs,
  localAddress,
}: ClusterPlan): ProcessPlan {
  const [command, ...before] = programs.commandOf("orch-apiserver");
  return {
    name: "API server",
    command: command!,
    logFile: join(paths.logs, "apiserver.log"),
    stopTimeoutMilliseconds,
    args: [
      ...before,
      `--dialect=${dialect.name}`,
      `--data-dir=${paths.root}`,
      `--bind-address=${settings.bindAddress}`,
      `--secure-port=${port}`,
      `--tls-cert-file=${credentials.servingCertificate}`,
      `--tls-private-key-file=${credentials.servingKey}`,
      `--client-ca-file=${credentials.authorityFile}`,
      `--token-auth-file=${paths.tokens}`,
      `--ui-login-file=${paths.uiLogin}`,
      "--authorization-mode=Node,RBAC",
      "--enable-admission-plugins=NodeRestriction",
      `--service-account-issuer=https://${dialect.data.apiService}.default.svc`,
      `--service-account-signing-key-file=${credentials.accountKey}`,
      `--service-account-key-file=${credentials.accountKey}`,
      `--service-cluster-ip-range=${serviceRange}`,
      "--allow-privileged=true",
      // Machines can join if they can reach the server at all.
      ...(isLoopback(settings.bindAddress) ? [] : ["--enable-bootstrap-token-auth=true"]),
      ...(localAddress === undefined || !isLoopback(settings.bindAddress)
        ? []
        : [`--advertise-address=${localAddress}`]),
      // A machine's host name often resolves to its loopback address.
      "--nodeagent-preferred-address-types=InternalIP,ExternalIP,Hostname",
      `--nodeagent-certificate-authority=${credentials.authorityFile}`,
      `--nodeagent-client-certificate=${credentials.callingCertificate}`,
      `--nodeagent-client-key=${credentials.callingKey}`,
      `--requestheader-client-ca-file=${credentials.frontProxyAuthorityFile}`,
      `--requestheader-allowed-names=${frontProxyName}`,
      "--requestheader-username-headers=X-Remote-User",
      "--requestheader-group-headers=X-Remote-Group",
      "--requestheader-extra-headers-prefix=X-Remote-Extra-",
      `--proxy-client-cert-file=${credentials.frontProxyCertificate}`,
      `--proxy-client-key-file=${credentials.frontProxyKey}`,
      "--shutdown-send-retry-after=true",
      "--shutdown-watch-termination-grace-period=1s",
      ...gateFlags(dialect, settings.featureGates),
      ...releaseFlags(settings.release),
      ...passed,
    ],
  };
}

export const isLoopback = (address: string): boolean => address === "::1" || address.startsWith("127.");

/** Returns the agent's process plan; also writes its settings file. */
export async function agentPlan({
  dialect,
  settings,
  paths,
  credentials,
  programs,
  localAddress,
}: ClusterPlan): Promise<ProcessPlan> {
  writePrivate(
    paths.agentSettings,
    `${JSON.stringify(await agentSettings(dialect, settings, { paths, credentials, localAddress }), undefined, 2)}\n`,
  );
  const [command, ...before] = programs.commandOf("nodeagent");
  return {
    name: "node agent",
    command: command!,
    logFile: join(paths.logs, "agent.log"),
    stopTimeoutMilliseconds,
    args: [
      ...before,
      `--dialect=${dialect.name}`,
      `--${dialect.spelling.flag("orchconfig")}=${paths.agentConfig}`,
      `--config=${paths.agentSettings}`,
      `--root-dir=${paths.agentRoot}`,
      // Protects the sandbox image from image garbage collection.
      ...(settings.runtimeEndpoint === paths.runtime.endpoint
        ? [`--pod-infra-container-image=${pauseImageName}`]
        : []),
      ...gateFlags(dialect, settings.featureGates),
    ],
  };
}

/**
 * Returns the agent's settings. Only clients authenticated and authorized by the API server are served; the
 * port is chosen to avoid agents of other clusters on this machine.
 */
async function agentSettings(
  dialect: Dialect,
  settings: UpSettings,
  {
    paths,
    credentials,
    localAddress,
  }: Pick<ClusterPlan, "paths" | "credentials"> & { readonly localAddress: string | undefined },
): Promise<Record<string, unknown>> {
  const { nodeagentOptions } = await import("#nodeagent");
  return {
    ...nodeagentOptions(dialect).file![0],
    ...(await commonAgentSettings({
      runtimeEndpoint: settings.runtimeEndpoint,
      cgroupRoot: paths.cgroupRoot,
      nameServer: settings.dns ? localAddress : undefined,
      authorityFile: credentials.authorityFile,
    })),
    tlsCertFile: credentials.agentServingCertificate,
    tlsPrivateKeyFile: credentials.agentServingKey,
  };
}

export interface CommonAgentSettings {
  readonly runtimeEndpoint: string;
  readonly cgroupRoot: string;
  /** DNS server of pods; undefined for that of the machine. */
  readonly nameServer: string | undefined;
  /** CA of client certificates. */
  readonly authorityFile: string;
}

/** Returns the settings common to agents of all machines. */
export async function commonAgentSettings(of: CommonAgentSettings): Promise<Record<string, unknown>> {
  const choice = await choosePort({ host: "0.0.0.0", defaultPort: 10250 });
  if ("problem" in choice) throw new Error(choice.problem);
  return {
    containerRuntimeEndpoint: of.runtimeEndpoint,
    cgroupRoot: of.cgroupRoot,
    port: choice.port,
    ...(of.nameServer !== undefined && { clusterDNS: [of.nameServer], clusterDomain }),
    nodeLeaseDurationSeconds: nodeLeaseSeconds,
    // Not needed: the agent reports its readiness itself.
    healthzPort: 0,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: of.authorityFile },
    },
    authorization: { mode: "Webhook" },
  };
}
