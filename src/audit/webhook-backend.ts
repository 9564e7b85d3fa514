// Posts events as lists to an HTTPS server.
import type { Webhook } from "#client";
import type { AuditBackend } from "./backend.ts";
import { eventListText } from "./event-text.ts";
import { splitBySize } from "./truncate.ts";

export interface WebhookBackendOptions {
  readonly webhook: Webhook;
  readonly apiVersion: string;
  /** Longer lists are posted in parts; unlimited if undefined. */
  readonly maxBatchBytes?: number | undefined;
}

export function webhookBackend({ webhook, apiVersion, maxBatchBytes }: WebhookBackendOptions): AuditBackend {
  return {
    process: async (events) => {
      const parts = maxBatchBytes === undefined ? [events] : splitBySize(events, maxBatchBytes, apiVersion);
      for (const part of parts) await webhook.post(eventListText(part, apiVersion));
    },
    close: async () => webhook.close(),
  };
}
