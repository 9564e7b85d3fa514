// Client of the resource, custom and external metrics APIs.
import { ApiError, durationMillis, parseQuantity, quantityMilliValue } from "#base";
import type { ApiClient } from "#client";
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
  object(namespace: string, resource: string, name: string, metric: string): Promise<number>;
  /** Returns a metric of pods by pod, in thousandths. */
  pods(namespace: string, selector: string, metric: string): Promise<Map<string, PodMetric>>;
  /** Returns the values of an external metric in thousandths. */
  external(namespace: string, metric: string, selector: string): Promise<readonly number[]>;
}

const milli = (text: string): number => quantityMilliValue(parseQuantity(text));

export function metricsClient(client: ApiClient): MetricsClient {
  const { groupSuffix } = client.dialect.wire;
  const path = (group: string, rest: string): string =>
    `/apis/${group}.${groupSuffix}/v1beta1/namespaces/${rest}`;
  interface ValueList {
    readonly items?: readonly {
      readonly describedObject?: { readonly name?: string };
      readonly value: string;
      readonly timestamp?: string;
      readonly windowSeconds?: number;
    }[];
  }
  const query = (selector: string): string =>
    selector ? `?labelSelector=${encodeURIComponent(selector)}` : "";
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
  const custom = (rest: string): Promise<unknown> =>
    fetchFrom("custom", "custom.metrics", path("custom.metrics", rest), "");
  return {
    resource: async (namespace, selector, resource, container) => {
      const url = path("metrics", `${encodeURIComponent(namespace)}/pods${query(selector)}`);
      const { items = [] } = (await fetchFrom("resource", "metrics", url, "pods")) as PodMetricsList;
      const metrics = new Map<string, PodMetric>();
      for (const { metadata, timestamp, window, containers = [] } of items) {
        const counted =
          container === undefined ? containers : containers.filter(({ name }) => name === container);
        const usages = counted.map(({ usage }) => usage?.[resource]);
        if (usages.length === 0 || usages.includes(undefined)) continue;
        metrics.set(metadata.name, {
          value: usages.reduce((total, usage) => total + milli(usage!), 0),
          timestamp: timeOf(timestamp),
          windowMilliseconds: window === undefined ? 30_000 : durationMillis(window),
        });
      }
      if (metrics.size === 0) throw new Error("no metrics returned from resource metrics API");
      return metrics;
    },
    object: async (namespace, resource, name, metric) => {
      const rest = [namespace, resource, name, metric].map(encodeURIComponent).join("/");
      const { items = [] } = (await custom(rest)) as ValueList;
      if (items.length === 0) throw new Error("no metrics returned from custom metrics API");
      return milli(items[0]!.value);
    },
    pods: async (namespace, selector, metric) => {
      const rest = `${encodeURIComponent(namespace)}/pods/*/${encodeURIComponent(metric)}${query(selector)}`;
      const { items = [] } = (await custom(rest)) as ValueList;
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
