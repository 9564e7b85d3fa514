// Support for tests of the audit system: an event with default values, and a backend that records its
// deliveries.
import type { AuditBackend } from "./backend.ts";
import type { AuditEvent } from "./event.ts";

export const eventOf = (given: Partial<AuditEvent> = {}): AuditEvent => ({
  level: "Metadata",
  auditId: "id-1",
  stage: "ResponseComplete",
  requestUri: "/api/v1/pods?limit=5",
  verb: "list",
  user: { name: "ann", groups: ["dev"] },
  client: { sourceIps: ["10.0.0.1"], userAgent: "test/1" },
  receivedAt: Date.UTC(2024, 0, 2, 3, 4, 5, 678),
  stageAt: Date.UTC(2024, 0, 2, 3, 4, 5, 679),
  ...given,
});

export interface KeepingBackend extends AuditBackend {
  readonly batches: string[][];
  /** Set to make deliveries fail. */
  failure: Error | undefined;
  closed: boolean;
}

/** Records the audit IDs of each delivery. */
export function keepingBackend(): KeepingBackend {
  const backend: KeepingBackend = {
    batches: [],
    failure: undefined,
    closed: false,
    process: async (events) => {
      if (backend.failure) throw backend.failure;
      backend.batches.push(events.map(({ auditId }) => auditId));
    },
    close: async () => void (backend.closed = true),
  };
  return backend;
}
