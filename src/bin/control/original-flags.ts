// Flags of the original programs without a counterpart here: accepted and reported as having no effect, so
// that existing command lines keep working, or rejected if ignoring them would be wrong.
import {
  type OptionType,
  bool,
  duration,
  float,
  int,
  int32,
  oneOf,
  option,
  section,
  strings,
  text,
} from "#options";

const ignored = <const F extends string, T>(
  flag: F,
  type: OptionType<T>,
  standard: NoInfer<T>,
  idle: string,
) =>
  option({
    flag,
    type,
    default: standard,
    idle,
    unlisted: true,
    doc: "Flag of the original program.",
  });
const rejected = <const F extends string, T>(
  flag: F,
  type: OptionType<T>,
  standard: NoInfer<T>,
  unavailable: string,
) =>
  option({
    flag,
    type,
    default: standard,
    unavailable,
    unlisted: true,
    doc: "Flag of the original program.",
  });

const plainServing = "health and metrics are served over plain HTTP at --port, or not at all";
const noProfiles = "profiling is not supported";
const serverLimits = "requests are limited by the server";
const clientEncoding = "the client chooses the encoding itself";
const fixedMetrics = "the set of metrics is fixed";
const watched = "changes are watched";
const noRecycler = "volumes are not recycled";
const noCloud = "no cloud provider is built in";

/** Defaults are those of the original, although nothing reads them, so that the reported values match. */
const connection = (qps: number, burst: number, profiling: boolean) =>
  [
    rejected("master", text, "", "the server address is part of the client configuration"),
    ignored("orch-api-content-type", text, "", clientEncoding),
    ignored("orch-api-qps", float, qps, serverLimits),
    ignored("orch-api-burst", int32, burst, serverLimits),
    ignored("profiling", bool, profiling, noProfiles),
    ignored("show-hidden-metrics-for-version", text, "", fixedMetrics),
  ] as const;

interface ControlPlaneDefaults {
  readonly qps: number;
  readonly burst: number;
  readonly port: number;
  readonly contentionProfiling: boolean;
  readonly toleratesLookupFailure: boolean;
}

/** Flags shared by controller manager and scheduler. */
const controlPlane = ({ qps, burst, port, ...defaults }: ControlPlaneDefaults) =>
  [
    ...connection(qps, burst, true),
    ignored("leader-elect-resource-lock", oneOf("leases"), "leases", "a lease is the only kind of lock"),
    ignored("contention-profiling", bool, defaults.contentionProfiling, noProfiles),
    ignored("allow-metric-labels", text, "", fixedMetrics),
    ignored("disabled-metrics", strings, [], fixedMetrics),
    ignored("secure-port", int, port, plainServing),
    ignored("cert-dir", text, "", plainServing),
    ignored("http2-max-streams-per-connection", int, 0, plainServing),
    ignored("permit-address-sharing", bool, false, plainServing),
    ignored("permit-port-sharing", bool, false, plainServing),
    ignored("tls-cert-file", text, "", plainServing),
    ignored("tls-private-key-file", text, "", plainServing),
    ignored("tls-cipher-suites", strings, [], plainServing),
    ignored("tls-min-version", text, "", plainServing),
    ignored("tls-sni-cert-key", text, "", plainServing),
    ignored("authentication-orchconfig", text, "", plainServing),
    ignored("authentication-skip-lookup", bool, false, plainServing),
    ignored("authentication-token-webhook-cache-ttl", duration, 10_000, plainServing),
    ignored("authentication-tolerate-lookup-failure", bool, defaults.toleratesLookupFailure, plainServing),
    ignored("authorization-orchconfig", text, "", plainServing),
    ignored("authorization-always-allow-paths", strings, ["/healthz", "/readyz", "/livez"], plainServing),
    ignored("authorization-webhook-cache-authorized-ttl", duration, 10_000, plainServing),
    ignored("authorization-webhook-cache-unauthorized-ttl", duration, 10_000, plainServing),
    ignored("client-ca-file", text, "", plainServing),
    ignored("requestheader-client-ca-file", text, "", plainServing),
    ignored("requestheader-allowed-names", strings, [], plainServing),
    ignored("requestheader-extra-headers-prefix", strings, ["x-remote-extra-"], plainServing),
    ignored("requestheader-group-headers", strings, ["x-remote-group"], plainServing),
    ignored("requestheader-username-headers", strings, ["x-remote-user"], plainServing),
  ] as const;

export const managerOriginalFlags = section("Flags of the original", [
  ...controlPlane({
    qps: 20,
    burst: 30,
    port: 10_257,
    contentionProfiling: false,
    toleratesLookupFailure: false,
  }),
  rejected("enable-leader-migration", bool, false, "all controllers share one lease"),
  rejected("leader-migration-config", text, "", "all controllers share one lease"),
  ignored("cidr-allocator-type", oneOf("RangeAllocator"), "RangeAllocator", "there is only one allocator"),
  rejected("cloud-config", text, "", noCloud),
  ignored("cloud-provider", oneOf("", "external"), "", noCloud),
  ignored("external-cloud-volume-plugin", text, "", noCloud),
  ignored("configure-cloud-routes", bool, true, noCloud),
  ignored("route-reconciliation-period", duration, 10_000, noCloud),
  ignored("concurrent-service-syncs", int32, 1, noCloud),
  ignored("cluster-name", text, "", noCloud),
  ignored("controller-start-interval", duration, 0, "controllers start together"),
  ignored("min-resync-period", duration, 43_200_000, watched),
  ignored("endpoint-updates-batch-period", duration, 0, watched),
  ignored("endpointslice-updates-batch-period", duration, 0, watched),
  ignored("mirroring-endpointslice-updates-batch-period", duration, 0, watched),
  ignored("namespace-sync-period", duration, 300_000, watched),
  ignored("resource-quota-sync-period", duration, 300_000, watched),
  ignored("attach-detach-reconcile-sync-period", duration, 60_000, watched),
  ignored("disable-attach-detach-reconcile-sync", bool, false, watched),
  ignored("enable-dynamic-provisioning", bool, true, "volumes are provisioned by drivers"),
  ignored("enable-hostpath-provisioner", bool, false, "volumes are provisioned by drivers"),
  ignored("flex-volume-plugin-dir", text, "", "flexible volumes are not supported"),
  ignored("pv-recycler-increment-timeout-nfs", int32, 30, noRecycler),
  ignored("pv-recycler-minimum-timeout-hostpath", int32, 60, noRecycler),
  ignored("pv-recycler-minimum-timeout-nfs", int32, 300, noRecycler),
  ignored("pv-recycler-pod-template-filepath-hostpath", text, "", noRecycler),
  ignored("pv-recycler-pod-template-filepath-nfs", text, "", noRecycler),
  ignored("pv-recycler-timeout-increment-hostpath", int32, 30, noRecycler),
  ignored(
    "volume-host-allow-local-loopback",
    bool,
    true,
    "the controller manager does not connect to volumes",
  ),
  ignored("volume-host-cidr-denylist", strings, [], "the controller manager does not connect to volumes"),
  ...(["orch-apiserver-client", "nodeagent-client", "nodeagent-serving", "legacy-unknown"] as const).flatMap(
    (signer) =>
      (["cert", "key"] as const).map((part) =>
        rejected(`cluster-signing-${signer}-${part}-file`, text, "", "one CA signs for all signers"),
      ),
  ),
]);

export const schedulerOriginalFlags = section("Flags of the original", [
  ...controlPlane({
    qps: 50,
    burst: 100,
    port: 10_259,
    contentionProfiling: true,
    toleratesLookupFailure: true,
  }),
  rejected("write-config-to", text, "", "writing the configuration is not supported"),
  ignored("lock-object-name", text, "", "use --leader-elect-resource-name"),
  ignored("lock-object-namespace", text, "", "use --leader-elect-resource-namespace"),
  ignored("pod-max-in-unschedulable-pods-duration", duration, 300_000, "the duration is always five minutes"),
]);

const noIpvs = "only nftables and iptables are supported";
const notDescribed = "machine information is not collected";
const conntrackUnmanaged = "conntrack limits are not managed";

export const proxyOriginalFlags = section("Flags of the original", [
  ...connection(5, 10, false),
  rejected("config", text, "", "the proxy is configured by flags only"),
  rejected("write-config-to", text, "", "the proxy is configured by flags only"),
  ignored("bind-address-hard-fail", bool, false, plainServing),
  ignored("healthz-bind-address", text, "0.0.0.0:10256", plainServing),
  ignored("healthz-port", int32, 10_256, plainServing),
  ignored("metrics-port", int32, 10_249, plainServing),
  ignored("metrics-bind-address", text, "127.0.0.1:10249", plainServing),
  ignored("config-sync-period", duration, 900_000, watched),
  ignored("conntrack-max-per-core", int32, 32_768, conntrackUnmanaged),
  ignored("conntrack-min", int32, 131_072, conntrackUnmanaged),
  ignored("conntrack-tcp-timeout-close-wait", duration, 3_600_000, conntrackUnmanaged),
  ignored("conntrack-tcp-timeout-established", duration, 86_400_000, conntrackUnmanaged),
  ignored("detect-local-mode", oneOf("", "ClusterCIDR"), "", "local traffic is detected by --cluster-cidr"),
  ignored("ipvs-exclude-cidrs", strings, [], noIpvs),
  ignored("ipvs-min-sync-period", duration, 0, noIpvs),
  ignored("ipvs-scheduler", text, "", noIpvs),
  ignored("ipvs-strict-arp", bool, false, noIpvs),
  ignored("ipvs-sync-period", duration, 30_000, noIpvs),
  ignored("ipvs-tcp-timeout", duration, 0, noIpvs),
  ignored("ipvs-tcpfin-timeout", duration, 0, noIpvs),
  ignored("ipvs-udp-timeout", duration, 0, noIpvs),
  ignored("oom-score-adj", int32, -999, "it is left to the program's supervisor"),
  ignored("pod-bridge-interface", text, "", "local traffic is detected by --cluster-cidr"),
  ignored("pod-interface-name-prefix", text, "", "local traffic is detected by --cluster-cidr"),
  ignored("proxy-port-range", text, "", "no host ports are opened for services"),
  ignored("boot-id-file", text, "/proc/sys/kernel/random/boot_id", notDescribed),
  ignored("machine-id-file", text, "/etc/machine-id,/var/lib/dbus/machine-id", notDescribed),
]);
