import assert from "node:assert/strict";
import { test } from "node:test";
import { cronJob } from "./cron-job.ts";
import { job } from "./job.ts";
import {
  causesOf,
  cellsOf,
  contextOf,
  defaulted,
  tryCreate,
  tryPart,
  tryUpdate,
} from "./strategy.fixture.ts";
import type { ApiObject } from "../strategy.ts";

const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i:1" }] } };
const metadata = { name: "j", namespace: "n", uid: "u" };
type Sent = Record<string, unknown>;

const refused: [name: string, spec: Sent, causes: string[]][] = [
  ["a minimal job is valid", { template }, []],
  [
    "numbers must not be negative",
    { template, parallelism: -1, completions: -1, backoffLimit: -1 },
    ["Invalid spec.backoffLimit", "Invalid spec.completions", "Invalid spec.parallelism"],
  ],
  [
    "restart policy Always is refused",
    { template: { spec: { ...template.spec, restartPolicy: "Always" } } },
    ["Required spec.template.spec.restartPolicy"],
  ],
  [
    "a selector set by the client is refused",
    { template, selector: { matchLabels: { a: "b" } } },
    ["Invalid spec.selector", "Invalid spec.template.metadata.labels"],
  ],
  [
    "a manual selector is allowed",
    {
      template: { ...template, metadata: { labels: { a: "b" } } },
      manualSelector: true,
      selector: { matchLabels: { a: "b" } },
    },
    [],
  ],
  [
    "an indexed job requires completions",
    { template, completionMode: "Indexed", parallelism: 2 },
    ["Required spec.completions"],
  ],
  [
    "a failure rule needs an action and a condition",
    { template, podFailurePolicy: { rules: [{ action: "X" }] } },
    ["Invalid spec.podFailurePolicy.rules[0]", "NotSupported spec.podFailurePolicy.rules[0].action"],
  ],
  [
    "exit codes are sorted, unique and refer to known containers",
    {
      template,
      podFailurePolicy: {
        rules: [
          { action: "Ignore", onExitCodes: { containerName: "z", operator: "In", values: [2, 1, 1, 0] } },
        ],
      },
    },
    [
      "Duplicate spec.podFailurePolicy.rules[0].onExitCodes.values[2]",
      "Invalid spec.podFailurePolicy.rules[0].onExitCodes.containerName",
      "Invalid spec.podFailurePolicy.rules[0].onExitCodes.values",
      "Invalid spec.podFailurePolicy.rules[0].onExitCodes.values[3]",
    ],
  ],
  [
    "the container of a failure rule must exist",
    {
      template,
      podFailurePolicy: {
        rules: [{ action: "FailJob", onExitCodes: { containerName: "", operator: "In", values: [1] } }],
      },
    },
    ["Invalid spec.podFailurePolicy.rules[0].onExitCodes.containerName"],
  ],
];
for (const [name, spec, causes] of refused)
  test(name, () => assert.deepEqual(tryCreate(job, { metadata, spec }).causes, causes));

const labels = {
  "job-name": "j",
  "batch.orch.io/job-name": "j",
  "controller-uid": "u",
  "batch.orch.io/controller-uid": "u",
};

test("a job gets a generated selector with matching labels", () => {
  const { object } = tryCreate(job, { metadata, spec: { template } });
  const { selector, template: made } = object["spec"] as {
    selector: object;
    template: { metadata: { labels: object } };
  };
  assert.deepEqual(selector, { matchLabels: { "batch.orch.io/controller-uid": "u" } });
  assert.deepEqual(made.metadata.labels, labels);
  assert.deepEqual((object["metadata"] as Sent)["labels"], labels);
  assert.deepEqual((object["metadata"] as Sent)["annotations"], { "batch.orch.io/job-tracking": "" });
});

test("a job without labels inherits those of its template", () => {
  const labelled = { ...template, metadata: { labels: { a: "b" } } };
  assert.deepEqual(
    (tryCreate(job, { metadata, spec: { template: labelled } }).object["metadata"] as Sent)["labels"],
    { ...labels, a: "b" },
  );
  assert.deepEqual(
    (
      tryCreate(job, { metadata: { ...metadata, labels: { x: "y" } }, spec: { template: labelled } }).object[
        "metadata"
      ] as Sent
    )["labels"],
    { x: "y" },
  );
});

const made = {
  template: { ...template, metadata: { labels } },
  selector: { matchLabels: { "batch.orch.io/controller-uid": "u" } },
};
const changed: [name: string, before: Sent, after: Sent, causes: string[]][] = [
  ["parallelism is mutable", made, { ...made, completions: 1, parallelism: 0 }, []],
  ["completions are immutable", made, { ...made, completions: 5 }, ["Invalid spec.completions"]],
  [
    "completions of an indexed job change together with its parallelism",
    { ...made, completionMode: "Indexed", completions: 3, parallelism: 3 },
    { ...made, completionMode: "Indexed", completions: 4, parallelism: 4 },
    [],
  ],
  [
    "the template is immutable",
    made,
    { ...made, template: { ...made.template, spec: { ...template.spec, dnsPolicy: "Default" } } },
    ["Invalid spec.template"],
  ],
  [
    "scheduling directives of a suspended job are mutable",
    { ...made, suspend: true },
    {
      ...made,
      suspend: true,
      template: { ...made.template, spec: { ...template.spec, nodeSelector: { x: "y" } } },
    },
    [],
  ],
  [
    "a job created with only the older labels is valid with those",
    {
      template: { ...template, metadata: { labels: { a: "b" } } },
      manualSelector: true,
      selector: { matchLabels: { a: "b" } },
    },
    { template: { ...template, metadata: { labels: { a: "b" } } }, selector: { matchLabels: { a: "b" } } },
    [
      "Invalid spec.selector",
      "Required spec.template.metadata.labels[controller-uid]",
      "Required spec.template.metadata.labels[job-name]",
    ],
  ],
];
for (const [name, before, after, causes] of changed)
  test(name, () =>
    assert.deepEqual(tryUpdate(job, { metadata, spec: before }, { metadata, spec: after }).causes, causes),
  );

test("a status update without labels keeps the labels of a job", () => {
  const sent = { metadata, spec: { template: { ...template, metadata: { labels: { a: "b" } } } } };
  const { object } = tryPart(job, "status", sent, { metadata, status: { active: 1 } });
  assert.equal((object["metadata"] as { labels: Record<string, string> }).labels["a"], "b");
  const own = tryPart(job, "status", sent, {
    metadata: { ...metadata, labels: { c: "d" } },
    status: {},
  }).object;
  assert.deepEqual((own["metadata"] as { labels: object }).labels, { c: "d" });
});

test("a template cannot reset managed fields", () => {
  const reset = { managedFields: [] };
  const made = defaulted(job, {
    metadata: { ...metadata, ...reset },
    spec: { template: { ...template, metadata: reset } },
  }) as unknown as {
    metadata: object;
    spec: { template: { metadata: object } };
  };
  assert.deepEqual(
    ["managedFields" in made.metadata, "managedFields" in made.spec.template.metadata],
    [true, false],
  );
});

test("uncounted pods are unique", () => {
  const status = { uncountedTerminatedPods: { succeeded: ["a", ""], failed: ["a"] } };
  assert.deepEqual(tryPart(job, "status", { metadata, spec: { template } }, { status }).causes, [
    "Duplicate status.uncountedTerminatedPods.failed[0]",
    "Invalid status.uncountedTerminatedPods.succeeded[1]",
  ]);
});

test("the table row shows the duration of a job", () => {
  const status = { succeeded: 1, startTime: "2024-05-06T07:00:00Z", completionTime: "2024-05-06T07:05:30Z" };
  assert.deepEqual(cellsOf(job, { metadata, spec: { template }, status }).slice(0, 4), [
    "j",
    "1/1",
    "5m30s",
    "<unknown>",
  ]);
});

const cron = { schedule: "*/5 * * * *", jobTemplate: { spec: { template } } };
const cronRefused: [name: string, metadata: Sent, spec: Sent, causes: string[]][] = [
  ["a valid cron job", metadata, cron, []],
  ["a schedule is required", metadata, { ...cron, schedule: "" }, ["Required spec.schedule"]],
  ["a malformed schedule is refused", metadata, { ...cron, schedule: "soon" }, ["Invalid spec.schedule"]],
  [
    "the time zone must not be set in both places",
    metadata,
    { ...cron, schedule: "TZ=UTC 0 0 * * *", timeZone: "UTC" },
    ["Invalid spec.schedule"],
  ],
  [
    "an unknown time zone is refused",
    metadata,
    { ...cron, timeZone: "Nowhere/Land" },
    ["Invalid spec.timeZone"],
  ],
  ["the local time zone is refused", metadata, { ...cron, timeZone: "Local" }, ["Invalid spec.timeZone"]],
  [
    "a misspelled local time zone is refused for two reasons",
    metadata,
    { ...cron, timeZone: "local" },
    ["Invalid spec.timeZone", "Invalid spec.timeZone"],
  ],
  [
    "an unknown concurrency policy is refused",
    metadata,
    { ...cron, concurrencyPolicy: "Odd" },
    ["NotSupported spec.concurrencyPolicy"],
  ],
  ["the name leaves room for a timestamp", { name: "x".repeat(53) }, cron, ["Invalid metadata.name"]],
  [
    "the job template of a cron job has no selector",
    metadata,
    { ...cron, jobTemplate: { spec: { template, selector: {}, manualSelector: true } } },
    ["Invalid spec.jobTemplate.spec.selector", "NotSupported spec.jobTemplate.spec.manualSelector"],
  ],
];
for (const [name, meta, spec, causes] of cronRefused)
  test(name, () => assert.deepEqual(tryCreate(cronJob, { metadata: meta, spec }).causes, causes));

test("the table row shows the schedule of a cron job", () => {
  assert.deepEqual(cellsOf(cronJob, { metadata, spec: cron }), [
    "j",
    "*/5 * * * *",
    "False",
    0,
    "<none>",
    "<unknown>",
    "c",
    "i:1",
    "<none>",
  ]);
});

test("completions of an indexed job are immutable unless the gate is on", () => {
  const indexed = (count: number): ApiObject =>
    defaulted(job, {
      metadata: { name: "j", namespace: "n" },
      spec: { template, completionMode: "Indexed", completions: count, parallelism: count },
    });
  const context = contextOf(job);
  const settings = { ...context.settings, elasticJobs: false };
  const causes = causesOf(job.validateUpdate!(indexed(4), indexed(3), { ...context, settings }));
  assert.ok(causes.includes("Invalid spec.completions"), causes.join());
});
