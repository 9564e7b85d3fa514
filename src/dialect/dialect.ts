// Every product-specific identifier, in two dialects. No other module contains one.

import type { WellKnownNames } from "./well-known.ts";

export type DialectName = "orch" | "kubernetes";

export interface Dialect {
  readonly name: DialectName;
  /** Names on the wire. */
  readonly wire: {
    /** Suffix of branded group names: `events.<groupSuffix>`. */
    readonly groupSuffix: string;
    readonly protobufMediaType: string;
    /** The four bytes before a protobuf object; the same in both dialects. */
    readonly protobufMagic: Uint8Array;
    /** Prefix of schema extensions such as `x-…-list-type`. */
    readonly extensionPrefix: string;
    /** Prefix of published schema names: `io.<x>.api.core.v1.Pod`. */
    readonly schemaPrefix: string;
    /** Prefix of response headers that contain the product name. */
    readonly headerPrefix: string;
    /** The package of the aggregation kinds in published schema names. */
    readonly aggregatorPackage: string;
    /** Response headers with the UIDs of the flow schema and priority level of a request. */
    readonly flowSchemaHeader: string;
    readonly priorityLevelHeader: string;
    /** Name of the backing store's check in health endpoints. */
    readonly storeHealthCheck: string;
    /** Name of the same check in probes written for the original. */
    readonly clientStoreHealthCheck: string;
    /** Name of the backing store in trace spans. */
    readonly storeSpan: string;
    /** Name of the span of a request to the API server. */
    readonly serverSpan: string;
    /** Title of the published API description. */
    readonly apiTitle: string;
    /**
     * The group in which clients request aggregated discovery; compiled into them, so the same in every
     * dialect.
     */
    readonly discoveryGroup: string;
    /** The prefix of schema extensions that command-line clients look for, whatever the server's dialect. */
    readonly clientExtensionPrefix: string;
    /** The media type that command-line clients use for protobuf, whatever the server's dialect. */
    readonly clientProtobufMediaType: string;
    /** The group in which command-line clients request tables and metadata, whatever the server's dialect. */
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
    /** Prefix of component names: `<componentPrefix>scheduler`. */
    readonly componentPrefix: string;
    /** The finalizer in every namespace's spec. */
    readonly namespaceFinalizer: string;
    /** The private claim of service account tokens. */
    readonly tokenClaim: string;
    /** Prefix of environment variables with the product name: `<environmentPrefix>SERVICE_HOST`. */
    readonly environmentPrefix: string;
    /** Reverse-domain prefix of the labels and annotations stored by the container runtime. */
    readonly runtimeLabelPrefix: string;
    /** The parent cgroup of all pods. */
    readonly podsCgroup: string;
    /** Prefixes of metric names: the product's and the agent's. */
    readonly metricPrefix: string;
    readonly agentMetricPrefix: string;
  };
  /** Names that operators type or read. */
  readonly cli: {
    readonly product: string;
    readonly apiServer: string;
    readonly agent: string;
    readonly clientConfigFlag: string;
    /** Environment variable that names the client configuration file. */
    readonly clientConfigVariable: string;
  };
  /** Default paths on disk. */
  readonly paths: {
    readonly servingCertificates: string;
    readonly agentRoot: string;
    readonly agentCertificates: string;
    readonly agentVolumePlugins: string;
    /** The directory in which device plugins register, independent of the agent's root directory. */
    readonly devicePlugins: string;
    readonly agentConfigFile: string;
    readonly staticPods: string;
    readonly configDirectory: string;
    /** The mount path of service account tokens in pods. */
    readonly serviceAccountMount: string;
  };
  /** Labels, annotations, taints, finalizers, secret types, signers, users and the like. */
  readonly names: WellKnownNames;
  readonly spelling: Spelling;
}

/** The dialect's spelling of names that our declarations spell neutrally. */
export interface Spelling {
  /** Spells a flag: `store-servers`. */
  flag(neutral: string): string;
  /** Spells a field: `orchReserved`, or a path such as `authentication.x509.clientCAFile`. */
  field(neutral: string): string;
  /** Spells a kind or feature: `NodeAgentConfiguration`, `NodeAgentTracing`. */
  word(neutral: string): string;
}

/** Protocol names that clients and container runtimes use unchanged in every dialect. */
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

/** The containerd namespace of its CRI plugin, in either dialect. */
export const containerdNamespace = "k8s.io";

/** Images keep their real names in every dialect. */
export const pauseImage = "registry.k8s.io/pause:3.9";

/** Field managers of the usual command-line client, in every dialect. */
export const commandLineManagers = {
  clientSideApply: "kubectl-client-side-apply",
  serverSideApply: "kubectl",
} as const;

/** The usual command-line client keeps its own name and flags, whatever the server's dialect. */
export const commandLineClient = { program: "kubectl", configFlag: "--kubeconfig" } as const;
