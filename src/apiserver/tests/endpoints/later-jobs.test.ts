// Job features of later releases, with their gates on.
import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "../../server.fixture.ts";

const gates = ["BackoffLimitPerIndex", "PodReplacementPolicy", "SuccessPolicy", "ManagedBy"];
const ahead = await serve({
  flags: [`--feature-gates=${gates.map((name) => `Job${name}=true`).join(",")}`],
});
const plain = await serve();
const path = "/apis/batch/v1/namespaces/default/jobs";

const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
const indexed = { template, completionMode: "Indexed", completions: 5, parallelism: 5 };
const jobOf = (name: string, spec: object) => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name },
  spec: { template, ...spec },
});
const failsIndex = { rules: [{ action: "FailIndex", onExitCodes: { operator: "In", values: [1] } }] };
const success = (...rules: object[]) => ({ ...indexed, successPolicy: { rules } });
const large = { ...indexed, completions: 100_001, parallelism: 10_001, backoffLimitPerIndex: 1 };

const refused: [name: string, spec: object, details: string[]][] = [
  ["limits per index need an indexed job", { backoffLimitPerIndex: 1 }, ["requires indexed completion mode"]],
  [
    "a maximum of failed indexes needs a limit per index",
    { ...indexed, maxFailedIndexes: 1 },
    ["backoffLimitPerIndex: Required value: when maxFailedIndexes is specified"],
  ],
  [
    "no more indexes can fail than there are",
    { ...indexed, backoffLimitPerIndex: 1, maxFailedIndexes: 6 },
    ["maxFailedIndexes: Invalid value: 6: must be less than or equal to completions"],
  ],
  [
    "large jobs with limits per index are restricted",
    large,
    [
      "maxFailedIndexes: Required value: must be specified when completions is above 100000",
      "parallelism: Invalid value: 10001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index",
    ],
  ],
  [
    "failing an index needs a limit per index",
    { podFailurePolicy: failsIndex },
    ['action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set'],
  ],
  [
    "an unknown action is answered with all known ones",
    { podFailurePolicy: { rules: [{ ...failsIndex.rules[0], action: "X" }] } },
    ['supported values: "Count", "FailIndex", "FailJob", "Ignore"'],
  ],
  [
    "a success policy needs an indexed job",
    { successPolicy: { rules: [{ succeededCount: 1 }] } },
    ["requires indexed completion mode"],
  ],
  ["a success policy needs rules", success(), ["at least one rules must be specified"]],
  [
    "a success rule needs a criterion",
    success({}),
    ["rules[0]: Required value: at least one of succeededCount or succeededIndexes must be specified"],
  ],
  [
    "success rules are within the completions",
    success({ succeededCount: 6 }, { succeededIndexes: "0-1", succeededCount: 3 }, { succeededIndexes: "5" }),
    [
      "rules[0].succeededCount: Invalid value: 6: must be less than or equal to 5 (the number of specified completions)",
      "rules[1].succeededCount: Invalid value: 3: must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)",
      'rules[2].succeededIndexes: Invalid value: "5": error parsing succeededIndexes: too large index: "5"',
    ],
  ],
  [
    "indexes of success rules are increasing numbers",
    success({ succeededIndexes: "2,1" }, { succeededIndexes: "a" }, { succeededIndexes: "1-2-3" }),
    [
      "error parsing succeededIndexes: non-increasing order, previous: 2, current: 1",
      'error parsing succeededIndexes: cannot convert string to integer for index: "a"',
      "at most two parts separated by '-'",
    ],
  ],
  [
    "pods with a failure policy are replaced once they have failed",
    {
      podFailurePolicy: { rules: [{ ...failsIndex.rules[0], action: "Ignore" }] },
      podReplacementPolicy: "TerminatingOrFailed",
    },
    ['podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"'],
  ],
  [
    "the controller is a domain-prefixed path of limited length",
    { managedBy: `acme.io/${"x".repeat(60)}?` },
    [
      `managedBy: Invalid value: "${"x".repeat(60)}?": Invalid path`,
      "managedBy: Too long: must have at most 63 bytes",
    ],
  ],
];
for (const [name, spec, details] of refused)
  test(name, async () => {
    const message = String((await ahead.must(422, "POST", path, { body: jobOf("j", spec) })).at("message"));
    for (const detail of details) assert.ok(message.includes(detail), `${detail} in ${message}`);
  });

test("defaults follow the limits per index and the failure policy", async () => {
  const { json } = await ahead.must(201, "POST", path, {
    body: jobOf("defaults", { ...indexed, backoffLimitPerIndex: 0, podFailurePolicy: failsIndex }),
  });
  const { backoffLimit, podReplacementPolicy } = json["spec"] as Record<string, unknown>;
  assert.deepEqual([backoffLimit, podReplacementPolicy], [2 ** 31 - 1, "Failed"]);
  const other = await ahead.must(201, "POST", path, { body: jobOf("plain", {}) });
  assert.equal(other.at("spec.podReplacementPolicy"), "TerminatingOrFailed");
});

test("limits per index, policies of success and the controller are immutable", async () => {
  const spec = { ...success({ succeededCount: 1 }), backoffLimitPerIndex: 1, managedBy: "acme.io/a" };
  await ahead.must(201, "POST", path, { body: jobOf("fixed", spec) });
  const body = {
    spec: {
      backoffLimitPerIndex: 2,
      managedBy: "acme.io/b",
      successPolicy: { rules: [{ succeededCount: 2 }] },
    },
  };
  const { causes } = await ahead.must(422, "PATCH", `${path}/fixed`, {
    body,
    type: "application/merge-patch+json",
  });
  assert.deepEqual([...new Set(causes)].toSorted(), [
    "Invalid spec.backoffLimitPerIndex",
    "Invalid spec.managedBy",
    "Invalid spec.successPolicy",
  ]);
});

const time = "2030-01-01T00:00:00Z";
const conditions = (...types: string[]) => types.map((type) => ({ type, status: "True" }));
const done = {
  startTime: time,
  completionTime: time,
  conditions: conditions("SuccessCriteriaMet", "Complete"),
};
const failed = { startTime: time, conditions: conditions("FailureTarget", "Failed") };

const statuses: [name: string, first: object, then: object, detail: string | undefined][] = [
  ["a job completes", { startTime: time }, done, undefined],
  ["a job fails", { startTime: time }, failed, undefined],
  [
    "a job does not complete before its success is decided",
    {},
    { ...done, conditions: conditions("Complete") },
    "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
  ],
  [
    "a job does not fail before its failure is decided",
    {},
    { ...failed, conditions: conditions("Failed") },
    "cannot set Failed=True condition without the FailureTarget=true condition",
  ],
  [
    "a job does not both succeed and fail",
    {},
    { ...done, conditions: conditions("SuccessCriteriaMet", "FailureTarget") },
    "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions",
  ],
  ["a finished job stays finished", done, { startTime: time }, "cannot disable the terminal Complete=True"],
  ["a finished job has no active pods", {}, { ...failed, active: 1 }, "active>0 is invalid for finished job"],
  [
    "a finished job has no terminating pods",
    {},
    { ...failed, terminating: 1 },
    "terminating>0 is invalid for finished job",
  ],
  [
    "a finished job was started",
    {},
    { ...failed, startTime: null },
    "startTime is required for finished job",
  ],
  [
    "the completion time belongs to a complete job",
    {},
    { startTime: time, completionTime: time },
    "cannot set completionTime when there is no Complete=True condition",
  ],
  ["failures are not forgotten", { failed: 2 }, { failed: 1 }, "cannot decrease the failed counter"],
  ["ready pods are active", {}, { active: 1, ready: 2 }, "cannot set more ready pods than active"],
  [
    "an index does not both fail and complete",
    {},
    { completedIndexes: "0,2-3", failedIndexes: "1,3" },
    "failedIndexes and completedIndexes overlap at index: 3",
  ],
  [
    "failed indexes are below the number of completions",
    {},
    { failedIndexes: "7" },
    'error parsing failedIndexes: too large index: "7"',
  ],
  ["a job that violates a rule elsewhere stays writable", { active: 1 }, { active: 1, failed: 1 }, undefined],
];
for (const [position, [name, first, then, detail]] of statuses.entries())
  test(name, async () => {
    const at = `status-${position}`;
    await ahead.must(201, "POST", path, { body: jobOf(at, { ...indexed, backoffLimitPerIndex: 1 }) });
    const write = (code: number, status: object) =>
      ahead.must(code, "PATCH", `${path}/${at}/status`, {
        body: [{ op: "add", path: "/status", value: status }],
        type: "application/json-patch+json",
      });
    await write(200, first);
    const answer = await write(detail === undefined ? 200 : 422, then);
    if (detail !== undefined) assert.ok(String(answer.at("message")).includes(detail), answer.text);
  });

test("without the gates the fields are unknown, and a status is accepted as in 1.27", async () => {
  const spec = { ...success({ succeededCount: 1 }), backoffLimitPerIndex: 1, managedBy: "acme.io/b" };
  const { text } = await plain.must(400, "POST", `${path}?fieldValidation=Strict`, {
    body: jobOf("j", { ...spec, podReplacementPolicy: "Failed" }),
  });
  for (const key of ["successPolicy", "backoffLimitPerIndex", "managedBy", "podReplacementPolicy"])
    assert.ok(text.includes(`unknown field \\"spec.${key}\\"`), text);
  await plain.must(422, "POST", path, { body: jobOf("j", { podFailurePolicy: failsIndex }) });
  await plain.must(201, "POST", path, { body: jobOf("j", { ...indexed, podFailurePolicy: undefined }) });
  for (const status of [done, failed, {}])
    await plain.must(200, "PATCH", `${path}/j/status`, {
      body: [{ op: "add", path: "/status", value: { ...status, active: 1 } }],
      type: "application/json-patch+json",
    });
});

test("the action that fails an index is published only with its gate", async () => {
  for (const [server, has] of [
    [plain, false],
    [ahead, true],
  ] as const) {
    const { text } = await server.must(200, "GET", "/openapi/v3/apis/batch/v1");
    assert.equal(text.includes('"FailIndex"'), has);
  }
});
