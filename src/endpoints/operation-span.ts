// The span of what is done for a request, from its body to its answer, under the names that kube-apiserver
// gives it.
import { header } from "#http";
import type { Endpoint } from "#registry";
import { type Attributes, Span } from "#tracing";
import type { ApiCall } from "./api-call.ts";
import type { ListOptions } from "./options.ts";

/** The event at which the answer begins to be made. */
export const responding = "About to write a response";

/** An operation that takes longer explains itself in the log. */
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

/** Subresources that hand over the connection. */
const connecting = new Set(["exec", "attach", "portforward", "proxy"]);

/** Runs a handler inside the span of its operation. Watches and connections have none: they last. */
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

const mostAgentCharacters = 200;

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
    "user-agent": agent.length > mostAgentCharacters ? `${agent.slice(0, mostAgentCharacters)}...` : agent,
    verb: target.verb,
  };
}

export const protocolOf = ({ protocol }: ApiCall["call"]): string =>
  protocol === "2" ? "HTTP/2.0" : "HTTP/1.1";

/** The span of reading a list; lists that may be old are told apart from those the store vouches for. */
export function listSpan(call: ApiCall, { resource }: Endpoint, options: ListOptions): Span | undefined {
  const { operation, auditId, target } = call;
  const { resourceVersion, resourceVersionMatch, continue: token, limit } = options;
  const mayBeOld =
    !resource.strategy.uncachedSemantics &&
    token === "" &&
    resourceVersion !== "" &&
    resourceVersionMatch !== "Exact" &&
    !(limit > 0 && resourceVersion !== "0");
  if (mayBeOld)
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
