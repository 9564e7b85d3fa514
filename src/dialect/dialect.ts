// Every product-named identifier, in two dialects. No other room spells one.

import type { WellKnownNames } from "./well-known.ts";

export type DialectName = "orch" | "kubernetes";

export interface Dialect {
  readonly name: DialectName;
  /** Names on the wire. */
  readonly wire: {
    /** What follows branded group names: `events.<groupSuffix>`. */
    readonly groupSuffix: string;
    readonly protobufMediaType: string;
    /** The four bytes before a binary object; the same in both dialects. */
    readonly protobufMagic: Uint8Array;
    /** Prefix of schema extensions such as `x-…-list-type`. */
    readonly extensionPrefix: string;
    /** First parts of published schema names: `io.<x>.api.core.v1.Pod`. */
    readonly schemaPrefix: string;
    /** Prefix of response headers that carry the product name. */
    readonly headerPrefix: string;
    /** The package of the aggregation kinds in published schema names. */
    readonly aggregatorPackage: string;
    /** Response headers that tell which flow schema and priority level a request fell under. */
    readonly flowSchemaHeader: string;
    readonly priorityLevelHeader: string;
    /** What the health endpoints call the check of the backing store. */
    readonly storeHealthCheck: string;
    /** What probes call it that were written for the original. */
    readonly clientStoreHealthCheck: string;
    /** What the names of spans call the backing store. */
    readonly storeSpan: string;
    /** The span of a request to the API server. */
    readonly serverSpan: string;
    /** Title of the published API description. */
    readonly apiTitle: string;
    /**
     * The group in which clients ask for aggregated discovery; compiled into them, so the same in every
     * dialect.
     */
    readonly discoveryGroup: string;
    /** The prefix of schema extensions that command-line clients look for, whatever the server speaks. */
    readonly clientExtensionPrefix: string;
    /** What command-line clients call the binary form of what they send, whatever the server speaks. */
    readonly clientProtobufMediaType: string;
    /** The group in which command-line clients ask for tables and metadata, whatever the server speaks. */
    readonly clientMetaGroup: string;
  };
  /** Names inside objects. */
  readonly data: {
    /** `<labelDomain>/hostname`, `node.<labelDomain>/…` and so on. */
    readonly labelDomain: string;
    readonly systemNamespace: string;
    readonly publicNamespace: string;
    readonly nodeLeaseNamespace: string;
    /** The service through which pods reach the API server. */
    readonly apiService: string;
    /** First part of component names: `<componentPrefix>scheduler`. */
    readonly componentPrefix: string;
    /** The finalizer in every namespace's spec. */
    readonly namespaceFinalizer: string;
    /** The private claim of service account tokens. */
    readonly tokenClaim: string;
    /** First part of environment variables that carry the name: `<environmentPrefix>SERVICE_HOST`. */
    readonly environmentPrefix: string;
    /** Reverse-domain prefix of the labels and annotations that the container runtime keeps. */
    readonly runtimeLabelPrefix: string;
    /** The cgroup below which all pods live. */
    readonly podsCgroup: string;
    readonly packetChainPrefix: string;
    /** First parts of metric names that carry a name: the product's and the agent's. */
    readonly metricPrefix: string;
    readonly agentMetricPrefix: string;
  };
  /** Names an operator types or reads. */
  readonly cli: {
    readonly product: string;
    readonly apiServer: string;
    readonly agent: string;
    readonly clientConfigFlag: string;
    /** Environment variable that names the client configuration file. */
    readonly clientConfigVariable: string;
  };
  /** Default places on disk. */
  readonly paths: {
    readonly servingCertificates: string;
    readonly agentRoot: string;
    readonly agentCertificates: string;
    readonly agentVolumePlugins: string;
    /** Where device plug-ins register, whatever the root of the agent is. */
    readonly devicePlugins: string;
    readonly agentConfigFile: string;
    readonly staticPods: string;
    readonly configDirectory: string;
    /** Where pods find their service account's token. */
    readonly serviceAccountMount: string;
  };
  /** Labels, annotations, taints, finalizers, secret types, signers, users and the like. */
  readonly names: WellKnownNames;
  readonly spelling: Spelling;
}

/** How this dialect writes a name that our own declarations write in neutral words. */
export interface Spelling {
  /** `store-servers` → how the dialect's own documentation writes the flag. */
  flag(neutral: string): string;
  /** `orchReserved`, or a path such as `authentication.x509.clientCAFile`. */
  field(neutral: string): string;
  /** `NodeAgentConfiguration`, `NodeAgentTracing`. */
  word(neutral: string): string;
}

/** Protocol names that clients and container runtimes speak unchanged in every dialect. */
export const streamProtocols = {
  channel: [
    "v5.channel.k8s.io",
    "v4.channel.k8s.io",
    "v3.channel.k8s.io",
    "v2.channel.k8s.io",
    "channel.k8s.io",
  ],
  base64Channel: ["v4.base64.channel.k8s.io", "base64.channel.k8s.io"],
  portForward: "portforward.k8s.io",
  portForwardWebSocket: ["v4.channel.k8s.io", "v4.base64.channel.k8s.io"],
  tunnelledPortForward: "SPDY/3.1+portforward.k8s.io",
  logs: ["binary.k8s.io", "base64.binary.k8s.io"],
  /** A WebSocket client that cannot set headers sends its token as `<prefix><base64url>`. */
  bearerTokenPrefix: "base64url.bearer.authorization.k8s.io.",
} as const;

/** Where containerd keeps what its CRI service uses, in either dialect. */
export const containerdNamespace = "k8s.io";

/** Images keep their real names in every dialect. */
export const pauseImage = "registry.k8s.io/pause:3.9";

/** Names under which the usual command-line client owns fields, in every dialect. */
export const commandLineManagers = {
  clientSideApply: "kubectl-client-side-apply",
  serverSideApply: "kubectl",
} as const;

/** The usual command-line client keeps its own name and flags whatever the server speaks. */
export const commandLineClient = { program: "kubectl", configFlag: "--kubeconfig" } as const;
