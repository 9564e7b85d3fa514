// Job features of later releases, with their gates enabled.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Job, Pod } from "#api";
import { kinds } from "#client";
import { dialects } from "#dialect";
import type { GivenGates } from "#options";
import type { SeenPod } from "../pods.ts";
import { type TimedCluster, withTimedController } from "../cluster.fixture.ts";
import { failureAnnotations, podsToReplace, readyIndexes } from "./index-failures.ts";
import { IndexSet } from "./indexes.ts";
import type { JobRules, SeenJob } from "./job-pods.ts";
import { jobController } from "./job.ts";
import { metRule } from "./success-policy.ts";

const namespace = "default";
const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
const indexed = { template, completionMode: "Indexed", completions: 2, parallelism: 2 };
const failIndex = { rules: [{ action: "FailIndex", onExitCodes: { operator: "In", values: [42] } }] };

interface RunningJob {
  readonly cluster: TimedCluster;
  job(accept: (job: Job) => boolean): Promise<Job>;
  pods(): Promise<readonly Pod[]>;
  /** Resolves with the newest pod of an index that has not finished. */
  pod(index: number): Promise<Pod>;
  end(pod: Pod, phase: "Failed" | "Succeeded", exitCode?: number): Promise<unknown>;
}

const withJob = (spec: object, gates: GivenGates, run: (job: RunningJob) => Promise<void>) =>
  withTimedController(
    jobController,
    async (cluster) => {
      const { client, until } = cluster;
      const [jobs, pods] = [client.of(kinds.jobs), client.of(kinds.pods)];
      await jobs.create({ metadata: { name: "j", namespace }, spec: { template, ...spec } } as never);
      const list = async () => (await pods.list({ namespace })).items;
      await run({
        cluster,
        job: (accept) =>
          until(async () => {
            const job = await jobs.get("j", { namespace });
            return accept(job) && job;
          }),
        pods: list,
        pod: (index) =>
          until(async () =>
            (await list()).find(
              ({ metadata, status }) =>
                metadata.name!.startsWith(`j-${index}-`) &&
                !["Failed", "Succeeded"].includes(status.phase ?? ""),
            ),
          ),
        end: (pod, phase, exitCode = 1) =>
          pods.patch(
            pod.metadata.name!,
            "merge",
            {
              status: {
                phase,
                containerStatuses: [
                  {
                    name: "c",
                    image: "i",
                    state: { terminated: { exitCode: phase === "Failed" ? exitCode : 0 } },
                  },
                ],
              },
            },
            { namespace, subresource: "status" },
          ),
      });
    },
    gates,
  );

const conditionsOf = ({ status }: Job): string[] => (status.conditions ?? []).map(({ type }) => type);
const has =
  (type: string) =>
  (job: Job): boolean =>
    conditionsOf(job).includes(type);
const failuresOf = ({ metadata }: Pod): string | undefined =>
  metadata.annotations?.["batch.orch.io/job-index-failure-count"];

test("an index fails by its own limit, the others complete, and the job has failed indexes", () =>
  withJob({ ...indexed, backoffLimitPerIndex: 1 }, { JobBackoffLimitPerIndex: true }, async (running) => {
    const first = await running.pod(0);
    assert.equal(failuresOf(first), "0");
    await running.end(first, "Failed");
    const second = await running.pod(0);
    assert.deepEqual([failuresOf(second), second.metadata.name === first.metadata.name], ["1", false]);
    await running.end(second, "Failed");
    const { status } = await running.job((job) => job.status.failedIndexes === "0");
    assert.equal(status.conditions, undefined);
    await running.end(await running.pod(1), "Succeeded");
    const failed = await running.job(has("Failed"));
    const { completedIndexes, failedIndexes, failed: count } = failed.status;
    assert.deepEqual([completedIndexes, failedIndexes, count], ["1", "0", 2]);
    assert.equal(failed.status.conditions?.[0]?.reason, "FailedIndexes");
  }));

test("a job fails with more failed indexes than it may have, by a rule that fails indexes", () =>
  withJob(
    { ...indexed, backoffLimitPerIndex: 5, maxFailedIndexes: 0, podFailurePolicy: failIndex },
    { JobBackoffLimitPerIndex: true },
    async (running) => {
      await running.end(await running.pod(1), "Failed", 42);
      const { status } = await running.job(has("Failed"));
      assert.deepEqual(
        [status.failedIndexes, status.conditions?.[0]?.reason],
        ["1", "MaxFailedIndexesExceeded"],
      );
    },
  ));

test("a job succeeds once a rule of its success policy is met, and its other pods are deleted", () =>
  withJob(
    { ...indexed, successPolicy: { rules: [{ succeededIndexes: "1" }] } },
    { JobSuccessPolicy: true },
    async (running) => {
      await running.pod(0);
      await running.end(await running.pod(1), "Succeeded");
      const { status } = await running.job(has("Complete"));
      assert.deepEqual(
        status.conditions?.map(({ type, reason, message }) => [type, reason, message]),
        [
          ["SuccessCriteriaMet", "SuccessPolicy", "Matched rules at index 0"],
          ["Complete", "SuccessPolicy", "Matched rules at index 0"],
        ],
      );
      assert.deepEqual([status.succeeded, status.failed, status.active], [1, undefined, undefined]);
    },
  ));

test("a terminating pod is counted, and replaced once it has failed", () =>
  withJob({ podReplacementPolicy: "Failed" }, { JobPodReplacementPolicy: true }, async (running) => {
    const { cluster, job, pods, end } = running;
    const podClient = cluster.client.of(kinds.pods);
    const pod = await cluster.until(async () => (await pods())[0]);
    const name = pod.metadata.name!;
    const keep = { metadata: { finalizers: ["test.io/keep", ...(pod.metadata.finalizers ?? [])] } };
    await podClient.patch(name, "merge", keep, { namespace });
    await podClient.delete(name, { namespace, graceSeconds: 30 });
    const { status } = await job((each) => each.status.terminating === 1);
    assert.deepEqual([status.active, status.failed, (await pods()).length], [undefined, undefined, 1]);
    await end(pod, "Failed");
    await job((each) => each.status.active === 1 && each.status.failed === 1);
    assert.equal((await pods()).length, 2);
    await podClient.patch(name, "merge", { metadata: { finalizers: null } }, { namespace });
    await job((each) => each.status.terminating === 0);
  }));

for (const gate of ["JobPodReplacementPolicy", "JobManagedBy"])
  test(`with ${gate} a job announces its failure and finishes when its pods have terminated`, () =>
    withJob({ parallelism: 2, completions: 2, backoffLimit: 0 }, { [gate]: true }, async (running) => {
      const { cluster, job, pods, end } = running;
      const podClient = cluster.client.of(kinds.pods);
      const [one, other] = await cluster.until(async () => {
        const found = await pods();
        return found.length === 2 && found;
      });
      const name = other!.metadata.name!;
      const keep = { metadata: { finalizers: ["test.io/keep", ...(other!.metadata.finalizers ?? [])] } };
      await podClient.patch(name, "merge", keep, { namespace });
      const ready = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
      await podClient.patch(name, "merge", { status: ready }, { namespace, subresource: "status" });
      await job((each) => each.status.ready === 1);
      await end(one!, "Failed");
      const announced = await job(has("FailureTarget"));
      assert.deepEqual(
        [conditionsOf(announced), announced.status.active, announced.status.ready],
        [["FailureTarget"], undefined, 0],
      );
      await podClient.patch(name, "merge", { metadata: { finalizers: null } }, { namespace });
      const { status } = await job(has("Failed"));
      assert.equal(status.conditions?.at(-1)?.reason, "BackoffLimitExceeded");
    }));

test("a job completes in two steps, with a reason", () =>
  withJob(
    {},
    { JobPodReplacementPolicy: true, JobSuccessPolicy: true },
    async ({ cluster, job, pods, end }) => {
      await end(await cluster.until(async () => (await pods())[0]), "Succeeded");
      const { status } = await job(has("Complete"));
      assert.deepEqual(
        status.conditions?.map(({ type, reason }) => [type, reason]),
        [
          ["SuccessCriteriaMet", "CompletionsReached"],
          ["Complete", "CompletionsReached"],
        ],
      );
    },
  ));

test("jobs of other controllers are left alone, and their pods keep the finalizer", () =>
  withJob({ managedBy: "acme.io/runner" }, { JobManagedBy: true }, async ({ cluster, job, pods }) => {
    const { client } = cluster;
    const own = { name: "own", namespace };
    const spec = { template, managedBy: "orch.io/job-controller" };
    await client.of(kinds.jobs).create({ metadata: own, spec } as never);
    await cluster.until(async () => (await pods()).some(({ metadata }) => metadata.name!.startsWith("own-")));
    const { status } = await job(() => true);
    assert.deepEqual([status.startTime, (await pods()).length], [undefined, 1]);
  }));

for (const [isOn, label, fieldPath] of [
  [true, "0", "metadata.labels['batch.orch.io/job-completion-index']"],
  [false, undefined, "metadata.annotations['batch.orch.io/job-completion-index']"],
] as const)
  test(`with PodIndexLabel=${isOn} the completion index is ${isOn ? "" : "not "}a label`, () =>
    withJob(indexed, { PodIndexLabel: isOn }, async ({ pod }) => {
      const { metadata, spec } = await pod(0);
      assert.equal(metadata.labels?.["batch.orch.io/job-completion-index"], label);
      assert.equal(spec.containers?.[0]?.env?.[0]?.valueFrom?.fieldRef?.fieldPath, fieldPath);
    }));

const rules: [name: string, policy: object[], succeeded: number[], met: string | undefined][] = [
  ["all indexes of a rule", [{ succeededIndexes: "0-1,3" }], [0, 1, 3], "Matched rules at index 0"],
  ["not all indexes of a rule", [{ succeededIndexes: "0-1,3" }], [0, 1, 2], undefined],
  [
    "enough indexes of a rule",
    [{ succeededIndexes: "1-4", succeededCount: 2 }],
    [1, 3, 5],
    "Matched rules at index 0",
  ],
  ["too few indexes of a rule", [{ succeededIndexes: "1-4", succeededCount: 3 }], [1, 3, 5], undefined],
  [
    "any indexes, by the second rule",
    [{ succeededIndexes: "9" }, { succeededCount: 2 }],
    [4, 5],
    "Matched rules at index 1",
  ],
  ["no index is never enough", [{ succeededCount: 0 }], [], undefined],
];
for (const [name, policy, succeeded, met] of rules)
  test(`a success policy: ${name}`, () =>
    assert.equal(metRule({ rules: policy }, IndexSet.parse(succeeded.join(), 10), 10), met));

const failedPod = (failures: number, at: string, ignored = 0): SeenPod =>
  ({
    metadata: {
      name: `p${failures}`,
      creationTimestamp: at,
      annotations: {
        "batch.orch.io/job-completion-index": "0",
        "batch.orch.io/job-index-failure-count": String(failures),
        "batch.orch.io/job-index-ignored-failure-count": String(ignored),
      },
    },
    status: { phase: "Failed" },
  }) as never;
const [early, late] = ["2030-01-01T00:00:00Z", "2030-01-01T00:01:00Z"];

test("the last failed pod of an index is replaced after a delay that doubles with each failure", () => {
  const dialect = dialects.orch;
  const [first, second] = [failedPod(0, early), failedPod(1, late)];
  const replaced = podsToReplace([second, first], () => false, dialect);
  assert.equal(replaced.get(0), second);
  assert.equal(podsToReplace([first], (index) => index === 0, dialect).size, 0);
  const at = Date.parse(late);
  assert.deepEqual(readyIndexes([0], replaced, at, dialect), { indexes: [], delay: 20_000 });
  assert.deepEqual(readyIndexes([0, 1], replaced, at, dialect), { indexes: [1], delay: 0 });
  assert.deepEqual(readyIndexes([0], replaced, at + 20_000, dialect), { indexes: [0], delay: 0 });
});

test("a replacement carries on the failures of its index, ignored ones apart", () => {
  const job = { spec: { podFailurePolicy: { rules: [] } } } as unknown as SeenJob;
  const policy = { rules: [{ action: "Ignore", onPodConditions: [{ type: "D", status: "True" }] }] };
  const ignoring = { spec: { podFailurePolicy: policy } } as unknown as SeenJob;
  const on = { failurePolicies: true, failedIndexes: true } as JobRules;
  const pod = failedPod(2, early, 1);
  const disrupted = { ...pod, status: { ...pod.status, conditions: [{ type: "D", status: "True" }] } };
  const counts = (given: SeenJob, replaced: SeenPod | undefined) =>
    Object.values(failureAnnotations(given, replaced, on, dialects.orch));
  assert.deepEqual(counts(job, undefined), ["0"]);
  assert.deepEqual(counts(job, pod), ["3", "1"]);
  assert.deepEqual(counts(ignoring, disrupted as SeenPod), ["2", "2"]);
});
