// Whether the server behind an API service can be reached: its service is there, and its discovery answers.
import type { APIService } from "#api";
import { requestUpstream } from "#virtual";
import { type ClientPair, backendOf } from "./backend.ts";
import { type ResolveService, UnresolvedService } from "./resolve-service.ts";

export interface Availability {
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
  /** What its discovery lists, where it was asked. */
  readonly resources?: readonly Record<string, unknown>[];
}

const patienceMilliseconds = 5000;
const mostBytes = 4 * 1024 * 1024;

/** This server is always there for itself. */
export const localAvailability = {
  status: "True",
  reason: "Local",
  message: "Local APIServices are always available",
} as const satisfies Availability;

export async function checkAvailability(
  service: APIService,
  { resolve, pair }: { readonly resolve: ResolveService; readonly pair: ClientPair },
  signal: AbortSignal,
): Promise<Availability> {
  const { spec } = service;
  if (!spec.service) return localAvailability;
  const path = `/apis/${spec.group ?? ""}/${spec.version ?? ""}`;
  let address = "";
  try {
    const { host, port, tls, dial } = await backendOf(service, resolve, pair);
    address = `https://${host}:${port}${path}`;
    const message = await requestUpstream(
      {
        scheme: "https",
        host,
        port,
        path,
        method: "GET",
        headers: { host: `${host}:${port}`, accept: "application/json" },
        tls,
        dial,
        timeoutMilliseconds: patienceMilliseconds,
      },
      AbortSignal.any([signal, AbortSignal.timeout(patienceMilliseconds)]),
    );
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of message as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > mostBytes) throw new Error("its discovery is too large");
      chunks.push(chunk);
    }
    const status = message.statusCode ?? 0;
    if (status < 200 || status >= 300) throw new Error(`bad status from ${address}: ${status}`);
    return {
      status: "True",
      reason: "Passed",
      message: "all checks passed",
      resources: resourcesIn(Buffer.concat(chunks).toString()),
    };
  } catch (error) {
    if (error instanceof UnresolvedService)
      return { status: "False", reason: error.reason, message: error.message };
    return {
      status: "False",
      reason: "FailedDiscoveryCheck",
      message: `failing or missing response from ${address}: ${(error as Error).message}`,
    };
  }
}

function resourcesIn(body: string): readonly Record<string, unknown>[] {
  try {
    const { resources } = JSON.parse(body) as { resources?: unknown };
    return Array.isArray(resources) ? (resources as Record<string, unknown>[]) : [];
  } catch {
    return [];
  }
}
