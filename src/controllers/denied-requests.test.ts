// An object that a policy or webhook protects from a controller must not keep it from handling the others.
import { test } from "node:test";
import { ApiError, virtualClock } from "#base";
import { type ApiClient, kinds } from "#client";
import type { ControllerContext } from "#controllerkit";
import { isDeleted, until, withController } from "./cluster.fixture.ts";
import { cronJobController } from "./cron-job/cron-job.ts";
import { nodeLifecycleController } from "./node-lifecycle.ts";
import { podGcController } from "./pod-gc.ts";

const namespace = "default";
const containers = [{ name: "c", image: "i" }];

/** Returns a context whose client is denied to delete and patch the object of this name. */
function protecting(context: ControllerContext, name: string): ControllerContext {
  const { client } = context;
  const checked =
    <A extends readonly unknown[], R>(call: (...values: A) => Promise<R>) =>
    async (...values: A): Promise<R> => {
      if (values[0] === name) throw new ApiError(403, "Forbidden", "denied");
      return await call(...values);
    };
  const of = ((kind: typeof kinds.pods) => {
    const resource = client.of(kind);
    return { ...resource, delete: checked(resource.delete), patch: checked(resource.patch) };
  }) as unknown as ApiClient["of"];
  return { ...context, client: { ...client, of } };
}

test("a pod that cannot be deleted does not keep the pods of a missing node", async () => {
  const clock = virtualClock(Date.now());
  await withController(
    (context) => podGcController(protecting(context, "a")),
    async ({ client }) => {
      const pods = client.of(kinds.pods);
      for (const name of ["a", "b"])
        await pods.create({ metadata: { name, namespace }, spec: { nodeName: "gone", containers } } as never);
      await until(async () => {
        await clock.advance(1000);
        return await isDeleted(pods.get("b", { namespace }));
      });
      await pods.get("a", { namespace });
    },
    clock,
  );
});

test("a node that cannot be updated does not keep others from being marked as unknown", async () => {
  const clock = virtualClock(Date.now());
  await withController(
    (context) => nodeLifecycleController(protecting(context, "a")),
    async ({ client }) => {
      const nodes = client.of(kinds.nodes);
      for (const name of ["a", "b"]) await nodes.create({ metadata: { name }, spec: {} });
      await until(async () => {
        await clock.advance(1000);
        return (await nodes.get("b")).status.conditions?.some(({ status }) => status === "Unknown");
      });
    },
    clock,
  );
});

test("a finished job that cannot be deleted does not keep a cron job from starting the next one", async () => {
  const clock = virtualClock(Math.ceil(Date.now() / 60_000) * 60_000 + 20_000);
  await withController(
    (context) => cronJobController(protecting(context, "old")),
    async ({ client }) => {
      const template = { spec: { restartPolicy: "Never", containers } };
      const cronJobs = client.of(kinds.cronJobs);
      const jobs = client.of(kinds.jobs);
      const metadata = { name: "c", namespace };
      const spec = { suspend: true, schedule: "* * * * *", jobTemplate: { spec: { template } } };
      const cronJob = await cronJobs.create({
        metadata,
        spec: { ...spec, successfulJobsHistoryLimit: 0 },
      } as never);
      const { apiVersion, kind } = cronJob;
      const owner = { apiVersion, kind, name: "c", uid: cronJob.metadata.uid!, controller: true };
      await jobs.create({
        metadata: { name: "old", namespace, ownerReferences: [owner] },
        spec: { template },
      } as never);
      const complete = { type: "Complete", status: "True" };
      await jobs.patch(
        "old",
        "merge",
        { status: { conditions: [complete] } },
        { namespace, subresource: "status" },
      );
      await cronJobs.patch("c", "merge", { spec: { suspend: false } }, { namespace });
      await until(async () => {
        await clock.advance(1000);
        return (await jobs.list({ namespace })).items.length > 1;
      });
    },
    clock,
  );
});
