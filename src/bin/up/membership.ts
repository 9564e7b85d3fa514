// Which cluster the data folder of a machine belongs to: one of its own, one that it joined, or none yet.
import { X509Certificate } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { connectionOf, readClientConfig, writeClientConfig } from "#client";
import { type FoundCluster, authorityHash } from "./discovery.ts";
import type { ClusterPaths } from "./paths.ts";

export const authorityFile = ({ pki }: ClusterPaths): string => join(pki, "ca.crt");
export const bootstrapFile = ({ pki }: ClusterPaths): string => join(pki, "bootstrap.conf");

const remedy = "choose another --data-dir, or remove the data with orch down --purge";

/** Returns the cluster that this machine joined; undefined if it has not become a node yet. */
function joinedCluster(paths: ClusterPaths): FoundCluster | undefined {
  if (!existsSync(paths.agentConfig) || !existsSync(authorityFile(paths))) return undefined;
  const { server } = connectionOf(readClientConfig(paths.agentConfig));
  return { server, authority: readFileSync(authorityFile(paths), "utf8") };
}

/** Throws if the folder is that of a node: a cluster of its own would overwrite its credentials. */
export function refuseNode(paths: ClusterPaths): void {
  if (!existsSync(bootstrapFile(paths))) return;
  const { server } = connectionOf(readClientConfig(bootstrapFile(paths)));
  throw new Error(`${paths.root} belongs to a node that joined ${server}; ${remedy}`);
}

export interface JoinTarget {
  readonly server: string;
  readonly nodeName: string;
  /** Hash of the cluster's CA as given by the user; empty if not given. */
  readonly hash: string;
  /** Returns what the server publishes about its cluster; undefined if it cannot be reached. */
  readonly published: () => Promise<FoundCluster | undefined>;
  readonly now: number;
}

/**
 * Reports whether this machine is already a node of the cluster, with a certificate that is still valid.
 * Throws if it belongs to another cluster. Follows the cluster if its server has another address now.
 */
export async function isNodeOf(
  paths: ClusterPaths,
  { server, nodeName, hash, published, now }: JoinTarget,
): Promise<boolean> {
  if (existsSync(join(paths.pki, "ca.key")))
    throw new Error(`${paths.root} contains a cluster of orch up, which cannot join ${server}; ${remedy}`);
  const joined = joinedCluster(paths);
  if (!joined) return false;
  const found = await published();
  const known = authorityHash(joined.authority);
  if ((hash !== "" && hash !== known) || (found && authorityHash(found.authority) !== known))
    throw new Error(
      `${paths.root} belongs to a node of another cluster, ${joined.server}, and not to ${server}; ${remedy}`,
    );
  const certificate = certificateIn(paths.agentConfig);
  const joinedAs = certificate && /^CN=system:node:(.+)$/m.exec(certificate.subject)?.[1];
  if (joinedAs !== undefined && joinedAs !== nodeName)
    throw new Error(
      `${paths.root} belongs to the node ${joinedAs}, and not to ${nodeName}; use --node-name=${joinedAs}, ${remedy}`,
    );
  if (found && found.server !== joined.server) moveTo(paths.agentConfig, found.server);
  return certificate !== undefined && certificate.validToDate.getTime() > now;
}

/** The CA stays the same, so that a wrong address cannot make the agent trust another server. */
function moveTo(file: string, server: string): void {
  const config = readClientConfig(file);
  const clusters = config.clusters.map((each) => ({ ...each, cluster: { ...each.cluster, server } }));
  writeClientConfig(file, { ...config, clusters });
}

/** Returns the client certificate of a configuration; undefined if it cannot be read. */
function certificateIn(file: string): X509Certificate | undefined {
  try {
    return new X509Certificate(connectionOf(readClientConfig(file)).secrets?.().certificate ?? "");
  } catch {
    return undefined;
  }
}
