// The trace span of one access to the store, a child of the request's span.
import { Span } from "#tracing";
import type { WriteRequest } from "./request.ts";

const slow = { slowMilliseconds: 500 };

/** Runs a write in a separate span, or without one if the request is not traced. */
export async function inStoreSpan<T>(
  request: WriteRequest,
  operation: "Create" | "GuaranteedUpdate",
  key: string,
  run: (span?: Span) => Promise<T>,
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
      type: strategy.custom
        ? "*unstructured.Unstructured"
        : `*${endpoint.group.split(".", 1)[0] || "core"}.${endpoint.kind}`,
      resource: groupResource,
    }),
    slow,
  );
  try {
    const result = await span.run(() => run(span));
    // Once the call has begun the value to store is final.
    const call = span.items.findLast((item) => item instanceof Span);
    if (call instanceof Span) {
      span.step("TransformToStorage succeeded", undefined, call.began);
      if (operation !== "Create") span.step("Transaction prepared", undefined, call.began);
    }
    span.event(operation === "Create" ? "Txn call succeeded" : "Txn call completed");
    if (operation !== "Create") span.step("Transaction committed");
    span.step("decode succeeded");
    return result;
  } catch (error) {
    span.failed = true;
    span.event("Txn call failed", { err: (error as Error).message });
    throw error;
  } finally {
    span.end();
  }
}

/** Encodes an object and records the steps in the store span. */
export function encodedIn<T>(span: Span | undefined, encode: () => T): T {
  span?.step("About to Encode");
  const encoded = encode();
  span?.step("Encode succeeded");
  return encoded;
}
