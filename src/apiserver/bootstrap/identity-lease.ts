// Every server holds a lease in the system namespace, from which clients can see which servers are alive.
// Expired leases are garbage collected by the servers that are still running.
import { createHash, randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Lease } from "#api";
import { ApiError, microTimeOfMillis, parseLabelSelector, selector } from "#base";
import { type ApiObject, remove, update, type ServerObjects } from "#registry";
import { type PostStartHook, postStartHook } from "./post-start-hook.ts";

const renewMilliseconds = 10_000;
const leaseSeconds = 3600;

/** Renews this server's lease. */
export function identityLease(server: ServerObjects): PostStartHook {
  const { dialect, onError } = server;
  const { names, data, cli } = dialect;
  const resource = server.resources.leases.resource;
  const endpoint = resource.endpoints[0]!;
  const host = hostname();
  const name = serverName(host, cli.apiServer);
  const holderIdentity = `${name}_${randomUUID()}`;
  const labels = { [names.labels.apiServerIdentity]: cli.apiServer, [names.labels.hostname]: host };
  const key = resource.keyOf(data.systemNamespace, name);
  const reconcile = async (): Promise<void> => {
    const renewTime = microTimeOfMillis(server.clock.now());
    if (!(await resource.source.get(key, { at: "latest" }))) {
      const metadata = { name, namespace: data.systemNamespace, creationTimestamp: null, labels };
      return await server.writer.ensure(endpoint, {
        metadata,
        spec: { holderIdentity, leaseDurationSeconds: leaseSeconds, renewTime },
      });
    }
    const transform = (old: ApiObject | undefined): ApiObject => {
      const { metadata, spec, ...rest } = old as ApiObject & Lease;
      return {
        ...rest,
        metadata: { ...metadata, labels: { ...metadata.labels, ...labels } },
        spec: { ...spec, renewTime },
      } as ApiObject;
    };
    await update(server.writer.request(endpoint, data.systemNamespace), name, { transform });
  };
  return postStartHook({
    name: `poststarthook/start-${cli.apiServer}-identity-lease-controller`,
    everyMilliseconds: renewMilliseconds,
    optional: true,
    reconcile,
    failed: ({ message: error }) =>
      onError("the lease of this server could not be renewed; retrying", { error }),
  });
}

/** Derives a name that is stable for a server as long as it stays on the same host. */
export function serverName(host: string, program: string): string {
  const lengthPrefixed = (text: string): Buffer => {
    const bytes = Buffer.from(text);
    return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes]);
  };
  const hash = createHash("sha256").update(lengthPrefixed(host)).update(lengthPrefixed(program)).digest();
  return `apiserver-${base32(hash.subarray(0, 16))}`;
}

function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => "abcdefghijklmnopqrstuvwxyz234567"[Number.parseInt(five.padEnd(5, "0"), 2)])
    .join("");
}

/** Deletes server leases that have expired. */
export function identityLeaseCollector(server: ServerObjects): PostStartHook {
  const { dialect, onError } = server;
  const { names, data, cli } = dialect;
  const resource = server.resources.leases.resource;
  const leaseSelector = selector(
    parseLabelSelector(`${names.labels.apiServerIdentity}=${cli.apiServer}`),
    [],
  );
  const reconcile = async (): Promise<void> => {
    const { items } = await resource.source.list({
      below: `${data.systemNamespace}/`,
      selector: leaseSelector,
      freshness: { at: "latest" },
    });
    for (const cached of items) {
      const { metadata, spec } = resource.objectOf(cached) as ApiObject & Lease;
      if (!isExpired(spec, server.clock.now())) continue;
      // A lease that was renewed or deleted in the meantime is left alone.
      const preconditions = { resourceVersion: String(cached.revision) };
      await remove(server.writer.request(resource.endpoints[0]!, data.systemNamespace), metadata.name!, {
        preconditions,
      }).catch(ignoreNotFoundOrConflict);
    }
  };
  return postStartHook({
    name: `poststarthook/start-${cli.apiServer}-identity-lease-garbage-collector`,
    everyMilliseconds: leaseSeconds * 1000,
    reconcile,
    failed: ({ message: error }) =>
      onError("expired server leases could not be collected; retrying", { error }),
  });
}

const isExpired = (spec: Lease["spec"], now: number): boolean =>
  !spec.renewTime ||
  spec.leaseDurationSeconds === undefined ||
  Date.parse(spec.renewTime) + spec.leaseDurationSeconds * 1000 < now;

function ignoreNotFoundOrConflict(error: unknown): void {
  if (!(error instanceof ApiError && (error.reason === "NotFound" || error.reason === "Conflict")))
    throw error;
}
