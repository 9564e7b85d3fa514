// Settings of the controller manager and of the scheduler.
import { controllerGates, controllerNames } from "#controllers";
import type { Dialect } from "#dialect";
import {
  type OptionSet,
  type OptionsOf,
  type SettingsOf,
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
  section,
  strings,
  text,
} from "#options";
import { schedulerGates } from "#scheduler";
import { connection, features, other, serving, servingGates } from "./common-options.ts";
import { concurrencySection } from "./concurrency.ts";
import { managerOriginalFlags, schedulerOriginalFlags } from "./original-flags.ts";

const election = (name: string) =>
  section("Leader election", [
    option({ flag: "leader-elect", type: bool, default: true, doc: "Work only while holding the lease." }),
    option({
      flag: "leader-elect-lease-duration",
      type: duration,
      default: 15_000,
      check: above(0),
      doc: "Others wait so long after the last renewal.",
    }),
    option({
      flag: "leader-elect-renew-deadline",
      type: duration,
      default: 10_000,
      check: above(0),
      doc: "The leader gives up when it could not renew for so long.",
    }),
    option({
      flag: "leader-elect-retry-period",
      type: duration,
      default: 2000,
      check: above(0),
      doc: "How often the lease is tried for and renewed.",
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
        doc: `Which controllers run: * is all that are on by default, foo turns one on, -foo off. All: ${controllerNames.join(", ")}. Off by default: bootstrapsigner, tokencleaner.`,
      }),
      option({
        flag: "use-service-account-credentials",
        type: bool,
        default: false,
        doc: "Give every controller the identity of a service account of its own, with only the rights it needs.",
      }),
      option({
        flag: "root-ca-file",
        type: file,
        default: "",
        doc: "Authorities that every namespace gets in a ConfigMap.",
      }),
      option({
        flag: "service-account-private-key-file",
        type: file,
        default: "",
        doc: "Key that signs the service account tokens kept in secrets; without it there are none.",
      }),
      option({
        flag: "cluster-signing-cert-file",
        type: file,
        default: "",
        doc: "Certificate of the authority that signs certificate requests.",
      }),
      option({ flag: "cluster-signing-key-file", type: file, default: "", doc: "Its key." }),
      option({
        flag: "cluster-signing-duration",
        type: duration,
        default: 365 * 24 * 3_600_000,
        check: above(0),
        doc: "The longest time a signed certificate is good for.",
      }),
      option({
        flag: "allocate-node-cidrs",
        type: bool,
        default: false,
        doc: "Give every node a range of addresses for its pods.",
      }),
      option({
        flag: "cluster-cidr",
        type: cidrs,
        default: [],
        doc: "The range that these come from, or one of each family.",
      }),
      option({
        flag: "node-cidr-mask-size",
        type: int32,
        default: 0,
        defaultText: "24, with IPv6 64",
        check: between(0, 128),
        doc: "Bits of a node's range.",
      }),
      option({
        flag: "node-cidr-mask-size-ipv4",
        type: int32,
        default: 0,
        defaultText: "24",
        check: between(0, 32),
        doc: "The same for IPv4, where nodes get ranges of both families.",
      }),
      option({
        flag: "node-cidr-mask-size-ipv6",
        type: int32,
        default: 0,
        defaultText: "64",
        check: between(0, 128),
        doc: "The same for IPv6.",
      }),
      option({
        flag: "service-cluster-ip-range",
        type: cidrs,
        default: [],
        doc: "The ranges of services, which no node gets. Only with --allocate-node-cidrs.",
      }),
      option({
        flag: "node-monitor-period",
        type: duration,
        default: 5000,
        check: above(0),
        doc: "How often nodes are looked at.",
      }),
      option({
        flag: "node-monitor-grace-period",
        type: duration,
        default: 40_000,
        check: above(0),
        doc: "A node that was silent for so long is Unknown.",
      }),
      option({
        flag: "node-startup-grace-period",
        type: duration,
        default: 60_000,
        check: above(0),
        doc: "The same for a node that never spoke.",
      }),
      option({
        flag: "node-eviction-rate",
        type: float,
        default: 0.1,
        check: between(0, 1e9),
        doc: "Nodes per second, in each zone, whose pods are deleted when they are not ready.",
      }),
      option({
        flag: "secondary-node-eviction-rate",
        type: float,
        default: 0.01,
        check: between(0, 1e9),
        doc: "The same in an unhealthy zone of a large cluster; unhealthy zones of small ones stop.",
      }),
      option({
        flag: "large-cluster-size-threshold",
        type: int32,
        default: 50,
        doc: "A zone of more nodes counts as large.",
      }),
      option({
        flag: "unhealthy-zone-threshold",
        type: float,
        default: 0.55,
        check: between(0, 1),
        doc: "The share of nodes that are not ready (three at least) that makes a zone unhealthy.",
      }),
      option({
        flag: "pvclaimbinder-sync-period",
        type: duration,
        default: 15_000,
        check: above(0),
        doc: "How often waiting claims are looked at again.",
      }),
      option({
        flag: "terminated-pod-gc-threshold",
        type: int32,
        default: 12_500,
        doc: "Finished pods beyond so many are deleted; 0 or less keeps them all.",
      }),
      option({
        flag: "enable-garbage-collector",
        type: bool,
        default: true,
        doc: "Delete what has lost its owners; the API server's flag of this name must say the same.",
      }),
      option({
        flag: "max-endpoints-per-slice",
        type: int32,
        default: 100,
        check: between(1, 1000),
        doc: "How many endpoints a slice has at most.",
      }),
      option({
        flag: "mirroring-max-endpoints-per-subset",
        type: int32,
        default: 1000,
        check: between(1, 1000),
        doc: "How many addresses of a subset are mirrored at most.",
      }),
      option({
        flag: "horizontal-pod-autoscaler-tolerance",
        type: float,
        default: 0.1,
        check: atLeast(0),
        doc: "How far use may be from its target before an autoscaler acts, as a share.",
      }),
      option({
        flag: "horizontal-pod-autoscaler-sync-period",
        type: duration,
        default: 15_000,
        check: above(0),
        doc: "How often autoscalers look.",
      }),
      option({
        flag: "horizontal-pod-autoscaler-downscale-stabilization",
        type: duration,
        default: 300_000,
        doc: "How long a higher recommendation holds.",
      }),
      option({
        flag: "horizontal-pod-autoscaler-cpu-initialization-period",
        type: duration,
        default: 300_000,
        doc: "How long after its start a pod's CPU use is judged with care.",
      }),
      option({
        flag: "horizontal-pod-autoscaler-initial-readiness-delay",
        type: duration,
        default: 30_000,
        doc: "How long after its start a pod counts as not yet ready.",
      }),
    ]),
    concurrencySection,
    election(`${dialect.data.componentPrefix}controller-manager`),
    serving,
    features(dialect),
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
        doc: "Configuration file: profiles with their plug-ins, back-offs, leader election. What it says is stronger than flags.",
      }),
      option({
        flag: "scheduler-name",
        type: text,
        default: "default-scheduler",
        doc: "Pods that name this scheduler are placed.",
      }),
      option({ flag: "disabled-plugins", type: strings, default: [], doc: "Plug-ins that are left out." }),
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
  actingGates: () => [...controllerGates, ...servingGates],
});

export const schedulerOptions = (dialect: Dialect): OptionSet<SchedulerOption> => ({
  program: "orch-scheduler",
  summary: "Places pods on nodes.",
  dialect,
  sections: schedulerSections(dialect),
  gates: knownGates,
  actingGates: () => [...schedulerGates, ...servingGates],
  checks: [
    {
      name: "a configuration file has profiles of its own",
      run: ({ config }, blame, { isSet }) => {
        for (const name of ["schedulerName", "disabledPlugins"] as const)
          if (config !== "" && isSet(name))
            blame([name], "cannot be given with --config, which has profiles");
      },
    },
  ],
});
