// All loops that a small cluster needs, over one view of it.
import type { Clock, Log } from "#base";
import type { ApiClient } from "#client";
import type { Dialect } from "#dialect";
import { clusterView } from "./cluster-view.ts";
import type { Controller, ControllerContext } from "./context.ts";
import { garbageCollector } from "./garbage-collector.ts";
import { namespaceController } from "./namespaces.ts";
import { nodeLifecycleController } from "./node-lifecycle.ts";
import { podGcController } from "./pod-gc.ts";
import { roleAggregationController } from "./role-aggregation.ts";
import { rootCaController } from "./root-ca.ts";
import { serviceAccountController } from "./service-accounts.ts";
import { claimProtectionController, volumeProtectionController } from "./storage-protection.ts";
import { taintEvictionController } from "./taint-eviction.ts";

export interface ControllersOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  /** Ends all of them. */
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly dialect: Dialect;
  /** The authorities of the API server's certificate, as PEM; without them no namespace gets them. */
  readonly rootCa?: string;
}

/** Runs until the signal; resolves when everything has ended. */
export async function runControllers({ rootCa, ...options }: ControllersOptions): Promise<void> {
  const view = clusterView(options);
  const context: ControllerContext = { ...options, view };
  const running: Controller[] = [
    namespaceController(context),
    serviceAccountController(context),
    ...(rootCa === undefined ? [] : [rootCaController(context, rootCa)]),
    garbageCollector(context),
    podGcController(context),
    nodeLifecycleController(context),
    taintEvictionController(context),
    roleAggregationController(context),
    claimProtectionController(context),
    volumeProtectionController(context),
  ];
  await Promise.all([...running.map(({ stopped }) => stopped), view.stopped()]);
}
