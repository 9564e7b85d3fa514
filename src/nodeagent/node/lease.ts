// The node lease, the node's heartbeat: renewed after every quarter of its duration.
import { Lease } from "#api";
import { ApiError, type Clock, type Log, microTimeOfMillis } from "#base";
import type { AnyObject, ApiClient, ResourceKind } from "#client";

export interface NodeLeaseOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly nodeName: string;
  readonly seconds: number;
  /** Returns the UID of the registered node, or undefined until it is known. */
  readonly nodeUid: () => string | undefined;
}

const leases: ResourceKind<typeof Lease> = { schema: Lease, plural: "leases", namespaced: true };
const maxWaitMilliseconds = 7000;
const triesPerRenewal = 5;

type KnownLease = Lease & AnyObject;

/** Creates and renews the lease until stopped. */
export function nodeLease({ client, clock, log, nodeName, seconds, nodeUid }: NodeLeaseOptions): {
  stop(): void;
} {
  const stopping = new AbortController();
  const namespace = client.dialect.data.nodeLeaseNamespace;
  const resource = client.of(leases);
  let current: KnownLease | undefined;

  void (async () => {
    for (let failures = 0; !stopping.signal.aborted;) {
      const startedAt = clock.monotonic();
      try {
        await renew();
        failures = 0;
        await sleep(Math.max(0, seconds * 250 - (clock.monotonic() - startedAt)));
      } catch (error) {
        current = undefined;
        failures++;
        if (failures % triesPerRenewal === 1)
          log.warn("failed to renew node lease", { error: (error as Error).message });
        await sleep(Math.min(maxWaitMilliseconds, 200 * 2 ** Math.min(failures - 1, 10)));
      }
    }
  })();
  return { stop: () => stopping.abort(new Error("stopped")) };

  async function sleep(milliseconds: number): Promise<void> {
    await clock.sleep(milliseconds, stopping.signal).catch(() => undefined);
  }

  async function renew(): Promise<void> {
    current ??= await resource.get(nodeName, { namespace }).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 404) return undefined;
      throw error;
    });
    const wanted = renewed(current);
    current = current
      ? await resource.update(wanted, { namespace })
      : await resource.create(wanted, { namespace });
  }

  function renewed(old: KnownLease | undefined): KnownLease {
    const uid = nodeUid();
    const owners = old?.metadata.ownerReferences ?? [];
    return {
      ...old,
      metadata: {
        ...(old?.metadata ?? { name: nodeName, namespace }),
        ...(owners.length === 0 &&
          uid !== undefined && {
            ownerReferences: [{ apiVersion: "v1", kind: "Node", name: nodeName, uid }],
          }),
      },
      spec: {
        ...old?.spec,
        holderIdentity: nodeName,
        leaseDurationSeconds: seconds,
        renewTime: microTimeOfMillis(clock.now()),
      },
    } as KnownLease;
  }
}
