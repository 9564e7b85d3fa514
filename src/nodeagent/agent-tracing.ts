// Exports traces of the agent to the configured collector: requests to its server, runtime calls, and pod
// syncs with the runtime calls that they make as child spans.
import { AsyncLocalStorage } from "node:async_hooks";
import { hostname } from "node:os";
import type { Pod } from "#api";
import type { Clock, Log } from "#base";
import type { ContainerRuntime } from "#cri";
import type { Dialect } from "#dialect";
import { type Call, type Reply, header } from "#http";
import {
  type Span,
  type SpanExporter,
  type Tracer,
  collectorEndpoint,
  parseTraceparent,
  spanExporter,
  tracer,
} from "#tracing";
import type { Tracing } from "./options/types.ts";
import { nameOf, namespaceOf, uidOf } from "./pod.ts";

export interface AgentTracing {
  runtime(runtime: ContainerRuntime): ContainerRuntime;
  requests(handle: Handle): Handle;
  sync<T>(pod: Pod, run: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

type Handle = (call: Call) => Promise<Reply>;

export interface AgentTracingOptions {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly log: Log;
  readonly nodeName: string;
  readonly configuration: Tracing;
  /** Replaces the exporter to the configured collector. */
  readonly exporter?: SpanExporter;
}

const imageCalls = new Set(["listImages", "imageStatus", "pullImage", "removeImage", "imageFsInfo"]);
/** Methods that last as long as the agent, or that are not calls. */
const untraced = new Set(["close", "containerEvents"]);

export function agentTracing(options: AgentTracingOptions): AgentTracing {
  const { dialect, clock, log, configuration } = options;
  const exporter =
    options.exporter ??
    spanExporter({
      endpoint: collectorEndpoint(configuration.endpoint ?? ""),
      resource: { "service.name": dialect.cli.agent, "host.name": hostname() },
      scope: dialect.cli.agent,
      clock,
      log,
    });
  const spans: Tracer = tracer({
    samplingRatePerMillion: configuration.samplingRatePerMillion ?? 0,
    ended: (span) => exporter.ended(span),
  });
  const current = new AsyncLocalStorage<Span>();
  const begin = (name: string, attributes: Readonly<Record<string, string>>, kind: "client" | "internal") => {
    const parent = current.getStore();
    return parent ? parent.child(name, attributes, { kind }) : spans.rootSpan(name, attributes);
  };
  return {
    runtime: (runtime) => tracedRuntime(runtime, begin),
    requests: (handle) => async (call) => {
      const sender = parseTraceparent(header(call.headers, "traceparent"));
      const attributes = () => ({
        "http.method": call.method,
        "http.target": call.path,
        "http.flavor": call.protocol,
        "http.server_name": dialect.cli.agent,
      });
      const span = spans.serverSpan(call.path, attributes, sender, false);
      if (!span) return await handle(call);
      try {
        const reply = await current.run(span, () => handle(call));
        span.set({ "http.status_code": reply.status });
        return reply;
      } finally {
        span.end();
      }
    },
    sync: async (pod, run) => {
      const suffix = dialect.wire.groupSuffix.split(".")[0]!;
      const span = spans.rootSpan("syncPod", {
        [`${suffix}.pod.uid`]: uidOf(pod),
        [`${suffix}.pod.name`]: nameOf(pod),
        [`${suffix}.namespace.name`]: namespaceOf(pod),
      });
      return span ? await ended(span, () => current.run(span, run)) : await run();
    },
    close: () => exporter.close(),
  };
}

async function ended<T>(span: Span, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    span.failed = true;
    throw error;
  } finally {
    span.end();
  }
}

/** Wraps a runtime so that every call has a span. */
function tracedRuntime(
  runtime: ContainerRuntime,
  begin: (name: string, attributes: Readonly<Record<string, string>>, kind: "client") => Span | undefined,
): ContainerRuntime {
  return new Proxy(runtime, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name, target);
      if (typeof method !== "function" || typeof name !== "string") return method;
      if (untraced.has(name)) return method.bind(target) as unknown;
      return (...given: unknown[]): unknown => {
        const service = `runtime.v1.${imageCalls.has(name) ? "Image" : "Runtime"}Service`;
        const call = name.charAt(0).toUpperCase() + name.slice(1);
        const attributes = { "rpc.system": "grpc", "rpc.service": service, "rpc.method": call };
        const span = begin(`${service}/${call}`, attributes, "client");
        const run = (): Promise<unknown> => Reflect.apply(method, target, given) as Promise<unknown>;
        return span ? ended(span, run) : run();
      };
    },
  });
}
