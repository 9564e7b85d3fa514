// Shared by all connect subresources: agents, admission, and validation of paths.
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
  /** Aborted when the server stops, which ends all connections. */
  readonly stopping: AbortSignal;
}

/** Refuses unsupported methods, and paths that continue after the subresource. */
export function connected({ target, method }: ApiCall, methods: readonly string[]): void {
  if (target.rest || !target.named || !target.namespace) throw notServed();
  if (!methods.includes(method)) throw methodNotAllowed();
}

/** Passes the options of a connection to admission. Dry runs are not supported. */
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
    annotate: (key, value, level) => call.annotate(key, value, level),
  });
  await admission.mutate(attributes);
  await admission.validate(attributes);
}
