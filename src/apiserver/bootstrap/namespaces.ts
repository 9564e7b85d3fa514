// Initial content of a new cluster: its namespaces, and the name of its dialect in the store.
import type { ConfigMap } from "#api";
import type { Dialect } from "#dialect";
import { type ServerObjects, remove, update } from "#registry";
import type { Store } from "#store";
import { type PostStartHook, postStartHook } from "./post-start-hook.ts";

/** Creates a namespace unless it exists. */
export async function ensureNamespace(server: ServerObjects, name: string): Promise<void> {
  const resource = server.resources.namespaces.resource;
  if (await resource.source.get(name, { at: "any" })) return;
  await server.writer.ensure(resource.endpoints[0]!, {
    metadata: { name, creationTimestamp: null },
    spec: {},
    status: {},
  });
}

/** Maintains the system namespaces. */
export function systemNamespaces(server: ServerObjects): PostStartHook {
  const { systemNamespace, publicNamespace, nodeLeaseNamespace } = server.dialect.data;
  return postStartHook({
    name: "poststarthook/start-system-namespaces-controller",
    everyMilliseconds: 60_000,
    reconcile: async () => {
      for (const name of [systemNamespace, publicNamespace, nodeLeaseNamespace])
        await ensureNamespace(server, name);
    },
    failed: ({ message: error }) =>
      server.onError("system namespaces could not be created; retrying", {
        error,
      }),
  });
}

/**
 * Maintains the config map that records since when the use of legacy tokens is tracked: a token without a
 * last-used label may have been used before that day. The config map is removed when tracking is off.
 */
export function legacyTokenTracking(server: ServerObjects, isOn: boolean): PostStartHook {
  const { names, data } = server.dialect;
  const resource = server.resources.configMaps.resource;
  const [name, namespace] = [names.objects.legacyTokenTracking, data.systemNamespace];
  const key = resource.keyOf(namespace, name);
  return postStartHook({
    name: "poststarthook/start-legacy-token-tracking-controller",
    everyMilliseconds: 30 * 60_000,
    follows: [{ resource, key }],
    reconcile: async () => {
      const found = await resource.source.get(key, { at: "latest" });
      const request = server.writer.request(resource.endpoints[0]!, namespace);
      if (!isOn) {
        if (found) await remove(request, name, {});
        return;
      }
      const since = new Date(server.clock.now()).toISOString().slice(0, 10);
      if (found) {
        const { data: stored } = resource.objectOf(found) as unknown as ConfigMap;
        if (!isDay(stored?.["since"]))
          await update(request, name, {
            transform: (old) => ({ ...old!, data: { ...(old as unknown as ConfigMap).data, since } }),
          });
        return;
      }
      await server.writer.ensure(resource.endpoints[0]!, {
        metadata: { name, namespace, creationTimestamp: null },
        data: { since },
      });
    },
    failed: ({ message: error }) =>
      server.onError("the start of legacy token tracking could not be recorded; retrying", { error }),
  });
}

const isDay = (text = ""): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text) === true;

/** Each store has one dialect: the first server records its name, later servers must use the same. */
export async function claimDialect(store: Store, prefix: string, dialect: Dialect): Promise<void> {
  const key = `${prefix}/dialect`;
  // Read first: a store that is full rejects writes but still serves reads.
  const [present] = (await store.read({ key })).entries;
  const outcome = present
    ? { done: false as const, current: present }
    : await store.write({ key, value: Buffer.from(dialect.name), expect: "absent" });
  if (outcome.done) return;
  const found = Buffer.from(outcome.current?.value ?? []).toString();
  if (found !== dialect.name)
    throw new Error(
      `the store was made with --dialect=${found}, this server was started with --dialect=${dialect.name}: start it with --dialect=${found}, or use another store`,
    );
}
