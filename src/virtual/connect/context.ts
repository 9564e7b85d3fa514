// What all connections share: where agents are, who may look at the request before, and what a path may be.
import { type AdmissionChain, virtualAttributes } from "#admission";
import { badRequest, methodNotAllowed } from "#base";
import type { Dialect } from "#dialect";
import type { Resources } from "#registry";
import { type ApiCall, notServed } from "#endpoints";
import type { Agents } from "./agents.ts";

export interface ConnectContext {
  readonly dialect: Dialect;
  readonly admission: AdmissionChain;
  readonly resources: Resources;
  readonly agents: Agents;
  /** Aborted when the server stops: connections end. */
  readonly stopping: AbortSignal;
}

/** Refuses paths with more behind the connection's name, and methods it does not have. */
export function connected({ target, method }: ApiCall, methods: readonly string[]): void {
  if (target.rest || !target.named || !target.namespace) throw notServed();
  if (!methods.includes(method)) throw methodNotAllowed();
}

/** Shows the options of a connection to admission. Nothing can be connected to on trial. */
export async function admitConnect(
  call: ApiCall,
  { admission }: ConnectContext,
  kind: string,
  options: object,
): Promise<void> {
  if (call.query.all("dryRun").length > 0) throw badRequest("dryRun is not supported");
  const { target } = call;
  const attributes = virtualAttributes({
    operation: "CONNECT",
    resource: { group: target.group, version: target.version, resource: target.resource },
    kind: { group: "", version: "v1", kind },
    subresource: target.subresource,
    namespace: target.namespace,
    name: target.name,
    user: call.user!,
    dryRun: false,
    object: options as Record<string, unknown>,
    oldObject: undefined,
    options: {},
    warn: (text) => call.warn(text),
    annotate: (key, value) => call.annotate(key, value),
  });
  await admission.mutate(attributes);
  await admission.validate(attributes);
}
