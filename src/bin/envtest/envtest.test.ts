import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { envtestCommand } from "./envtest.ts";
import { standInVersion, storeStandIn } from "./store-stand-in.ts";

const folder = mkdtempSync(join(tmpdir(), "orch-envtest-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const programs = { commandOf: (program: string): readonly string[] => [`/opt/it's/${program}`] };

function capturedOutput(): {
  out(text: string): void;
  err(text: string): void;
  all: string[];
  answer: string[];
} {
  const all: string[] = [];
  const answer: string[] = [];
  const out = (text: string): void => void (all.push(text), answer.push(text));
  return { out, err: (text) => void all.push(text), all, answer };
}

test("launchers start the programs of this package, whatever the name of the folder", async () => {
  const output = capturedOutput();
  assert.equal(await envtestCommand(["--dir", folder], programs, output), 0);
  const launcher = readFileSync(join(folder, "kube-apiserver"), "utf8");
  assert.match(launcher, /exec '\/opt\/it'\\''s\/orch-apiserver' "\$@"/);
  assert.match(launcher, /orch-apiserver' '--dialect=kubernetes' --help/);
  assert.doesNotMatch(launcher, /CONTROLLERS/);
  assert.equal(statSync(join(folder, "etcd")).mode & 0o777, 0o755);
  assert.deepEqual(output.answer, [`${folder}\n`], "a shell can assign the answer");
  assert.match(output.all.join(""), /export KUBEBUILDER_ASSETS/);
});

test("controllers run only if requested", async () => {
  assert.equal(await envtestCommand([`--dir=${folder}`, "--controllers"], programs, capturedOutput()), 0);
  assert.match(
    readFileSync(join(folder, "kube-apiserver"), "utf8"),
    /^export ORCH_ENVTEST=1 ORCH_ENVTEST_CONTROLLERS=1$/m,
  );
});

test("the launcher passes on the release, which flags of the harness override", async () => {
  assert.equal(await envtestCommand(["--dir", folder, "--release=1.31"], programs, capturedOutput()), 0);
  const launcher = readFileSync(join(folder, "kube-apiserver"), "utf8");
  assert.match(launcher, /^exec .*orch-apiserver' --release=1\.31 "\$@"$/m);
  const output = capturedOutput();
  assert.equal(await envtestCommand(["--release", "1.40"], programs, output), 1);
  assert.match(output.all.join(""), /^error: --release=1\.40: must be one of 1\.27, .*1\.32\n$/);
});

test("an unknown flag is rejected with the usage", async () => {
  const output = capturedOutput();
  assert.equal(await envtestCommand(["--folder", folder], programs, output), 1);
  assert.match(output.all.join(""), /^Usage:/);
});

test("the stand-in prints its flags and exits, as harnesses ask for help before they start it", async () => {
  const output = capturedOutput();
  assert.equal(await storeStandIn(["--help"], output, new Promise(() => {})), 0);
  assert.match(output.answer.join(""), /^\s*--unsafe-no-fsync\b/m);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

test("the stand-in answers health checks until it is stopped", async () => {
  const port = await freePort();
  const stop = Promise.withResolvers<void>();
  const flags = [
    "--data-dir=/none",
    `--listen-client-urls=http://localhost:${port}`,
    "--unsafe-no-fsync=true",
  ];
  const running = storeStandIn(flags, capturedOutput(), stop.promise);
  const health = await answered(`http://127.0.0.1:${port}/health`);
  assert.deepEqual(await health.json(), { health: "true", reason: "" });
  const version = (await (await fetch(`http://127.0.0.1:${port}/version`)).json()) as { etcdserver: string };
  assert.equal(version.etcdserver, standInVersion);
  const output = capturedOutput();
  assert.equal(await storeStandIn(flags, output, stop.promise), 1);
  assert.match(output.all.join(""), /address already in use/);
  stop.resolve();
  assert.equal(await running, 0);
});

async function answered(url: string): Promise<Response> {
  for (let tries = 0; ; tries++) {
    try {
      return await fetch(url);
    } catch (error) {
      if (tries > 1000) throw error;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
