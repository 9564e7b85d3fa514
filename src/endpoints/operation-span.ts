// The span of an operation, from reading the body to the response, with kube-apiserver's names.
import { header } from "#http";
import type { Endpoint } from "#registry";
import { type Attributes, Span } from "#tracing";
import type { ApiCall } from "./api-call.ts";
import type { ListOptions } from "./options.ts";

/** The event at which encoding of the response starts. */
export const responding = "About to write a response";

/** Operations that take longer are logged with their steps. */
const slowMilliseconds = 500;
const slowly = { slowMilliseconds };

const names: Readonly<Record<string, string>> = {
  create: "Create",
  update: "Update",
  patch: "Patch",
  delete: "Delete",
  deletecollection: "Delete",
  get: "Get",
  list: "List",
};

/** Subresources that take over the connection. */
const connecting = new Set(["exec", "attach", "portforward", "proxy"]);

/**
 * Runs a handler in the span of its operation. Watches and connections have none, as they are long-running.
 */
export async function traced<T>(
  call: ApiCall,
  slow: ((span: Span) => void) | undefined,
  run: () => Promise<T>,
): Promise<T> {
  const name = names[call.target.verb];
  if (name === undefined || connecting.has(call.target.subresource)) return await run();
  const span = new Span(name, () => operationAttributes(call), slowly, call.span);
  call.operation = span;
  try {
    const result = await span.run(run);
    span.step("Writing http response done");
    return result;
  } finally {
    span.end();
    if (span.milliseconds >= slowMilliseconds) slow?.(span);
  }
}

const maxAgentCharacters = 200;

function operationAttributes({ call, target, auditId }: ApiCall): Attributes {
  const agent = header(call.headers, "user-agent") ?? "";
  return {
    accept: header(call.headers, "accept") ?? "",
    "audit-id": auditId,
    client: call.peer.address,
    protocol: protocolOf(call),
    resource: target.resource,
    scope:
      target.named || target.verb === "create"
        ? "resource"
        : target.namespace === ""
          ? "cluster"
          : "namespace",
    url: target.path,
    "user-agent": agent.length > maxAgentCharacters ? `${agent.slice(0, maxAgentCharacters)}...` : agent,
    verb: target.verb,
  };
}

export const protocolOf = ({ protocol }: ApiCall["call"]): string =>
  protocol === "2" ? "HTTP/2.0" : "HTTP/1.1";

/**
 * Starts the span of reading a list; lists served from the cache are distinguished from those served from the
 * store.
 */
export function listSpan(call: ApiCall, { resource }: Endpoint, options: ListOptions): Span | undefined {
  const { operation, auditId, target } = call;
  const { resourceVersion, resourceVersionMatch, continue: token, limit } = options;
  const fromCache =
    !resource.strategy.uncachedSemantics &&
    token === "" &&
    resourceVersion !== "" &&
    resourceVersionMatch !== "Exact" &&
    !(limit > 0 && resourceVersion !== "0");
  if (fromCache)
    return operation?.child("cacher list", { "audit-id": auditId, type: resource.groupResource }, slowly);
  const place = resource.namespaced && target.namespace !== "" ? `/${target.namespace}` : "";
  return operation?.child(
    `List(recursive=true) ${resource.dialect.wire.storeSpan}`,
    {
      "audit-id": auditId,
      key: `/${resource.strategy.storagePath ?? resource.strategy.resource}${place}`,
      resourceVersion,
      resourceVersionMatch,
      limit,
      continue: token,
    },
    slowly,
  );
}
