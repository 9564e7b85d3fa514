// Registry of all controllers by name, and the manager that runs them over one view of the cluster.
import type { Clock, Log, Metrics } from "#base";
import type { ApiClient } from "#client";
import {
  type ClusterView,
  type Controller,
  type ControllerContext,
  contextFor,
  sharedContext,
} from "#controllerkit";
import { type Dialect, componentName } from "#dialect";
import type { Gates } from "#options";
import { accountOf } from "./accounts.ts";
import { autoscalerController } from "./autoscaling/autoscaler.ts";
import { bootstrapSignerController, tokenCleanerController } from "./bootstrap-tokens.ts";
import { csrApprovingController } from "./certificates/approving.ts";
import { csrCleaningController, csrSigningController } from "./certificates/signing.ts";
import { cronJobController } from "./cron-job/cron-job.ts";
import { daemonSetController } from "./daemon-set/daemon-set.ts";
import { deploymentController } from "./deployment/deployment.ts";
import { disruptionController } from "./disruption.ts";
import { endpointSliceController } from "./endpoints/endpoint-slices.ts";
import { endpointsController } from "./endpoints/endpoints.ts";
import { endpointSliceMirroringController } from "./endpoints/mirroring.ts";
import { garbageCollector } from "./garbage-collector.ts";
import { jobController } from "./job/job.ts";
import { legacyTokenCleaner } from "./legacy-tokens.ts";
import { namespaceController } from "./namespaces.ts";
import { nodeLifecycleController } from "./node-lifecycle.ts";
import { nodeIpamController } from "./node-ipam.ts";
import { nodeTtlController } from "./node-ttl.ts";
import { podGcController } from "./pod-gc.ts";
import { replicaSetController, replicationController } from "./replica-set.ts";
import { resourceQuotaController } from "./resource-quota.ts";
import { roleAggregationController } from "./role-aggregation.ts";
import { rootCaController } from "./root-ca.ts";
import { serviceAccountTokenController } from "./service-account-tokens.ts";
import { serviceAccountController } from "./service-accounts.ts";
import { type ControllerSettings, defaultSettings } from "./settings.ts";
import { staleDisruptionsController } from "./stale-disruptions.ts";
import { statefulSetController } from "./stateful-set/stateful-set.ts";
import { attachDetachController } from "./storage/attach-detach.ts";
import { volumeBinderController } from "./storage/binder.ts";
import { ephemeralVolumeController } from "./storage/ephemeral.ts";
import { volumeExpanderController } from "./storage/expander.ts";
import { localPathProvisioner } from "./storage/local-path.ts";
import { claimProtectionController, volumeProtectionController } from "./storage/protection.ts";
import { taintEvictionController } from "./taint-eviction.ts";
import { ttlAfterFinishedController } from "./ttl-after-finished.ts";

type Start = (context: ControllerContext, settings: ControllerSettings) => readonly Controller[];

/**
 * Controllers by the names that `--controllers` takes. The garbage collector is last: it reuses informers of
 * the others.
 */
const controllers: Readonly<Record<string, Start>> = {
  namespace: (context) => [namespaceController(context)],
  serviceaccount: (context) => [serviceAccountController(context)],
  "root-ca-cert-publisher": (context, { rootCa }) =>
    rootCa === undefined ? [] : [rootCaController(context, rootCa)],
  podgc: (context, { terminatedPodThreshold }) => [podGcController(context, terminatedPodThreshold)],
  nodelifecycle: (context, settings) => [
    nodeLifecycleController(context, settings),
    taintEvictionController(context),
  ],
  nodeipam: (context, { nodeIpam }) =>
    nodeIpam === undefined ? [] : [nodeIpamController(context, nodeIpam)],
  ttl: (context) => [nodeTtlController(context)],
  "clusterrole-aggregation": (context) => [roleAggregationController(context)],
  "pvc-protection": (context) => [claimProtectionController(context)],
  "pv-protection": (context) => [volumeProtectionController(context)],
  deployment: (context) => [deploymentController(context)],
  replicaset: (context) => [replicaSetController(context)],
  replicationcontroller: (context) => [replicationController(context)],
  statefulset: (context) => [statefulSetController(context)],
  daemonset: (context) => [daemonSetController(context)],
  job: (context) => [jobController(context)],
  cronjob: (context) => [cronJobController(context)],
  "ttl-after-finished": (context) => [ttlAfterFinishedController(context)],
  endpoint: (context) => [endpointsController(context)],
  endpointslice: (context, { maxEndpointsPerSlice }) => [
    endpointSliceController(context, maxEndpointsPerSlice),
  ],
  endpointslicemirroring: (context, { maxMirroredPerSubset }) => [
    endpointSliceMirroringController(context, maxMirroredPerSubset),
  ],
  "persistentvolume-binder": (context, { claimBinderSyncMilliseconds }) => [
    volumeBinderController(context, claimBinderSyncMilliseconds),
  ],
  "persistentvolume-expander": (context) => [volumeExpanderController(context)],
  "ephemeral-volume": (context) => [ephemeralVolumeController(context)],
  attachdetach: (context) => [attachDetachController(context)],
  "local-path": (context, { localPath }) =>
    localPath === undefined ? [] : [localPathProvisioner(context, localPath)],
  resourcequota: (context) => [resourceQuotaController(context)],
  disruption: (context) => [disruptionController(context), staleDisruptionsController(context)],
  "serviceaccount-token": (context, { serviceAccountKey, rootCa }) =>
    serviceAccountKey === undefined
      ? []
      : [serviceAccountTokenController(context, { key: serviceAccountKey, rootCa })],
  "legacy-service-account-token-cleaner": (context, { tokenCleanUpMilliseconds }) =>
    context.gates.enabled("LegacyServiceAccountTokenCleanUp")
      ? [legacyTokenCleaner(context, tokenCleanUpMilliseconds)]
      : [],
  csrapproving: (context) => [csrApprovingController(context)],
  csrsigning: (context, { signing }) =>
    signing === undefined ? [] : [csrSigningController(context, signing)],
  csrcleaner: (context) => [csrCleaningController(context)],
  bootstrapsigner: (context) => [bootstrapSignerController(context)],
  tokencleaner: (context) => [tokenCleanerController(context)],
  horizontalpodautoscaling: (context, { autoscaler }) => [autoscalerController(context, autoscaler)],
  garbagecollector: (context) => [garbageCollector(context)],
};

export const controllerNames: readonly string[] = Object.keys(controllers);
const disabledByDefault: ReadonlySet<string> = new Set(["bootstrapsigner", "tokencleaner"]);

export interface ControllerManagerOptions {
  readonly client: ApiClient;
  readonly view: ClusterView;
  readonly clock: Clock;
  /** Stops all controllers. */
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly dialect: Dialect;
  readonly metrics?: Metrics;
  /** As in `--controllers`: `*` enables all that are on by default, `foo` enables one, `-foo` disables it. */
  readonly enabled?: readonly string[];
  readonly settings?: Partial<ControllerSettings>;
  readonly gates?: Gates;
  /** Number of workers by queue name. */
  readonly workers?: ReadonlyMap<string, number>;
  /** Called with the names of the started controllers. */
  readonly onStart?: (names: readonly string[]) => void;
  /** Returns the client of a service account, if controllers use individual identities. */
  readonly asAccount?: (account: string) => ApiClient;
}

/** Reports whether a list such as `*,-ttl` enables the controller. */
export function isEnabled(name: string, list: readonly string[]): boolean {
  if (list.includes(name)) return true;
  return !list.includes(`-${name}`) && list.includes("*") && !disabledByDefault.has(name);
}

/** Exports which controllers run in this process, until they stop. */
function recordRunning(
  metrics: Metrics,
  manager: string,
  started: readonly { readonly name: string; readonly parts: readonly Controller[] }[],
): void {
  const running = metrics.gauge({
    name: "running_managed_controllers",
    help: "Whether a controller is running in this process: 1 if it is, 0 if it has stopped.",
    stability: "ALPHA",
    labels: ["name", "manager"],
  });
  for (const { name, parts } of started) {
    const own = running.with(name, manager);
    own.set(1);
    void Promise.allSettled(parts.map(({ stopped }) => stopped)).then(() => own.set(0));
  }
}

/** Runs all enabled controllers; resolves when all have stopped after the signal aborted. */
export async function runControllerManager(options: ControllerManagerOptions): Promise<void> {
  const { enabled = ["*"], asAccount, view, log } = options;
  const clientFor = (name: string): ApiClient => {
    const account = accountOf(name);
    return asAccount && account !== undefined ? asAccount(account) : options.client;
  };
  const settings = { ...defaultSettings, ...options.settings };
  const shared = sharedContext(options);
  const started = Object.entries(controllers)
    .filter(([name]) => isEnabled(name, enabled))
    .map(([name, start]) => ({ name, parts: start(contextFor(shared, clientFor(name)), settings) }))
    .filter(({ parts }) => parts.length > 0);
  const running = started.flatMap(({ parts }) => parts);
  options.onStart?.(started.map(({ name }) => name));
  if (options.metrics)
    recordRunning(options.metrics, componentName(options.dialect, "controller-manager"), started);
  log.verbose(1, "controllers started", { count: running.length });
  await Promise.all([...running.map(({ stopped }) => stopped), view.stopped()]);
}
