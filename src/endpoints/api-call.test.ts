import assert from "node:assert/strict";
import { test } from "node:test";
import type { Call } from "#http";
import { ApiCall } from "./api-call.ts";

test("annotations whose keys are no qualified names with a prefix are dropped", () => {
  const keys: string[] = [];
  const call = new ApiCall({ method: "POST", path: "/api/v1/pods", search: "", headers: {} } as Call, "id");
  call.audit = { annotate: (key: string) => void keys.push(key) } as never;
  for (const key of ["a.example.com/k", "a.example.com/", "a.example.com/b/c", "k", "a.example.com/-"])
    call.annotate(key, "v");
  assert.deepEqual(keys, ["a.example.com/k"]);
});
