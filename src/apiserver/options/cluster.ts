// Options of services, tolerations, feature gates and APIs, of aggregation, and of the connections to node
// agents.

import { releases } from "#base";
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
  releaseOption,
  section,
  text,
  uint,
} from "#options";
import { serverGates } from "./server-gates.ts";

export const clusterSection = (dialect: Dialect) =>
  section("Cluster services and behaviour", [
    option({
      flag: "service-cluster-ip-range",
      type: singleListOf(cidr, "cidr[,cidr]"),
      default: [],
      doc: "CIDR from which service cluster IPs are assigned, or two of different IP families. Must not overlap the CIDRs of nodes and pods. 10.0.0.0/24 if not set.",
    }),
    option({
      flag: "service-node-port-range",
      type: portRange,
      default: { from: 30000, to: 32767 },
      doc: "Port range reserved for services of type NodePort, inclusive at both ends. Must not overlap the ephemeral port range of the nodes.",
    }),
    option({
      flag: "orch-service-node-port",
      type: int,
      default: 0,
      check: (value) => (value < 0 || value > 65535 ? "must be from 0 to 65535" : undefined),
      doc: "If not 0, the API server's service is of type NodePort with this port; 0 means type ClusterIP.",
    }),
    option({
      flag: "endpoint-reconciler-type",
      type: oneOf("master-count", "lease", "none"),
      default: "lease",
      doc: "How the endpoints of the API server's service are reconciled: lease, none, or the deprecated master-count.",
    }),
    option({
      flag: "apiserver-count",
      type: int,
      default: 1,
      check: atLeast(1),
      deprecated: "apiserver-count is deprecated and will be removed in a future version",
      doc: "Number of API servers in the cluster, with --endpoint-reconciler-type=master-count.",
    }),
    option({
      flag: "lease-reuse-duration-seconds",
      type: int,
      default: 60,
      check: atLeast(1),
      doc: "Time in seconds that each store lease is reused. A low value may put load on the store.",
    }),
    option({
      flag: "default-not-ready-toleration-seconds",
      type: plainInt,
      default: 300,
      check: atLeast(0),
      doc: "tolerationSeconds of the toleration for notReady:NoExecute that is added to pods without one.",
    }),
    option({
      flag: "default-unreachable-toleration-seconds",
      type: plainInt,
      default: 300,
      check: atLeast(0),
      doc: "tolerationSeconds of the toleration for unreachable:NoExecute that is added to pods without one.",
    }),
    option({
      flag: "enable-garbage-collector",
      type: bool,
      default: true,
      doc: "Honour the propagation policy of deletions. Must match the flag of the controller manager, whose garbage collector removes the finalizers.",
    }),
    option({
      flag: "delete-collection-workers",
      type: int,
      default: 1,
      check: atLeast(1),
      doc: "Number of workers of a deletecollection request, each with one deletion in admission and up to 64 concurrent writes. More workers speed up namespace deletion.",
    }),
    option({ flag: "allow-privileged", type: bool, default: false, doc: "Allow privileged containers." }),
    option({
      flag: "feature-gates",
      type: featureGates(serverGates, dialect),
      default: {},
      doc: "Feature gates as Name=true or Name=false; AllAlpha and AllBeta set a whole stage.",
    }),
    option({
      flag: "runtime-config",
      type: mapOf(text, { bareValue: "" }),
      default: {},
      doc: "Built-in APIs to enable or disable: group/version=true|false, group/version/resource=true|false, or api/all, api/ga, api/beta, api/alpha.",
    }),
    releaseOption(
      "Release whose API is served: 1.27, or a later one, of which the features that this server has are added and on by default, and nothing is removed. It sets the default values of feature gates and of --expression-release, the API versions served by default, and the reported version.",
    ),
    option({
      flag: "expression-release",
      type: oneOf(...releases),
      default: "1.27",
      derive: ({ value, isSet }) =>
        isSet("release") ? { value: value("release") as string, from: "release" } : undefined,
      doc: "Release whose CEL functions are available in validation rules of definitions, match conditions of webhooks, and policies: 1.28 added optional values, quantities, and reasons and field paths of rules, 1.29 format and sets, 1.30 IP addresses, 1.31 named formats, 1.32 macros with two variables. If not set, the release given by --release.",
    }),
    option({
      flag: "egress-selector-config-file",
      type: file,
      default: "",
      doc: "File with the egress selector configuration: the proxies for connections to the control plane, the cluster and etcd.",
    }),
    option({
      flag: "tracing-config-file",
      type: file,
      default: "",
      readable: true,
      doc: "File with the tracing configuration: the OpenTelemetry collector and the sampling rate.",
    }),
  ]);

const addressTypes = ["Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"] as const;

export const connectionSection = (dialect: Dialect) =>
  section("Aggregation, proxy and node agent connection", [
    option({
      flag: "enable-aggregator-routing",
      type: bool,
      default: false,
      doc: "Route aggregated requests to endpoint IPs instead of the cluster IP of the service.",
    }),
    option({
      flag: "aggregator-reject-forwarding-redirect",
      type: bool,
      default: true,
      doc: "Reject redirects from aggregated servers instead of forwarding them to the client.",
    }),
    option({
      flag: "proxy-client-cert-file",
      type: file,
      default: "",
      readable: true,
      doc: "Client certificate used to call aggregated servers and webhooks. Should be signed by a CA in --requestheader-client-ca-file.",
    }),
    option({
      flag: "proxy-client-key-file",
      type: file,
      default: "",
      readable: true,
      doc: "Private key of that certificate.",
    }),
    option({
      flag: "nodeagent-certificate-authority",
      type: file,
      default: "",
      readable: true,
      doc: "CA bundle that verifies the serving certificates of node agents.",
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
      doc: "Private key of that certificate.",
    }),
    option({
      flag: "nodeagent-preferred-address-types",

      type: listOf(oneOf(...addressTypes)),
      default: [...addressTypes],
      doc: "Node address types to use for connections to node agents, in order of preference.",
    }),
    option({
      flag: "nodeagent-port",
      type: uint,
      default: 10_250,
      doc: "Port of node agents whose nodes do not report one.",
      deprecated: `${dialect.spelling.flag("nodeagent-port")} is deprecated and will be removed.`,
    }),
    option({
      flag: "nodeagent-read-only-port",
      type: uint,
      default: 10_255,
      doc: "Read-only port of node agents.",
      idle: "this server makes no requests to it, as in the original",
      deprecated: `${dialect.spelling.flag("nodeagent-read-only-port")} is deprecated and will be removed.`,
    }),
    option({
      flag: "nodeagent-timeout",
      type: duration,
      default: 5000,
      check: notNegative,
      doc: "Timeout of requests to node agents.",
    }),
  ]);
