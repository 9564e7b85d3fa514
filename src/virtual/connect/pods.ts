// Connect subresources of pods through their node agent: log, exec, attach and portforward.
import type { Pod, PodAttachOptions } from "#api";
import { ApiError, badRequest, hostAndPort, internal, invalid, notFound, plainError } from "#base";
import { streamProtocols } from "#dialect";
import { type Query, type Reply, type Sink, isUntrusted } from "#http";
import {
  type ApiCall,
  type VirtualResource,
  UnfitForm,
  checkRoute,
  isWebSocket,
  negotiate,
  objectMedia,
  webSocketReply,
  withoutTable,
} from "#endpoints";
import { type ConnectContext, admitConnect, connected } from "./context.ts";
import {
  attachOptions,
  execOptions,
  logOptionErrors,
  logOptions,
  portForwardOptions,
  queryText,
} from "./options.ts";
import { sendRequest, readStart, pour } from "./relay.ts";
import { toTranslate, translateChannels, translatePorts } from "./translate.ts";
import { tunnel } from "./tunnel.ts";

const maxErrorLength = 50_000;

export function podConnections(context: ConnectContext): readonly VirtualResource[] {
  const streaming = (
    path: string,
    kind: string,
    options: (query: Query) => object,
    route: (pod: Pod, options: never) => string,
  ): VirtualResource => ({
    path: `pods/${path}`,
    kind,
    namespaced: true,
    verbs: ["create", "get"],
    handle: async (call) => {
      connected(call, ["GET", "POST"]);
      const wanted = options(call.query);
      await admitConnect(call, context, kind, wanted);
      const pod = await podOf(context, call);
      const { agents, stopping } = context;
      const agent = {
        path: route(pod, wanted as never),
        ...(await agents.locate(assignedNode(pod), "pods")),
      };
      if (!call.call.upgradable) throw badRequest("Upgrade request required");
      const target = { ...agent, tls: agents.tls(), timeoutMilliseconds: agents.timeoutMilliseconds };
      const newer = toTranslate(call.call, context.dialect, path === "portforward" ? "ports" : "commands");
      if (newer === undefined) return await tunnel(call.call, target, stopping);
      return await (path === "portforward"
        ? translatePorts(call.call, target, newer, stopping)
        : translateChannels(call.call, target, wanted, newer, stopping));
    },
  });
  const at = (action: string, { metadata }: Pod, ...more: readonly string[]): string =>
    `/${[action, metadata.namespace!, metadata.name!, ...more].map(encodeURIComponent).join("/")}`;
  return [
    { path: "pods/log", kind: "Pod", namespaced: true, verbs: ["get"], handle: (call) => log(context, call) },
    streaming("exec", "PodExecOptions", execOptions, (pod, options: ReturnType<typeof execOptions>) => {
      const command = (options.command ?? []).map((word) => ["command", word] as const);
      return (
        at("exec", pod, containerOf(pod, options.container)) +
        queryText([...command, ...streamFlags(options)])
      );
    }),
    streaming(
      "attach",
      "PodAttachOptions",
      attachOptions,
      (pod, options: ReturnType<typeof attachOptions>) =>
        at("attach", pod, containerOf(pod, options.container)) + queryText(streamFlags(options)),
    ),
    streaming(
      "portforward",
      "PodPortForwardOptions",
      portForwardOptions,
      (pod, { ports }: ReturnType<typeof portForwardOptions>) =>
        at("portForward", pod) + queryText(ports?.length ? [["port", ports.join(",")]] : []),
    ),
  ];
}

/** Returns the stream options under the names that agents use. */
const streamFlags = ({
  stdin,
  stdout,
  stderr,
  tty,
}: Pick<PodAttachOptions, "stdin" | "stdout" | "stderr" | "tty">): (readonly [string, string])[] =>
  Object.entries({ input: stdin, output: stdout, error: stderr, tty }).flatMap(([name, on]) =>
    on ? [[name, "1"] as const] : [],
  );

async function podOf({ resources }: ConnectContext, { target }: ApiCall): Promise<Pod> {
  const pod = await resources.pods.get(`${target.namespace}/${target.name}`);
  if (!pod) throw notFound({ group: "", resource: "pods" }, target.name);
  return pod;
}

function assignedNode({ metadata, spec }: Pod): string {
  if (!spec.nodeName) throw badRequest(`pod ${metadata.name} does not have a host assigned`);
  return spec.nodeName;
}

/** Returns the requested container, or the only one if none is named. */
function containerOf({ metadata, spec }: Pod, wanted: string | undefined): string {
  const all = [
    ...(spec.initContainers ?? []),
    ...(spec.containers ?? []),
    ...(spec.ephemeralContainers ?? []),
  ].map(({ name }) => name);
  if (wanted) {
    if (!all.includes(wanted)) throw badRequest(`container ${wanted} is not valid for pod ${metadata.name}`);
    return wanted;
  }
  const [only, ...others] = spec.containers ?? [];
  if (!only) throw badRequest(`a container name must be specified for pod ${metadata.name}`);
  if (others.length)
    throw badRequest(
      `a container name must be specified for pod ${metadata.name}, choose one of: [${all.join(" ")}]`,
    );
  return only.name;
}

async function log(context: ConnectContext, call: ApiCall): Promise<Reply> {
  connected(call, ["GET"]);
  const { dialect } = context;
  checkRoute(call.call, { produces: ["text/plain", ...objectMedia(dialect)] });
  // A log is plain text in any case, but a request that accepts no form of objects is refused.
  const { form } = negotiate(call.call, call.query, dialect, withoutTable);
  const options = logOptions(call.query);
  const errors = logOptionErrors(options);
  if (errors.length) throw invalid({ group: "", kind: "PodLogOptions" }, call.target.name, errors);
  const pod = await podOf(context, call);
  const container = containerOf(pod, options.container);
  if (form !== "object") throw new UnfitForm(form, "rest.LocationStreamer");
  if (!pod.spec.nodeName) return { status: 204, headers: {} };
  const { agents } = context;
  const address = await agents.locate(pod.spec.nodeName, "pods");
  const {
    kind: _kind,
    apiVersion: _apiVersion,
    container: _container,
    insecureSkipTLSVerifyBackend: unchecked,
    ...passed
  } = options;
  const path = `/containerLogs/${[call.target.namespace, call.target.name, container].map(encodeURIComponent).join("/")}`;
  const query = queryText(Object.entries(passed).map(([key, value]) => [key, String(value)] as const));
  agents.logs?.requested(unchecked ?? false);
  const message = await sendRequest(
    {
      scheme: "https",
      ...address,
      path: path + query,
      method: "GET",
      headers: {},
      tls: agents.tls(unchecked ?? false),
      timeoutMilliseconds: agents.timeoutMilliseconds,
      unreachable: (why) =>
        plainError(`Get "https://${hostAndPort(address.host, address.port)}${path}${query}": ${why}`),
    },
    AbortSignal.any([call.call.signal, context.stopping]),
  ).catch((error: unknown) => {
    if (isUntrusted(error)) agents.logs?.untrusted();
    throw error;
  });
  const status = message.statusCode ?? 0;
  if (status < 200 || status > 206)
    throw errorFrom(status, await readStart(message, maxErrorLength), call.target.name);
  const stream = (sink: Sink): Promise<void> => pour(message, sink);
  if (!isWebSocket(call.call))
    return { status: 200, headers: { "content-type": "text/plain" }, body: { stream } };
  const reply = webSocketReply(call.call, {
    protocols: streamProtocols.logs,
    greeting: (protocol) => logMessage(Buffer.alloc(0), protocol),
    messages: (chunk, protocol) => [logMessage(chunk, protocol)],
    stream,
  });
  if (reply.status !== 101) message.destroy();
  return reply;
}

/** Encodes a chunk of a log as base64 for text protocols. */
const logMessage = (chunk: Uint8Array, protocol: string): Uint8Array | string =>
  protocol === streamProtocols.logs[1] ? Buffer.from(chunk).toString("base64") : chunk;

/** Converts an error response of the agent to a status. Redirects are not followed. */
function errorFrom(status: number, text: string, name: string): ApiError {
  if (status >= 300 && status < 400)
    return internal("the node agent attempted to redirect this request, which is not permitted");
  if (status === 400) return badRequest(text);
  if (status === 404)
    return new ApiError(
      404,
      "NotFound",
      `the server could not find the requested resource (get pods/log ${name}): ${text}`,
      { name, kind: "pods/log" },
    );
  return status === 500
    ? internal(text)
    : new ApiError(Math.max(status, 400), "InternalError", text || `the node agent answered ${status}`, {
        name,
        kind: "pods/log",
      });
}
