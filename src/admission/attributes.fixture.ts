// For tests of plug-ins: attributes with whatever does not matter filled in.
import assert from "node:assert/strict";
import { ApiError } from "#base";
import { type AdmissionAttributes, virtualAttributes } from "./attributes.ts";

/** Somebody creates a pod, or changes one that was there, unless told otherwise. */
export const attemptOf = (given: Partial<AdmissionAttributes>): AdmissionAttributes => ({
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

/** What the run comes to, or the code of the refusal. */
export async function orCode<T>(run: () => Promise<T>): Promise<T | string> {
  try {
    return await run();
  } catch (error) {
    assert.ok(error instanceof ApiError);
    return String(error.code);
  }
}
