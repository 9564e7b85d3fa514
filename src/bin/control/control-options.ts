// Settings of the controller manager and of the scheduler.
import { controllerGates, controllerNames } from "#controllers";
import type { Dialect } from "#dialect";
import {
  above,
  atLeast,
  between,
  bool,
  cidrs,
  duration,
  file,
  float,
  int32,
  knownGates,
  option,
  type OptionSet,
  type OptionsOf,
  releaseOption,
  section,
  type SettingsOf,
  strings,
  text,
} from "#options";
import { schedulerGates } from "#scheduler";
import { connection, features, other, serving, servingGates } from "./common-options.ts";
import { concurrencySection } from "./concurrency.ts";
import { managerOriginalFlags, schedulerOriginalFlags } from "./original-flags.ts";

const election = (name: string) =>
  section("Leader election", [
    option({
      flag: "leader-elect",
      type: bool,
      default: true,
      doc: "Run only while holding the leader election lease.",
    }),
    option({
      flag: "leader-elect-lease-duration",
      type: duration,
      default: 15_000,
      check: above(0),
      doc: "How long candidates wait after the last renewal before taking over.",
    }),
    option({
      flag: "leader-elect-renew-deadline",
      type: duration,
      default: 10_000,
      check: above(0),
      doc: "The leader gives up leadership after failing to renew for this long.",
    }),
    option({
      flag: "leader-elect-retry-period",
      type: duration,
      default: 2000,
      check: above(0),
      doc: "Interval of attempts to acquire or renew the lease.",
    }),
    option({ flag: "leader-elect-resource-name", type: text, default: name, doc: "Name of the lease." }),
    option({
      flag: "leader-elect-resource-namespace",
      type: text,
      default: "",
      defaultText: "the system namespace",
      doc: "Namespace of the lease.",
    }),
  ]);

const managerSections = (dialect: Dialect) =>
  [
    connection,
    section("Controllers", [
      option({
        flag: "controllers",
        type: strings,
        default: ["*"],
        doc: `Controllers to run: * enables all that are on by default, foo enables one, -foo disables it. All: ${controllerNames.join(", ")}. Off by default: bootstrapsigner, tokencleaner.`,
      }),
      option({
        flag: "use-service-account-credentials",
        type: bool,
        default: false,
        doc: "Run every controller with a separate service account that has only the permissions it needs.",
      }),
      option({
        flag: "root-ca-file",
        type: file,
        default: "",
        doc: "CA certificates published to every namespace as a ConfigMap.",
      }),
      option({
        flag: "service-account-private-key-file",
        type: file,
        default: "",
        doc: "Key that signs service account tokens in secrets; without it none are issued.",
      }),
      option({
        flag: "cluster-signing-cert-file",
        type: file,
        default: "",
        doc: "Certificate of the CA that signs certificate requests.",
      }),
      option({
        flag: "cluster-signing-key-file",
        type: file,
        default: "",
        doc: "Key of the CA that signs certificate requests.",
      }),
      option({
        flag: "cluster-signing-duration",
        type: duration,
        default: 365 * 24 * 3_600_000,
        check: above(0),
        doc: "Maximum lifetime of signed certificates.",
      }),
      option({
        flag: "allocate-node-cidrs",
        type: bool,
        default: false,
        doc: "Allocate a CIDR for pods to every node.",
      }),
      option({
        flag: "cluster-cidr",
        type: cidrs,
        default: [],
        doc: "CIDR from which node CIDRs are allocated, or one per IP family.",
      }),
      option({
        flag: "node-cidr-mask-size",
        type: int32,
        default: 0,
        defaultText: "24, with IPv6 64",
        check: between(0, 128),
        doc: "Mask size of node CIDRs.",
      }),
      option({
        flag: "node-cidr-mask-size-ipv4",
        type: int32,
        default: 0,
        defaultText: "24",
        check: between(0, 32),
        doc: "Mask size of IPv4 node CIDRs in a dual-stack cluster.",
      }),
      option({
        flag: "node-cidr-mask-size-ipv6",
        type: int32,
        default: 0,
        defaultText: "64",
        check: between(0, 128),
        doc: "Mask size of IPv6 node CIDRs in a dual-stack cluster.",
      }),
      option({
        flag: "service-cluster-ip-range",
        type: cidrs,
        default: [],
        doc: "Service CIDRs, excluded from node CIDRs. Only with --allocate-node-cidrs.",
      }),
      option({
        flag: "node-monitor-period",
        type: duration,
        default: 5000,
        check: above(0),
        doc: "Interval of node health checks.",
      }),
      option({
        flag: "node-monitor-grace-period",
        type: duration,
        default: 40_000,
        check: above(0),
        doc: "A node without heartbeats for this long becomes Unknown.",
      }),
      option({
        flag: "node-startup-grace-period",
        type: duration,
        default: 60_000,
        check: above(0),
        doc: "The same for a node that has never posted its status.",
      }),
      option({
        flag: "node-eviction-rate",
        type: float,
        default: 0.1,
        check: between(0, 1e9),
        doc: "Nodes per second, in each zone, whose pods are evicted when they are not ready.",
      }),
      option({
        flag: "secondary-node-eviction-rate",
        type: float,
        default: 0.01,
        check: between(0, 1e9),
        doc: "The same in an unhealthy large zone; in unhealthy small zones evictions stop.",
      }),
      option({
        flag: "large-cluster-size-threshold",
        type: int32,
        default: 50,
        doc: "A zone with more nodes than this counts as large.",
      }),
      option({
        flag: "unhealthy-zone-threshold",
        type: float,
        default: 0.55,
        check: between(0, 1),
        doc: "Fraction of nodes that are not ready (at least three) from which a zone is unhealthy.",
      }),
      option({
        flag: "pvclaimbinder-sync-period",
        type: duration,
        default: 15_000,
        check: above(0),
        doc: "Resync interval of unbound claims.",
      }),
      option({
        flag: "terminated-pod-gc-threshold",
        type: int32,
        default: 12_500,
        doc: "Number of finished pods beyond which the oldest are deleted; 0 or less keeps all.",
      }),
      option({
        flag: "legacy-service-account-token-clean-up-period",
        type: duration,
        default: 365 * 86_400_000,
        check: above(0),
        doc: "How long a service account token in a generated secret must be unused before it is marked as invalid, and then before it is deleted (LegacyServiceAccountTokenCleanUp).",
      }),
      option({
        flag: "enable-garbage-collector",
        type: bool,
        default: true,
        doc: "Delete dependents of deleted owners; must match the API server's flag of this name.",
      }),
      option({
        flag: "max-endpoints-per-slice",
        type: int32,
        default: 100,
        check: between(1, 1000),
        doc: "Maximum number of endpoints in a slice.",
      }),
      option({
        flag: "mirroring-max-endpoints-per-subset",
        type: int32,
        default: 1000,
        check: between(1, 1000),
        doc: "Maximum number of mirrored addresses per subset.",
      }),
      option({
        flag: "horizontal-pod-autoscaler-tolerance",
        type: float,
        default: 0.1,
        check: atLeast(0),
        doc: "Minimum relative deviation from the target before an autoscaler acts.",
      }),
      option({
        flag: "horizontal-pod-autoscaler-sync-period",
        type: duration,
        default: 15_000,
        check: above(0),
        doc: "Sync interval of autoscalers.",
      }),
      option({
        flag: "horizontal-pod-autoscaler-downscale-stabilization",
        type: duration,
        default: 300_000,
        doc: "How long a higher recommendation prevents scale-down.",
      }),
      option({
        flag: "horizontal-pod-autoscaler-cpu-initialization-period",
        type: duration,
        default: 300_000,
        doc: "Time after a pod's start in which CPU samples may be skipped.",
      }),
      option({
        flag: "horizontal-pod-autoscaler-initial-readiness-delay",
        type: duration,
        default: 30_000,
        doc: "Time after a pod's start in which it may count as not yet ready.",
      }),
    ]),
    concurrencySection,
    election(`${dialect.data.componentPrefix}controller-manager`),
    serving,
    features(dialect),
    section("Release", [
      releaseOption("Release whose default values feature gates have; that of the API server."),
    ]),
    managerOriginalFlags,
    other(dialect),
  ] as const;

const schedulerSections = (dialect: Dialect) =>
  [
    connection,
    section("Scheduling", [
      option({
        flag: "config",
        type: file,
        default: "",
        doc: "Configuration file with profiles, backoffs and leader election. Takes precedence over flags.",
      }),
      option({
        flag: "scheduler-name",
        type: text,
        default: "default-scheduler",
        doc: "Name of this scheduler; it schedules pods that request this name.",
      }),
      option({ flag: "disabled-plugins", type: strings, default: [], doc: "Disabled plugins." }),
    ]),
    election(`${dialect.data.componentPrefix}scheduler`),
    serving,
    features(dialect),
    schedulerOriginalFlags,
    other(dialect),
  ] as const;

type ManagerOption = OptionsOf<ReturnType<typeof managerSections>>;
export type ManagerSettings = SettingsOf<ManagerOption>;
type SchedulerOption = OptionsOf<ReturnType<typeof schedulerSections>>;
export type SchedulerSettings = SettingsOf<SchedulerOption>;

export const managerOptions = (dialect: Dialect): OptionSet<ManagerOption> => ({
  program: "orch-controller-manager",
  summary: "Runs the controllers of a cluster.",
  dialect,
  sections: managerSections(dialect),
  checks: [],
  gates: knownGates,
  effectiveGates: () => [...controllerGates, ...servingGates],
});

export const schedulerOptions = (dialect: Dialect): OptionSet<SchedulerOption> => ({
  program: "orch-scheduler",
  summary: "Schedules pods to nodes.",
  dialect,
  sections: schedulerSections(dialect),
  gates: knownGates,
  effectiveGates: () => [...schedulerGates, ...servingGates],
  checks: [
    {
      name: "a configuration file contains its own profiles",
      run: ({ config }, blame, { isSet }) => {
        for (const name of ["schedulerName", "disabledPlugins"] as const)
          if (config !== "" && isSet(name))
            blame([name], "cannot be given with --config, which has profiles");
      },
    },
  ],
});
