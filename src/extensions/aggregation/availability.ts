// Whether the server behind an API service can be reached: its service is there, and its discovery answers.
import type { APIService } from "#api";
import type { Dialect } from "#dialect";
import { listedResources } from "./discovery-document.ts";
import { type BackendAccess, UnreachableBackend, fetchDocument } from "./fetch-document.ts";
import { UnresolvedService } from "./resolve-service.ts";

export interface Availability {
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
  /** What its discovery lists, where it was asked and could be read. */
  readonly resources?: readonly Record<string, unknown>[];
}

const mostBytes = 4 * 1024 * 1024;

/** This server is always there for itself. */
export const localAvailability = {
  status: "True",
  reason: "Local",
  message: "Local APIServices are always available",
} as const satisfies Availability;

/** Asks as an administrator: servers that delegate authorization refuse their discovery to those without a name. */
export async function checkAvailability(
  service: APIService,
  access: BackendAccess & { readonly dialect: Dialect },
  signal: AbortSignal,
): Promise<Availability> {
  const { spec } = service;
  if (!spec.service) return localAvailability;
  const path = `/apis/${spec.group ?? ""}/${spec.version ?? ""}`;
  try {
    // No form is asked for: a server with the aggregated form of discovery alone would refuse the older one.
    const headers = {
      "x-remote-user": access.dialect.names.users.aggregator,
      "x-remote-group": "system:masters",
    };
    const document = { path, mostBytes, headers, anyBody: true };
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
