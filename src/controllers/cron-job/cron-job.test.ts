import assert from "node:assert/strict";
import { test } from "node:test";
import { internal, virtualClock } from "#base";
import { type ApiClient, kinds } from "#client";
import { until, withController } from "../cluster.fixture.ts";
import { cronJobController } from "./cron-job.ts";

const namespace = "default";
const reasons: [name: string, schedule: string, reason: string, note: RegExp][] = [
  [
    "a time that never occurs",
    "59 23 31 2 *",
    "InvalidSchedule",
    /^invalid schedule: 59 23 31 2 \* : time difference between two schedules is less than 1 second$/,
  ],
];
for (const [name, schedule, reason, note] of reasons)
  test(`a schedule is rejected with an event: ${name}`, async () => {
    await withController(cronJobController, async ({ client }) => {
      const metadata = { creationTimestamp: null };
      const template = {
        metadata,
        spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i", resources: {} }] },
      };
      const spec = { schedule, jobTemplate: { metadata, spec: { template } } };
      await client.of(kinds.cronJobs).create({ metadata: { name: "c", namespace }, spec });
      const found = await until(async () =>
        (await client.of(kinds.events).list({ namespace })).items.find((event) => event.reason === reason),
      );
      assert.equal(found.type, "Warning");
      assert.match(found.note ?? "", note);
    });
  });

test("a changed schedule starts with its next time", async () => {
  const clock = virtualClock(Math.ceil(Date.now() / 60_000) * 60_000 + 20_000);
  await withController(
    cronJobController,
    async ({ client }) => {
      const containers = [{ name: "c", image: "i" }];
      const template = { spec: { restartPolicy: "Never", containers } };
      const spec = { schedule: "0 0 29 2 *", jobTemplate: { spec: { template } } };
      const cronJobs = client.of(kinds.cronJobs);
      await cronJobs.create({ metadata: { name: "c", namespace }, spec } as never);
      // Let times pass at which the new schedule would have run.
      for (let minutes = 0; minutes < 3; minutes++) await clock.advance(60_000);
      await cronJobs.patch("c", "merge", { spec: { schedule: "* * * * *" } }, { namespace });
      const jobs = async () => (await client.of(kinds.jobs).list({ namespace })).items;
      for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual(await jobs(), []);
      const [job] = await until(async () => {
        await clock.advance(1000);
        const found = await jobs();
        return found.length > 0 && found;
      });
      assert.equal(job!.metadata.name, `c-${Math.floor(clock.now() / 60_000)}`);
    },
    clock,
  );
});

test("an active job that is not observed is kept until it is known to be gone", () => {
  let isGone = false;
  return withController(
    (context) => {
      const of: ApiClient["of"] = (kind) => {
        const resource = context.client.of(kind);
        const get: typeof resource.get = async (...at) => {
          if (!isGone) throw internal("the store does not respond");
          return await resource.get(...at);
        };
        return (kind as unknown) === kinds.jobs ? { ...resource, get } : resource;
      };
      return cronJobController({ ...context, client: { ...context.client, of } });
    },
    async ({ client }) => {
      const cronJobs = client.of(kinds.cronJobs);
      const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
      const spec = { schedule: "0 0 29 2 *", suspend: true, jobTemplate: { spec: { template } } };
      await cronJobs.create({ metadata: { name: "c", namespace }, spec } as never);
      const active = [{ apiVersion: "batch/v1", kind: "Job", namespace, name: "j", uid: "u" }];
      await cronJobs.patch("c", "merge", { status: { active } }, { namespace, subresource: "status" });
      for (let change = 0; change < 5; change++) {
        const labels = { change: String(change) };
        const { status } = await cronJobs.patch("c", "merge", { metadata: { labels } }, { namespace });
        assert.equal(status.active?.length, 1);
        for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
      }
      isGone = true;
      await until(async () => !(await cronJobs.get("c", { namespace })).status.active);
    },
  );
});

for (const [timeZone, pattern] of [
  [undefined, /:00Z$/],
  ["Asia/Kolkata", /:00\+05:30$/],
] as const)
  test(`a job is annotated with the time that it is scheduled for, in the zone ${timeZone ?? "UTC"}`, async () => {
    const clock = virtualClock(Math.ceil(Date.now() / 60_000) * 60_000 + 20_000);
    await withController(
      cronJobController,
      async ({ client }) => {
        const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
        const jobTemplate = { metadata: { annotations: { a: "b" } }, spec: { template } };
        await client.of(kinds.cronJobs).create({
          metadata: { name: "c", namespace },
          spec: { schedule: "* * * * *", jobTemplate, ...(timeZone && { timeZone }) },
        } as never);
        const job = await until(async () => {
          await clock.advance(1000);
          return (await client.of(kinds.jobs).list({ namespace })).items[0];
        });
        const { a, "batch.orch.io/cronjob-scheduled-timestamp": at } = job.metadata.annotations ?? {};
        assert.equal(a, "b");
        assert.match(at!, pattern);
        assert.equal(job.metadata.name, `c-${Date.parse(at!) / 60_000}`);
      },
      clock,
      { CronJobsScheduledAnnotation: true },
    );
  });
