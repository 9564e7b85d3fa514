import assert from "node:assert/strict";
import { test } from "node:test";
import { runProvider } from "./provider-program.ts";

const never = new AbortController().signal;
const sh = (script: string, environment: { name: string; value: string }[] = []) => ({
  path: "/bin/sh",
  args: ["-c", script],
  environment,
});

test("a program gets its input and gives its output", async () => {
  assert.equal(await runProvider(sh("cat"), "hello\n", never), "hello\n");
});

test("variables are added to those of the agent, and the later of two wins", async () => {
  const environment = [
    { name: "A", value: "1" },
    { name: "A", value: "2" },
  ];
  assert.equal(await runProvider(sh('echo "$A ${PATH:+path}"', environment), "", never), "2 path\n");
});

test("a program that fails, is not there or is stopped gives nothing", async () => {
  await assert.rejects(runProvider(sh("echo secret; exit 3"), "", never), (error: Error) => {
    assert.match(error.message, /exit status 3/);
    assert.doesNotMatch(error.message, /secret/);
    return true;
  });
  await assert.rejects(runProvider({ ...sh(""), path: "/nonexistent" }, "", never));
  await assert.rejects(runProvider(sh("sleep 60"), "", AbortSignal.abort()));
});
