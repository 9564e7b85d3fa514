// Test fixture of admission plugins: attributes with defaults for all fields.
import assert from "node:assert/strict";
import { ApiError } from "#base";
import { type AdmissionAttributes, virtualAttributes } from "./attributes.ts";

/**
 * Returns the attributes of the creation of a pod, or of an update if `oldObject` is given, unless
 * overridden.
 */
export const attributesOf = (given: Partial<AdmissionAttributes>): AdmissionAttributes => ({
  ...virtualAttributes({
    operation: given.oldObject ? "UPDATE" : "CREATE",
    resource: { group: "", version: "v1", resource: "pods" },
    kind: { group: "", version: "v1", kind: "Pod" },
    subresource: "",
    namespace: "n",
    name: "p",
    user: { name: "u", groups: [] },
    dryRun: false,
    object: undefined,
    oldObject: undefined,
    options: {},
    warn: () => undefined,
    annotate: () => undefined,
    ...given,
  }),
  ...given,
});

/** Returns the result of the run, or the code of its API error. */
export async function resultOrCode<T>(run: () => Promise<T>): Promise<T | string> {
  try {
    return await run();
  } catch (error) {
    assert.ok(error instanceof ApiError);
    return String(error.code);
  }
}
