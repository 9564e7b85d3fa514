// Counts objects of kinds whose schema is unknown here, such as custom resources, for the quotas that limit their
// number. A resource is followed from its first count until no quota names it.
import type { AnyObject, InformerEvent } from "#client";
import {
  type ControllerContext,
  type ServedResource,
  type SharedInformer,
  abortable,
  discover,
  metadataClient,
  startInformer,
} from "#controllerkit";

/** How long the result of API discovery is used, unless a name is missing in it. */
export const discoveryMilliseconds = 30_000;
/** Maximum time to wait for the first list of a resource, which may have been removed meanwhile. */
const syncTimeoutMilliseconds = 30_000;

export interface ObjectCounts {
  /** Counts the objects of a namespace by quota name; resources that are not served are absent. */
  of(namespace: string, names: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Stops following the resources that none of these quota names counts. */
  retain(names: ReadonlySet<string>): void;
}

interface Followed {
  readonly groupVersion: string;
  readonly objects: SharedInformer<AnyObject>;
  end(): void;
}

/** The namespaced resources that the server offers. */
interface Served {
  readonly byName: ReadonlyMap<string, ServedResource>;
  /** Whether all groups could be discovered: others may have more resources. */
  readonly isComplete: boolean;
  readonly at: number;
}

const nameOf = ({ groupVersion, plural }: ServedResource): string =>
  `count/${plural}${groupVersion.includes("/") ? `.${groupVersion.split("/")[0]}` : ""}`;

export function objectCounts(
  { client, clock, signal, log }: Pick<ControllerContext, "client" | "clock" | "signal" | "log">,
  onEvent: (event: InformerEvent<AnyObject>) => void,
): ObjectCounts {
  const followed = new Map<string, Followed>();
  let discovered: Served | undefined;
  return {
    of: async (namespace, names) => {
      const { byName, isComplete } = await servedWith(names);
      const counts = new Map<string, number>();
      for (const name of names) {
        const resource = byName.get(name);
        if (!resource && isComplete) forget(name);
        const objects = resource ? follow(name, resource) : followed.get(name)?.objects;
        if (!objects) continue;
        await listed(name, objects);
        counts.set(name, objects.inNamespace(namespace).length);
      }
      return counts;
    },
    retain: (names) => {
      for (const name of followed.keys()) if (!names.has(name)) forget(name);
    },
  };

  async function servedWith(names: readonly string[]): Promise<Served> {
    const known = discovered;
    const isRecent = known && clock.monotonic() - known.at < discoveryMilliseconds;
    if (isRecent && names.every((name) => known.byName.has(name))) return known;
    const { resources, failed } = await discover(client);
    const namespaced = resources.filter((each) => each.namespaced);
    discovered = {
      byName: new Map(namespaced.map((each) => [nameOf(each), each])),
      isComplete: failed.length === 0,
      at: clock.monotonic(),
    };
    return discovered;
  }

  function forget(name: string): void {
    followed.get(name)?.end();
    followed.delete(name);
  }

  function follow(name: string, resource: ServedResource): SharedInformer<AnyObject> {
    const known = followed.get(name);
    if (known?.groupVersion === resource.groupVersion) return known.objects;
    known?.end();
    const ending = new AbortController();
    const started = startInformer(
      metadataClient(client, resource),
      resource.plural,
      {},
      { clock, signal: AbortSignal.any([signal, ending.signal]), log },
    );
    followed.set(name, {
      groupVersion: resource.groupVersion,
      objects: started.informer,
      end: () => ending.abort(),
    });
    started.listen(onEvent);
    return started.informer;
  }

  async function listed(name: string, { synced }: SharedInformer<AnyObject>): Promise<void> {
    const waiting = new AbortController();
    const timeout = clock
      .sleep(syncTimeoutMilliseconds, AbortSignal.any([signal, waiting.signal]))
      .then(() => Promise.reject(new Error(`${name}: the objects could not be listed`)));
    timeout.catch(() => undefined);
    try {
      await abortable(Promise.race([synced, timeout]), signal);
    } finally {
      waiting.abort();
    }
  }
}
