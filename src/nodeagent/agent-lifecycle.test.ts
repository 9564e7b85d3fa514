import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog, virtualClock } from "#base";
import { agentLifecycle } from "./agent-lifecycle.ts";

test("parts stop in reverse order, resources after background tasks", async () => {
  const clock = virtualClock();
  const lifecycle = agentLifecycle({ clock, log: silentLog });
  const done: string[] = [];
  lifecycle.resource("runtime", () => void done.push("runtime"));
  lifecycle.part("node", () => void done.push("node"));
  lifecycle.resource("shell", () => void done.push("shell"));
  lifecycle.part("broken", () => Promise.reject(new Error("no")));
  lifecycle.part("server", () => void done.push("server"));
  const background = Promise.withResolvers<void>();
  lifecycle.part("last", () => background.resolve());
  lifecycle.run(background.promise.then(() => lifecycle.stopped).then(() => done.push("background")));
  await lifecycle.stop();
  assert.deepEqual(
    done.filter((name) => name !== "background"),
    ["server", "node", "shell", "runtime"],
  );
  assert.ok(done.indexOf("background") < done.indexOf("shell"));
  assert.ok(lifecycle.signal.aborted);
});

test("a stop waits for a hanging task only for a limited time", async () => {
  const clock = virtualClock();
  const lifecycle = agentLifecycle({ clock, log: silentLog });
  let isClosed = false;
  lifecycle.resource("runtime", () => void (isClosed = true));
  lifecycle.run(new Promise(() => undefined));
  const stopped = lifecycle.stop();
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  await turn();
  await clock.advance(2000);
  await turn();
  assert.ok(isClosed);
  await clock.advance(2000);
  await stopped;
});
