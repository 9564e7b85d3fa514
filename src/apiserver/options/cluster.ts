// Options of services, tolerations, feature gates and APIs, of aggregation, and of the connections to node
// agents.

import { firstRelease, lastRelease } from "#cel";
import type { Dialect } from "#dialect";
import {
  atLeast,
  bool,
  cidr,
  duration,
  featureGates,
  file,
  int,
  listOf,
  mapOf,
  notNegative,
  singleListOf,
  oneOf,
  option,
  plainInt,
  portRange,
  section,
  text,
  uint,
} from "#options";
import { serverGates } from "./server-gates.ts";

/** `1.27` and later releases. */
const expressionReleases = Array.from(
  { length: lastRelease - firstRelease + 1 },
  (_, later) => `1.${firstRelease + later}`,
);

/** Returns 27 for `1.27`. */
export const minorOf = (release: string): number => Number(release.split(".")[1]);

export const clusterSection = (dialect: Dialect) =>
  section("Cluster services and behaviour", [
    option({
      flag: "service-cluster-ip-range",
      type: singleListOf(cidr, "cidr[,cidr]"),
      default: [],
      doc: "Address range of services, or two of different families. Must not overlap the ranges of nodes and pods. 10.0.0.0/24 when not given.",
    }),
    option({
      flag: "service-node-port-range",
      type: portRange,
      default: { from: 30000, to: 32767 },
      doc: "Ports kept for services of type NodePort, both ends included. Must not overlap the nodes' ephemeral ports.",
    }),
    option({
      flag: "orch-service-node-port",
      type: int,
      default: 0,
      check: (value) => (value < 0 || value > 65535 ? "must be from 0 to 65535" : undefined),
      doc: "Port of the API server's own service when it is to be of type NodePort; 0 makes it ClusterIP.",
    }),
    option({
      flag: "endpoint-reconciler-type",
      type: oneOf("master-count", "lease", "none"),
      default: "lease",
      doc: "How the addresses behind the API server's own service are kept up: lease, none, or the deprecated master-count.",
    }),
    option({
      flag: "apiserver-count",
      type: int,
      default: 1,
      check: atLeast(1),
      deprecated: "apiserver-count is deprecated and will be removed in a future version",
      doc: "How many API servers share the store, with --endpoint-reconciler-type=master-count.",
    }),
    option({
      flag: "lease-reuse-duration-seconds",
      type: int,
      default: 60,
      check: atLeast(1),
      doc: "Seconds for which one store lease is shared. Too small a value burdens the store.",
    }),
    option({
      flag: "default-not-ready-toleration-seconds",
      type: plainInt,
      default: 300,
      check: atLeast(0),
      doc: "tolerationSeconds of the notReady:NoExecute toleration that pods without one get.",
    }),
    option({
      flag: "default-unreachable-toleration-seconds",
      type: plainInt,
      default: 300,
      check: atLeast(0),
      doc: "tolerationSeconds of the unreachable:NoExecute toleration that pods without one get.",
    }),
    option({
      flag: "enable-garbage-collector",
      type: bool,
      default: true,
      doc: "Honour propagation policies of deletions. Must match the controller manager's setting: without its collector nobody would take the finalizers away.",
    }),
    option({
      flag: "delete-collection-workers",
      type: int,
      default: 1,
      check: atLeast(1),
      doc: "Workers of one deletecollection call, each with up to 64 deletions under way; more of them speed up the clearing of namespaces.",
    }),
    option({ flag: "allow-privileged", type: bool, default: false, doc: "Allow privileged containers." }),
    option({
      flag: "feature-gates",
      type: featureGates(serverGates, dialect),
      default: {},
      doc: "Pairs Name=true or Name=false that switch features; AllAlpha and AllBeta speak for a whole stage.",
    }),
    option({
      flag: "runtime-config",
      type: mapOf(text, { bareValue: "true" }),
      default: {},
      doc: "Pairs that switch built-in APIs: group/version=true|false, group/version/resource=true|false, or api/all, api/ga, api/beta, api/alpha.",
    }),
    option({
      flag: "expression-release",
      type: oneOf(...expressionReleases),
      default: "1.27",
      doc: "Release whose functions expressions have, in validation rules of definitions, match conditions of webhooks and policies: 1.28 brought optional values, quantities, and reasons and field paths of rules, 1.29 format and sets, 1.30 addresses, 1.31 named formats, 1.32 macros with two variables.",
    }),
    option({
      flag: "egress-selector-config-file",
      type: file,
      default: "",
      doc: "File that says through which proxies connections to the control plane, the cluster and etcd go.",
    }),
    option({
      flag: "tracing-config-file",
      type: file,
      default: "",
      readable: true,
      doc: "File that says to which OpenTelemetry collector spans of requests are sent, and of how many.",
    }),
  ]);

const addressTypes = ["Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"] as const;

export const connectionSection = (dialect: Dialect) =>
  section("Aggregation, proxy and node agent connection", [
    option({
      flag: "enable-aggregator-routing",
      type: bool,
      default: false,
      doc: "Send aggregated requests to endpoint addresses instead of the service's address.",
    }),
    option({
      flag: "aggregator-reject-forwarding-redirect",
      type: bool,
      default: true,
      doc: "Refuse redirects from aggregated servers instead of handing them to the client.",
    }),
    option({
      flag: "proxy-client-cert-file",
      type: file,
      default: "",
      readable: true,
      doc: "Client certificate with which this server calls aggregated servers and webhooks. Should be signed by an authority in --requestheader-client-ca-file.",
    }),
    option({
      flag: "proxy-client-key-file",
      type: file,
      default: "",
      readable: true,
      doc: "Key of that certificate.",
    }),
    option({
      flag: "nodeagent-certificate-authority",
      type: file,
      default: "",
      readable: true,
      doc: "Certificate authorities of the node agents.",
    }),
    option({
      flag: "nodeagent-client-certificate",
      type: file,
      default: "",
      readable: true,
      doc: "Client certificate for connections to node agents.",
    }),
    option({
      flag: "nodeagent-client-key",
      type: file,
      default: "",
      readable: true,
      doc: "Key of that certificate.",
    }),
    option({
      flag: "nodeagent-preferred-address-types",

      type: listOf(oneOf(...addressTypes)),
      default: [...addressTypes],
      doc: "Which of a node's addresses to use, the most wanted first.",
    }),
    option({
      flag: "nodeagent-port",
      type: uint,
      default: 10_250,
      doc: "Port of node agents whose nodes do not tell theirs.",
      deprecated: `${dialect.spelling.flag("nodeagent-port")} is deprecated and will be removed.`,
    }),
    option({
      flag: "nodeagent-read-only-port",
      type: uint,
      default: 10_255,
      doc: "Read-only port of node agents.",
      idle: "nothing asks at it, as in the original",
      deprecated: `${dialect.spelling.flag("nodeagent-read-only-port")} is deprecated and will be removed.`,
    }),
    option({
      flag: "nodeagent-timeout",
      type: duration,
      default: 5000,
      check: notNegative,
      doc: "Timeout of calls to node agents.",
    }),
  ]);
