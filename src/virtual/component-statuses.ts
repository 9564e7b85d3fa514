// componentstatuses: the health of other control plane components. Deprecated, but still in use.
import { get as httpsGet } from "node:https";
import { type ComponentCondition, ComponentStatus, PartialObjectMetadata, Table, listOf } from "#api";
import { ApiError, badRequest, methodNotAllowed, notFound, selector } from "#base";
import type { Dialect } from "#dialect";
import type { Reply } from "#http";
import {
  type ApiCall,
  type VirtualResource,
  UnfitForm,
  checkRoute,
  contentType,
  everyForm,
  listMedia,
  listParameters,
  negotiate,
  notServed,
  objectMedia,
  partialMetadata,
  unknownCommonField,
  viewBody,
} from "#endpoints";

export interface ComponentOptions {
  readonly dialect: Dialect;
  /** Throws if the store does not respond. */
  readonly store: () => Promise<unknown>;
  /** Health endpoints of components on the same host. */
  readonly endpoints?: Readonly<Record<string, string>>;
}

const defaultEndpoints = {
  "controller-manager": "https://127.0.0.1:10257/healthz",
  scheduler: "https://127.0.0.1:10259/healthz",
};
const patienceMilliseconds = 2000;

export function componentStatuses({
  dialect,
  store,
  endpoints = defaultEndpoints,
}: ComponentOptions): VirtualResource {
  const checks: Readonly<Record<string, () => Promise<ComponentCondition>>> = {
    ...Object.fromEntries(Object.entries(endpoints).map(([name, url]) => [name, () => checkHealth(url)])),
    [`${dialect.wire.storeHealthCheck}-0`]: () =>
      store().then(
        () => condition(true, ""),
        (error: Error) => condition(false, error.message),
      ),
  };
  const statusOf = async (name: string): Promise<ComponentStatus> => ({
    apiVersion: "v1",
    kind: "ComponentStatus",
    metadata: { name, creationTimestamp: null },
    conditions: [await checks[name]!()],
  });
  return {
    path: "componentstatuses",
    kind: "ComponentStatus",
    namespaced: false,
    singular: "componentstatus",
    shortNames: ["cs"],
    verbs: ["get", "list"],
    handle: async (call) => {
      const { target, method } = call;
      if (target.rest || target.namespace) throw notServed();
      if (method !== "GET") throw methodNotAllowed();
      checkRoute(call.call, { produces: target.named ? objectMedia(dialect) : listMedia(dialect) });
      call.warn("v1 ComponentStatus is deprecated in v1.19+");
      if (!target.named) {
        const names = selectNames(call, Object.keys(checks), dialect);
        if (target.verb === "watch") throw watchNotSupported();
        return await reply(call, await Promise.all(names.map(statusOf)), dialect, true);
      }
      negotiate(call.call, call.query, dialect, everyForm);
      if (!Object.hasOwn(checks, target.name))
        throw notFound({ group: "", resource: "componentstatuses" }, target.name);
      return await reply(call, [await statusOf(target.name)], dialect, false);
    },
  };
}

/** Filters by selector, although components have no labels, and validates the options as for other lists. */
function selectNames(call: ApiCall, names: readonly string[], dialect: Dialect): string[] {
  negotiate(call.call, call.query, dialect, everyForm);
  const gates = { watchList: false, chunking: true, remainingItemCount: false };
  const { labels, fields } = listParameters(call, dialect, gates).requirements;
  for (const { key } of fields) if (!common.has(key)) throw badRequest(unknownCommonField(key));
  const wanted = selector(labels, fields);
  return names.filter((name) => wanted.matches({ labels: {}, fields: {}, name }));
}

const watchNotSupported = (): ApiError =>
  new ApiError(405, "MethodNotAllowed", 'watch is not supported on resources of kind "componentstatuses"', {
    kind: "componentstatuses",
  });

const common = new Set(["metadata.name", "metadata.namespace"]);

const condition = (healthy: boolean, message: string): ComponentCondition => ({
  type: "Healthy",
  status: healthy ? "True" : "False",
  ...(message && { message }),
});

/** A component that does not respond is unhealthy. */
function checkHealth(url: string): Promise<ComponentCondition> {
  return new Promise((resolve) => {
    const request = httpsGet(
      url,
      { rejectUnauthorized: false, agent: false, timeout: patienceMilliseconds },
      (response) => {
        response.resume();
        const { statusCode = 0 } = response;
        resolve(
          statusCode >= 200 && statusCode < 400
            ? condition(true, "ok")
            : condition(false, `answered ${statusCode}`),
        );
      },
    );
    request.on("timeout", () => request.destroy(new Error("did not answer in time")));
    request.on("error", (error) => resolve(condition(false, error.message)));
  });
}

const columns: readonly [
  name: string,
  format: string,
  doc: string,
  cell: (status: ComponentStatus) => string,
][] = [
  ["Name", "name", "Name of the component.", ({ metadata }) => metadata.name ?? ""],
  [
    "Status",
    "",
    "Healthy or Unhealthy.",
    ({ conditions }) => (conditions?.[0]?.status === "True" ? "Healthy" : "Unhealthy"),
  ],
  ["Message", "", "Message of the health check.", ({ conditions }) => conditions?.[0]?.message ?? ""],
  ["Error", "", "Error of the health check.", ({ conditions }) => conditions?.[0]?.error ?? ""],
];

async function reply(
  call: ApiCall,
  statuses: readonly ComponentStatus[],
  dialect: Dialect,
  many: boolean,
): Promise<Reply> {
  const choice = negotiate(call.call, call.query, dialect, everyForm);
  const headers = { "content-type": contentType(choice.media, dialect) };
  if (choice.form === "Table") {
    const columnDefinitions = columns.map(([name, format, description]) => ({
      name,
      type: "string",
      format,
      description,
      priority: 0,
    }));
    const rows = statuses.map((status) => ({
      cells: columns.map(([, , , cell]) => cell(status)),
      object: partialMetadata(status, choice.formVersion),
    }));
    return {
      status: 200,
      headers,
      body: viewBody(
        { kind: "Table", apiVersion: choice.formVersion, metadata: {}, columnDefinitions, rows } as never,
        Table,
        choice,
        dialect,
      ),
    };
  }
  if (choice.form === "PartialObjectMetadataList") {
    if (!many) throw new UnfitForm(choice.form, "core.ComponentStatus");
    const items = statuses.map((status) => partialMetadata(status, choice.formVersion));
    const list = { kind: choice.form, apiVersion: choice.formVersion, metadata: {}, items } as never;
    return { status: 200, headers, body: viewBody(list, listOf(PartialObjectMetadata), choice, dialect) };
  }
  if (choice.form === "PartialObjectMetadata") {
    if (many) throw new UnfitForm(choice.form, "core.ComponentStatus");
    const metadata = partialMetadata(statuses[0]!, choice.formVersion);
    return { status: 200, headers, body: viewBody(metadata, PartialObjectMetadata, choice, dialect) };
  }
  if (!many) return { status: 200, headers, body: viewBody(statuses[0]!, ComponentStatus, choice, dialect) };
  const items = statuses.map(({ kind: _kind, apiVersion: _apiVersion, ...rest }) => rest);
  return {
    status: 200,
    headers,
    body: viewBody(
      { kind: "ComponentStatusList", apiVersion: "v1", metadata: {}, items } as never,
      listOf(ComponentStatus),
      choice,
      dialect,
    ),
  };
}
