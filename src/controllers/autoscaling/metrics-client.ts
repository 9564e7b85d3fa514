// Client of the resource, custom and external metrics APIs.
import type { CrossVersionObjectReference, MetricIdentifier } from "#api";
import {
  ApiError,
  type Clock,
  durationMillis,
  labelSelectorText,
  parseQuantity,
  quantityMilliValue,
} from "#base";
import type { ApiClient } from "#client";
import { type ResourceOfKind, groupOf, resourceText, reused } from "#controllerkit";
import { timeOf } from "../pods.ts";
import type { PodMetric } from "./replicas.ts";

interface PodMetricsList {
  readonly items?: readonly {
    readonly metadata: { readonly name: string };
    readonly timestamp?: string;
    readonly window?: string;
    readonly containers?: readonly {
      readonly name: string;
      readonly usage?: Readonly<Record<string, string>>;
    }[];
  }[];
}

export interface MetricsClient {
  /** Returns resource usage by pod in thousandths, optionally of a single container. */
  resource(
    namespace: string,
    selector: string,
    resource: string,
    container?: string,
  ): Promise<Map<string, PodMetric>>;
  /** Returns a metric of one object in thousandths. */
  object(
    namespace: string,
    describedObject: CrossVersionObjectReference,
    metric: MetricIdentifier,
  ): Promise<number>;
  /** Returns a metric of pods by pod, in thousandths. */
  pods(namespace: string, selector: string, metric: MetricIdentifier): Promise<Map<string, PodMetric>>;
  /** Returns the values of an external metric in thousandths. */
  external(namespace: string, metric: string, selector: string): Promise<readonly number[]>;
}

const milli = (text: string): number => quantityMilliValue(parseQuantity(text));

/** Versions of the custom metrics API, which differ in fields that are not used here. */
const customVersions = ["v1beta2", "v1beta1"];
const versionLifeMilliseconds = 15_000;

interface ApiGroup {
  readonly preferredVersion?: { readonly version: string };
  readonly versions?: readonly { readonly version: string }[];
}

export function metricsClient(client: ApiClient, kindResource: ResourceOfKind, clock: Clock): MetricsClient {
  const { groupSuffix } = client.dialect.wire;
  const groupPath = (group: string): string => `/apis/${group}.${groupSuffix}`;
  const path = (group: string, rest: string): string => `${groupPath(group)}/v1beta1/namespaces/${rest}`;
  interface ValueList {
    readonly items?: readonly {
      readonly describedObject?: { readonly name?: string };
      readonly value: string;
      readonly timestamp?: string;
      readonly windowSeconds?: number;
    }[];
  }
  const query = (labelSelector: string, metricLabelSelector = ""): string => {
    const given = Object.entries({ labelSelector, metricLabelSelector }).filter(([, text]) => text !== "");
    const parts = given.map(([name, text]) => `${name}=${encodeURIComponent(text)}`);
    return parts.length > 0 ? `?${parts.join("&")}` : "";
  };
  const fetchFrom = async (api: string, group: string, url: string, what: string): Promise<unknown> => {
    try {
      return await client.request("GET", url);
    } catch (error) {
      throw new Error(
        `unable to fetch metrics from ${api} metrics API: ${errorText(error as Error, api, `${group}.${groupSuffix}`, what)}`,
        { cause: error },
      );
    }
  };
  const metricSelector = ({ selector }: MetricIdentifier): string =>
    selector ? labelSelectorText(selector) : "";
  const qualifiedResource = async (apiVersion: string, kind: string): Promise<string> => {
    try {
      return resourceText(await kindResource(apiVersion, kind)).replace(/\.$/, "");
    } catch (error) {
      const group = groupOf(apiVersion);
      throw new Error(
        `unable to fetch metrics from custom metrics API: unable to map kind ${group === "" ? kind : `${kind}.${group}`} to resource: ${(error as Error).message}`,
        { cause: error },
      );
    }
  };
  const fetchCustom = (url: string): Promise<unknown> => fetchFrom("custom", "custom.metrics", url, "");
  /** The preferred version if it is known, or else the first known one. */
  const customVersion = reused(clock, versionLifeMilliseconds, async () => {
    const { preferredVersion, versions = [] } = (await fetchCustom(groupPath("custom.metrics"))) as ApiGroup;
    const served = [...(preferredVersion ? [preferredVersion] : []), ...versions];
    const found = served.find(({ version }) => customVersions.includes(version));
    if (!found)
      throw new Error(
        "unable to fetch metrics from custom metrics API: no known available metric versions found",
      );
    return found.version;
  });
  const custom = async (rest: string): Promise<unknown> =>
    fetchCustom(`${groupPath("custom.metrics")}/${await customVersion()}/namespaces/${rest}`);
  return {
    resource: async (namespace, selector, resource, container) => {
      const url = path("metrics", `${encodeURIComponent(namespace)}/pods${query(selector)}`);
      const { items = [] } = (await fetchFrom("resource", "metrics", url, "pods")) as PodMetricsList;
      if (items.length === 0) throw new Error("no metrics returned from resource metrics API");
      const metrics = new Map<string, PodMetric>();
      for (const { metadata, timestamp, window, containers = [] } of items) {
        const counted =
          container === undefined ? containers : containers.filter(({ name }) => name === container);
        if (container !== undefined && counted.length === 0)
          throw new Error(
            `failed to get container metrics: container ${container} not present in metrics for pod ${namespace}/${metadata.name}`,
          );
        const usages = counted.map(({ usage }) => usage?.[resource]);
        if (usages.length === 0 || usages.includes(undefined)) continue;
        metrics.set(metadata.name, {
          value: usages.reduce((total, usage) => total + milli(usage!), 0),
          timestamp: timeOf(timestamp),
          windowMilliseconds: window === undefined ? 30_000 : durationMillis(window),
        });
      }
      return metrics;
    },
    object: async (namespace, { apiVersion = "v1", kind, name }, metric) => {
      const segments = await (kind === "Namespace" && groupOf(apiVersion) === ""
        ? // The reference's name is ignored: it must not lead out of the autoscaler's namespace.
          [namespace, "metrics"]
        : qualifiedResource(apiVersion, kind).then((resource) => [namespace, resource, name]));
      const rest = [...segments, metric.name].map(encodeURIComponent).join("/");
      const { items = [] } = (await custom(rest + query("", metricSelector(metric)))) as ValueList;
      if (items.length !== 1)
        throw new Error(
          `unable to fetch metrics from custom metrics API: the custom metrics API server returned ${items.length} results when we asked for exactly one`,
        );
      return milli(items[0]!.value);
    },
    pods: async (namespace, selector, metric) => {
      const rest = `${encodeURIComponent(namespace)}/pods/*/${encodeURIComponent(metric.name)}`;
      const { items = [] } = (await custom(rest + query(selector, metricSelector(metric)))) as ValueList;
      if (items.length === 0) throw new Error("no metrics returned from custom metrics API");
      return new Map(
        items.map(({ describedObject, value, timestamp, windowSeconds = 60 }) => [
          describedObject?.name ?? "",
          { value: milli(value), timestamp: timeOf(timestamp), windowMilliseconds: windowSeconds * 1000 },
        ]),
      );
    },
    external: async (namespace, metric, selector) => {
      const rest = `${encodeURIComponent(namespace)}/${encodeURIComponent(metric)}${query(selector)}`;
      const { items = [] } = (await fetchFrom(
        "external",
        "external.metrics",
        path("external.metrics", rest),
        metric,
      )) as ValueList;
      if (items.length === 0) throw new Error("no metrics returned from external metrics API");
      return items.map(({ value }) => milli(value));
    },
  };
}

/** Returns the error text for an API that is not served, in the wording of the reference's clients. */
function errorText(error: Error, api: string, group: string, what: string): string {
  if (!(error instanceof ApiError) || error.code !== 404 || error.details?.name) return error.message;
  return api === "custom"
    ? `no custom metrics API (${group}) registered`
    : `the server could not find the requested resource (get ${what}.${group})`;
}
