// Checks whether the server of an API service is available: its service exists and its discovery endpoint
// responds.
import type { APIService } from "#api";
import type { Dialect } from "#dialect";
import { listedResources } from "./discovery-document.ts";
import { type BackendAccess, UnreachableBackend, fetchDocument } from "./fetch-document.ts";
import { UnresolvedService } from "./resolve-service.ts";

export interface Availability {
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
  /** The resources in its discovery, if it was queried and valid. */
  readonly resources?: readonly Record<string, unknown>[];
}

const maxBytes = 4 * 1024 * 1024;

/** The condition of an API service served by this server. */
export const localAvailability = {
  status: "True",
  reason: "Local",
  message: "Local APIServices are always available",
} as const satisfies Availability;

/**
 * Checks availability. Requests discovery as an administrator: servers with delegated authorization deny it
 * to anonymous requests.
 */
export async function checkAvailability(
  service: APIService,
  access: BackendAccess & { readonly dialect: Dialect },
  signal: AbortSignal,
): Promise<Availability> {
  const { spec } = service;
  if (!spec.service) return localAvailability;
  const path = `/apis/${spec.group ?? ""}/${spec.version ?? ""}`;
  try {
    // No Accept header is sent: a server that supports only aggregated discovery would reject the older form.
    const headers = {
      "x-remote-user": access.dialect.names.users.aggregator,
      "x-remote-group": "system:masters",
    };
    const document = { path, maxBytes, headers, anyBody: true };
    const { address, status, text, brokenOff } = await fetchDocument(service, document, access, signal);
    if (status < 200 || status >= 300)
      throw new UnreachableBackend(address, new Error(`bad status from ${address}: ${status}`));
    const resources = status === 200 && !brokenOff ? listedResources(text) : undefined;
    return {
      status: "True",
      reason: "Passed",
      message: "all checks passed",
      ...(resources && { resources }),
    };
  } catch (error) {
    if (error instanceof UnresolvedService)
      return { status: "False", reason: error.reason, message: error.message };
    const address = error instanceof UnreachableBackend ? error.address : "";
    return {
      status: "False",
      reason: "FailedDiscoveryCheck",
      message: `failing or missing response from ${address}: ${(error as Error).message}`,
    };
  }
}
