// All declarations of src/api, in the dialect of the reference facts.

import * as api from "#api";
import { dialects } from "#dialect";
import type { Message } from "#schema";

/** The dialect of the reference. */
export const original = Object.values(dialects).find((dialect) => dialect !== dialects.orch)!;

const isMessage = (value: unknown): value is Message =>
  typeof value === "object" && value !== null && "shape" in value && value.shape === "message";

/** All messages, including those exported by version. */
export const declaredMessages: readonly Message[] = Object.values<unknown>(api)
  .flatMap((value): unknown[] =>
    typeof value === "object" && value !== null && !("shape" in value) ? Object.values(value) : [value],
  )
  .filter(isMessage)
  .map(api.gatedFields({ isOn: () => false, expressionRelease: 27 }))
  .map((message) => api.inDialect(original, message));

/** The list messages of all kinds that have one. */
export const declaredLists: readonly Message[] = declaredMessages
  .filter(
    (message) =>
      message.kind !== undefined &&
      (message.fields["metadata"]?.shape as Message | undefined)?.name === "ObjectMeta",
  )
  .map((message) => api.listOf(message as api.Kind));
