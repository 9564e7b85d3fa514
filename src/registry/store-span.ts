// The span of one access to the store, inside the operation that it belongs to.
import type { WriteRequest } from "./request.ts";

const slow = { slowMilliseconds: 500 };

/** Runs a write in a span of its own; without an operation that is traced it only runs. */
export async function inStoreSpan<T>(
  request: WriteRequest,
  operation: "Create" | "GuaranteedUpdate",
  key: string,
  run: () => Promise<T>,
): Promise<T> {
  const { endpoint, span: parent } = request;
  if (!parent) return await run();
  const { resource } = endpoint;
  const { strategy, dialect, groupResource } = resource;
  const span = parent.child(
    `${operation} ${dialect.wire.storeSpan}`,
    () => ({
      "audit-id": String(parent.attributes["audit-id"] ?? ""),
      key: `/${strategy.storagePath ?? strategy.resource}/${key}`,
      type: `*${endpoint.group.split(".", 1)[0] || "core"}.${endpoint.kind}`,
      resource: groupResource,
    }),
    slow,
  );
  try {
    const result = await run();
    span.event("Txn call succeeded");
    return result;
  } catch (error) {
    span.failed = true;
    span.event("Txn call failed", { err: (error as Error).message });
    throw error;
  } finally {
    span.end();
  }
}
