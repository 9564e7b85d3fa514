// Settings for identity, registration and the agent's own files.

import { isIP } from "node:net";
import { type Dialect, pauseImage } from "#dialect";
import { bool, directory, file, singleListOf, option, pairs, section, text } from "#options";
import { labelsProblem } from "./labels.ts";
import { inFile, later } from "./later.ts";
import { taints } from "./types.ts";

export const identitySection = (dialect: Dialect) =>
  section("Identity, registration and node", [
    option({
      flag: "config",
      type: file,
      default: "",
      doc: "Configuration file, absolute or relative to the working directory. Without it built-in defaults apply, some of which differ from those of a file. Flags override the file.",
    }),
    option({
      flag: "config-dir",
      type: directory,
      default: "",
      doc: "Directory of additional configuration files (*.conf, *.yaml, *.json), applied over --config in the order of their names.",
    }),
    option({
      flag: "write-config-to",
      type: text,
      default: "",
      doc: "Write the effective configuration to this file (JSON if it ends in .json, else YAML; - is standard output) and exit.",
    }),
    option({
      flag: "orchconfig",
      type: file,
      default: "",
      doc: "Client configuration for the API server. Without it the agent runs standalone.",
    }),
    option({
      flag: "bootstrap-orchconfig",
      type: file,
      default: "",
      doc: `Client configuration used to request a client certificate if the file of --orchconfig does not exist. A configuration that refers to the new certificate is then written there; certificate and key are kept in --cert-dir.`,
    }),
    option({
      flag: "hostname-override",
      type: text,
      default: "",
      check: (value) =>
        value === "" || isNodeName(value)
          ? undefined
          : "must be a node name: lower-case letters, digits, - and .",
      doc: "Name of the node instead of the host name. With --cloud-provider the provider decides.",
    }),
    option({
      flag: "node-ip",
      type: singleListOf(text, "ip[,ip]"),
      default: [],
      check: nodeIpProblem,
      doc: "Address of the node, or two of different families. Without it the default IPv4 address, or the IPv6 one if there is no IPv4; :: prefers IPv6.",
    }),
    option({
      flag: "node-labels",
      type: pairs,
      default: {},
      check: (labels) => labelsProblem(labels, dialect),
      doc: `Alpha. Labels to register the node with. A name under ${dialect.data.labelDomain} must begin with ${dialect.names.labels.agentPrefix} or ${dialect.names.labels.nodePrefix}, or be one of the well-known node labels.`,
    }),
    option({
      flag: "register-node",
      config: "registerNode",
      type: bool,
      default: true,
      deprecated: inFile("registerNode", dialect),
      doc: "Register with the API server. No effect without --orchconfig.",
    }),
    option({
      flag: "register-schedulable",
      type: bool,
      default: true,
      deprecated: "it will be removed in a future version",
      doc: "Register the node as schedulable; no effect without --register-node.",
    }),
    option({
      flag: "register-with-taints",
      config: "registerWithTaints",
      type: taints,
      default: [],
      deprecated: inFile("registerWithTaints", dialect),
      doc: "Taints to register the node with, as <key>=<value>:<effect>,…; no effect without --register-node.",
    }),
    option({
      flag: "provider-id",
      config: "providerID",
      type: text,
      default: "",
      deprecated: inFile("providerID", dialect),
      doc: "ID of the node in a database of machines, such as a cloud provider's.",
    }),
    option({
      flag: "cloud-provider",
      type: text,
      default: "",
      deprecated: "it will be removed in 1.24 or later",
      check: (value) =>
        value === "" || value === "external"
          ? undefined
          : `${later.cloud}; external is for one that runs outside`,
      doc: "Cloud provider, which then decides the node's name; empty for none, external for one that runs elsewhere.",
    }),
    option({
      flag: "cloud-config",
      type: file,
      default: "",
      readable: true,
      deprecated: "it will be removed in 1.24 or later",
      unavailable: later.cloud,
      doc: "Configuration file of the cloud provider.",
    }),
    option({
      flag: "vendor-container-registry-config",
      type: file,
      default: "",
      readable: true,
      unavailable: later.cloud,
      doc: "Configuration file of one vendor's container registry.",
    }),
    option({
      flag: "image-credential-provider-bin-dir",
      type: directory,
      default: "",
      doc: "Directory of the programs that provide image credentials.",
    }),
    option({
      flag: "image-credential-provider-config",
      type: file,
      default: "",
      readable: true,
      doc: "Configuration file of those programs.",
    }),
    option({
      flag: "root-dir",
      type: directory,
      default: dialect.paths.agentRoot,
      doc: "Directory of the agent's files, including volumes.",
    }),
    option({
      flag: "cert-dir",
      type: directory,
      default: dialect.paths.agentCertificates,
      doc: "Directory of TLS certificates. Not used when --tls-cert-file and --tls-private-key-file are given.",
    }),
    option({
      flag: "lock-file",
      type: text,
      default: "",
      doc: "Alpha. File that is locked while the agent runs.",
    }),
    option({
      flag: "exit-on-lock-contention",
      type: bool,
      default: false,
      doc: "Exit when another process contends for the lock file.",
    }),
    option({
      flag: "runonce",
      config: "runOnce",
      type: bool,
      default: false,
      deprecated: inFile("runOnce", dialect),
      doc: "Start the pods of local files and URLs, then exit. Not together with --enable-server.",
    }),
    option({
      flag: "pod-infra-container-image",
      type: text,
      default: pauseImage,
      deprecated: "it will be removed in 1.27; the runtime knows its own image",
      doc: "Image excluded from image garbage collection.",
    }),
  ]);

const isNodeName = (value: string): boolean =>
  value.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(value);

function nodeIpProblem(addresses: readonly string[]): string | undefined {
  const families = addresses.map((address) => isIP(address));
  if (families.includes(0)) return `${addresses[families.indexOf(0)]} is not an IP address`;
  if (addresses.length > 2) return "at most two addresses may be given";
  return addresses.length === 2 && families[0] === families[1]
    ? "two addresses must be of different IP families"
    : undefined;
}
