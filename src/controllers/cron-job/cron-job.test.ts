import assert from "node:assert/strict";
import { test } from "node:test";
import { kinds } from "#client";
import { until, withController } from "../cluster.fixture.ts";
import { cronJobController } from "./cron-job.ts";

const namespace = "default";
const reasons: [name: string, schedule: string, reason: string, note: RegExp][] = [
  [
    "a time that never comes",
    "59 23 31 2 *",
    "InvalidSchedule",
    /^invalid schedule: 59 23 31 2 \* : time difference between two schedules is less than 1 second$/,
  ],
];
for (const [name, schedule, reason, note] of reasons)
  test(`a schedule is refused with an event: ${name}`, { timeout: 30_000 }, async () => {
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
