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

const unused = <const F extends string, T>(
  flag: F,
  type: OptionType<T>,
  standard: NoInfer<T>,
  idle: string,
) => option({ flag, type, default: standard, idle, unlisted: true, doc: "Of the original." });
const refused = <const F extends string, T>(
  flag: F,
  type: OptionType<T>,
  standard: NoInfer<T>,
  notYet: string,
) => option({ flag, type, default: standard, notYet, unlisted: true, doc: "Of the original." });

const plainServing = "health and metrics are served over plain HTTP at --port, or not at all";
const noProfiles = "there is no profiling here";
const serverLimits = "the server limits requests";
const ownForm = "the client chooses the form of objects itself";
const allMetrics = "metrics are served as they are";
const followed = "changes are followed as they come";
const noRecycler = "no volume is recycled";
const noCloud = "no cloud provider is built in";

/** Defaults are those of the original, although nothing reads them, so that the reported values match. */
const connection = (qps: number, burst: number, profiling: boolean) =>
  [
    refused("master", text, "", "the address is part of the client configuration"),
    unused("orch-api-content-type", text, "", ownForm),
    unused("orch-api-qps", float, qps, serverLimits),
    unused("orch-api-burst", int32, burst, serverLimits),
    unused("profiling", bool, profiling, noProfiles),
    unused("show-hidden-metrics-for-version", text, "", allMetrics),
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
    unused("leader-elect-resource-lock", oneOf("leases"), "leases", "a lease is the only kind of lock"),
    unused("contention-profiling", bool, defaults.contentionProfiling, noProfiles),
    unused("allow-metric-labels", text, "", allMetrics),
    unused("disabled-metrics", strings, [], allMetrics),
    unused("secure-port", int, port, plainServing),
    unused("cert-dir", text, "", plainServing),
    unused("http2-max-streams-per-connection", int, 0, plainServing),
    unused("permit-address-sharing", bool, false, plainServing),
    unused("permit-port-sharing", bool, false, plainServing),
    unused("tls-cert-file", text, "", plainServing),
    unused("tls-private-key-file", text, "", plainServing),
    unused("tls-cipher-suites", strings, [], plainServing),
    unused("tls-min-version", text, "", plainServing),
    unused("tls-sni-cert-key", text, "", plainServing),
    unused("authentication-orchconfig", text, "", plainServing),
    unused("authentication-skip-lookup", bool, false, plainServing),
    unused("authentication-token-webhook-cache-ttl", duration, 10_000, plainServing),
    unused("authentication-tolerate-lookup-failure", bool, defaults.toleratesLookupFailure, plainServing),
    unused("authorization-orchconfig", text, "", plainServing),
    unused("authorization-always-allow-paths", strings, ["/healthz", "/readyz", "/livez"], plainServing),
    unused("authorization-webhook-cache-authorized-ttl", duration, 10_000, plainServing),
    unused("authorization-webhook-cache-unauthorized-ttl", duration, 10_000, plainServing),
    unused("client-ca-file", text, "", plainServing),
    unused("requestheader-client-ca-file", text, "", plainServing),
    unused("requestheader-allowed-names", strings, [], plainServing),
    unused("requestheader-extra-headers-prefix", strings, ["x-remote-extra-"], plainServing),
    unused("requestheader-group-headers", strings, ["x-remote-group"], plainServing),
    unused("requestheader-username-headers", strings, ["x-remote-user"], plainServing),
  ] as const;

export const managerOriginalFlags = section("Of the original", [
  ...controlPlane({
    qps: 20,
    burst: 30,
    port: 10_257,
    contentionProfiling: false,
    toleratesLookupFailure: false,
  }),
  refused("enable-leader-migration", bool, false, "there is one lease for all controllers"),
  refused("leader-migration-config", text, "", "there is one lease for all controllers"),
  unused("cidr-allocator-type", oneOf("RangeAllocator"), "RangeAllocator", "it is the only allocator"),
  refused("cloud-config", text, "", noCloud),
  unused("cloud-provider", oneOf("", "external"), "", noCloud),
  unused("external-cloud-volume-plugin", text, "", noCloud),
  unused("configure-cloud-routes", bool, true, noCloud),
  unused("route-reconciliation-period", duration, 10_000, noCloud),
  unused("concurrent-service-syncs", int32, 1, noCloud),
  unused("cluster-name", text, "", noCloud),
  unused("controller-start-interval", duration, 0, "controllers start together"),
  unused("min-resync-period", duration, 43_200_000, followed),
  unused("endpoint-updates-batch-period", duration, 0, followed),
  unused("endpointslice-updates-batch-period", duration, 0, followed),
  unused("mirroring-endpointslice-updates-batch-period", duration, 0, followed),
  unused("namespace-sync-period", duration, 300_000, followed),
  unused("resource-quota-sync-period", duration, 300_000, followed),
  unused("attach-detach-reconcile-sync-period", duration, 60_000, followed),
  unused("disable-attach-detach-reconcile-sync", bool, false, followed),
  unused("enable-dynamic-provisioning", bool, true, "volumes are provisioned by drivers"),
  unused("enable-hostpath-provisioner", bool, false, "volumes are provisioned by drivers"),
  unused("flex-volume-plugin-dir", text, "", "there are no flexible volumes"),
  unused("pv-recycler-increment-timeout-nfs", int32, 30, noRecycler),
  unused("pv-recycler-minimum-timeout-hostpath", int32, 60, noRecycler),
  unused("pv-recycler-minimum-timeout-nfs", int32, 300, noRecycler),
  unused("pv-recycler-pod-template-filepath-hostpath", text, "", noRecycler),
  unused("pv-recycler-pod-template-filepath-nfs", text, "", noRecycler),
  unused("pv-recycler-timeout-increment-hostpath", int32, 30, noRecycler),
  unused("volume-host-allow-local-loopback", bool, true, "volumes are not dialled from here"),
  unused("volume-host-cidr-denylist", strings, [], "volumes are not dialled from here"),
  ...(["orch-apiserver-client", "nodeagent-client", "nodeagent-serving", "legacy-unknown"] as const).flatMap(
    (signer) =>
      (["cert", "key"] as const).map((part) =>
        refused(`cluster-signing-${signer}-${part}-file`, text, "", "one authority signs for all signers"),
      ),
  ),
]);

export const schedulerOriginalFlags = section("Of the original", [
  ...controlPlane({
    qps: 50,
    burst: 100,
    port: 10_259,
    contentionProfiling: true,
    toleratesLookupFailure: true,
  }),
  refused("write-config-to", text, "", "the configuration is not written"),
  unused("lock-object-name", text, "", "--leader-elect-resource-name has the name"),
  unused("lock-object-namespace", text, "", "--leader-elect-resource-namespace has the namespace"),
  unused("pod-max-in-unschedulable-pods-duration", duration, 300_000, "it is always five minutes"),
]);

const noIpvs = "services are kept in nftables or iptables";
const notDescribed = "the machine is not described here";
const kernelKeeps = "limits of tracked connections are left to the machine";

export const proxyOriginalFlags = section("Of the original", [
  ...connection(5, 10, false),
  refused("config", text, "", "the proxy has flags only"),
  refused("write-config-to", text, "", "the proxy has flags only"),
  unused("bind-address-hard-fail", bool, false, plainServing),
  unused("healthz-bind-address", text, "0.0.0.0:10256", plainServing),
  unused("healthz-port", int32, 10_256, plainServing),
  unused("metrics-port", int32, 10_249, plainServing),
  unused("metrics-bind-address", text, "127.0.0.1:10249", plainServing),
  unused("config-sync-period", duration, 900_000, followed),
  unused("conntrack-max-per-core", int32, 32_768, kernelKeeps),
  unused("conntrack-min", int32, 131_072, kernelKeeps),
  unused("conntrack-tcp-timeout-close-wait", duration, 3_600_000, kernelKeeps),
  unused("conntrack-tcp-timeout-established", duration, 86_400_000, kernelKeeps),
  unused("detect-local-mode", oneOf("", "ClusterCIDR"), "", "local traffic is known by --cluster-cidr"),
  unused("ipvs-exclude-cidrs", strings, [], noIpvs),
  unused("ipvs-min-sync-period", duration, 0, noIpvs),
  unused("ipvs-scheduler", text, "", noIpvs),
  unused("ipvs-strict-arp", bool, false, noIpvs),
  unused("ipvs-sync-period", duration, 30_000, noIpvs),
  unused("ipvs-tcp-timeout", duration, 0, noIpvs),
  unused("ipvs-tcpfin-timeout", duration, 0, noIpvs),
  unused("ipvs-udp-timeout", duration, 0, noIpvs),
  unused("oom-score-adj", int32, -999, "whoever starts the program decides it"),
  unused("pod-bridge-interface", text, "", "local traffic is known by --cluster-cidr"),
  unused("pod-interface-name-prefix", text, "", "local traffic is known by --cluster-cidr"),
  unused("proxy-port-range", text, "", "no ports are opened on behalf of services"),
  unused("boot-id-file", text, "/proc/sys/kernel/random/boot_id", notDescribed),
  unused("machine-id-file", text, "/etc/machine-id,/var/lib/dbus/machine-id", notDescribed),
]);
