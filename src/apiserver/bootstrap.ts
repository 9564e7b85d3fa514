// What a new cluster has before anybody asks: its namespaces, its roles, and the name of its dialect in the
// store.
import { ApiError } from "#base";
import type { Dialect } from "#dialect";
import { admissionChain } from "#admission";
import { type ApiObject, type Endpoint, type WriteRequest, create, defaulted } from "#registry";
import { type PostStartHook, postStartHook } from "./lifecycle/upkeep.ts";
import type { Core } from "./server.ts";

/** The server itself as a writer of objects. */
export function ownRequest(core: Core, endpoint: Endpoint, namespace = ""): WriteRequest {
  return {
    endpoint,
    namespace,
    subresource: "",
    user: { name: "system:apiserver", groups: ["system:masters"] },
    now: new Date(core.clock.now()),
    dryRun: false,
    manager: core.options.dialect.cli.apiServer,
    admission: admissionChain([]),
    settings: core.options.settings,
    options: {},
    warn: () => undefined,
  };
}

/** Creates an object unless it is there. */
export async function ensure(
  core: Core,
  endpoint: Endpoint,
  object: Omit<ApiObject, "kind" | "apiVersion"> & Record<string, unknown>,
  manager?: string,
): Promise<void> {
  const request = {
    ...ownRequest(core, endpoint, object.metadata.namespace),
    ...(manager !== undefined && { manager }),
  };
  try {
    await create(
      request,
      defaulted(request, { kind: endpoint.kind, apiVersion: endpoint.apiVersion, ...object }),
    );
  } catch (error) {
    if (!(error instanceof ApiError && error.reason === "AlreadyExists")) throw error;
  }
}

/** Creates a namespace unless it is there. */
export async function ensureNamespace(core: Core, name: string): Promise<void> {
  const resource = core.resources.get("/namespaces")!;
  if (await resource.source.get(name, { at: "any" })) return;
  await ensure(core, resource.endpoints[0]!, {
    metadata: { name, creationTimestamp: null },
    spec: {},
    status: {},
  });
}

/** The namespaces that every cluster has for itself. */
export function systemNamespaces(core: Core): PostStartHook {
  const { systemNamespace, publicNamespace, nodeLeaseNamespace } = core.options.dialect.data;
  return postStartHook({
    name: "poststarthook/start-system-namespaces-controller",
    everyMilliseconds: 60_000,
    look: async () => {
      for (const name of [systemNamespace, publicNamespace, nodeLeaseNamespace])
        await ensureNamespace(core, name);
    },
    failed: ({ message: error }) =>
      core.options.onError("namespaces that every cluster has could not be created; it is tried again", {
        error,
      }),
  });
}

/**
 * Says since when the use of old tokens is noted: a token without such a note may have been used before that
 * day.
 */
export function tokenTracking(core: Core): PostStartHook {
  const { names, data } = core.options.dialect;
  const resource = core.resources.get("/configmaps")!;
  const [name, namespace] = [names.objects.legacyTokenTracking, data.systemNamespace];
  const key = resource.keyOf(namespace, name);
  return postStartHook({
    name: "poststarthook/start-legacy-token-tracking-controller",
    everyMilliseconds: 30 * 60_000,
    follows: [{ resource, key }],
    look: async () => {
      if (await resource.source.get(key, { at: "latest" })) return;
      const since = new Date(core.clock.now()).toISOString().slice(0, 10);
      await ensure(core, resource.endpoints[0]!, {
        metadata: { name, namespace, creationTimestamp: null },
        data: { since },
      });
    },
    failed: ({ message: error }) =>
      core.options.onError(
        "since when the use of old tokens is noted could not be written down; it is tried again",
        { error },
      ),
  });
}

/** One store speaks one dialect: the first server writes its name, later ones must agree. */
export async function claimDialect(
  store: Core["options"]["store"],
  prefix: string,
  dialect: Dialect,
): Promise<void> {
  const key = `${prefix}/dialect`;
  // A store that is full can still be asked.
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
