import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pauseImage, pauseImageName, thisArchitecture } from "./pause-image.ts";
import { pauseProgram } from "./pause-program.ts";

const folder = mkdtempSync(join(tmpdir(), "orch-pause-"));
after(() => rmSync(folder, { recursive: true }));
const runsHere = process.platform === "linux" && thisArchitecture() !== undefined;

for (const signal of ["SIGTERM", "SIGINT"] as const)
  test(`the sandbox program waits, and exits with success on ${signal}`, async (t) => {
    if (!runsHere) return t.skip("assembled for Linux on amd64 and arm64");
    const file = join(folder, `pause-${signal}`);
    writeFileSync(file, pauseProgram(thisArchitecture()!), { mode: 0o755 });
    const child = spawn(file, { stdio: "ignore" });
    await once(child, "spawn");
    // A signal that arrives before the handlers are set kills it; then it is restarted and signalled again.
    const ended = once(child, "exit");
    const sleeping = (): boolean =>
      execFileSync("cat", [`/proc/${child.pid}/status`])
        .toString()
        .includes("S (sleeping)");
    while (!sleeping()) await new Promise((resolve) => setImmediate(resolve));
    child.kill(signal);
    assert.deepEqual(await ended, [0, null]);
  });

test("the amd64 instructions match those of an assembler", () => {
  const code = pauseProgram("amd64").subarray(120);
  assert.deepEqual(
    [code.subarray(0, 27), code.subarray(81, 99), code.subarray(99, 107)].map((part) => part.toString("hex")),
    [
      // mov eax,13; mov edi,15; lea rsi,[rip+0x52]; xor edx,edx; mov r10d,8; syscall
      "b80d000000bf0f000000488d355200000031d241ba080000000f05",
      // mov eax,34; syscall; jmp .-7; mov eax,60; xor edi,edi; syscall
      "b8220000000f05ebf7b83c00000031ff0f05",
      // the handler's address
      "d200400000000000",
    ],
  );
});

test("the arm64 instructions match those of an assembler", () => {
  const code = pauseProgram("arm64").subarray(120);
  const words = Array.from({ length: 32 }, (_, at) => code.readUInt32LE(at * 4).toString(16));
  assert.deepEqual(words.slice(0, 6), [
    "d28010c8", // mov x8, #134
    "d28001e0", // mov x0, #15
    "10000361", // adr x1, .+0x6c
    "d2800002", // mov x2, #0
    "d2800103", // mov x3, #8
    "d4000001", // svc #0
  ]);
  assert.deepEqual(words.slice(18, 29), [
    "d2800000", // mov x0, #0
    "d2800001", // mov x1, #0
    "d2800002", // mov x2, #0
    "d2800003", // mov x3, #0
    "d2800928", // mov x8, #73
    "d4000001", // svc #0
    "17fffffa", // b .-24
    "d2800ba8", // mov x8, #93
    "d2800000", // mov x0, #0
    "d4000001", // svc #0
    "d503201f", // nop
  ]);
});

test("the image is an archive in the OCI layout with its name", () => {
  const archive = join(folder, "pause.tar");
  writeFileSync(archive, pauseImage("amd64"));
  const names = execFileSync("tar", ["-tf", archive]).toString().trim().split("\n");
  assert.deepEqual(names.slice(0, 2), ["oci-layout", "index.json"]);
  assert.equal(names.length, 5);
  const index = JSON.parse(execFileSync("tar", ["-xOf", archive, "index.json"]).toString()) as {
    manifests: { digest: string; annotations: Record<string, string> }[];
  };
  assert.equal(index.manifests[0]!.annotations["io.containerd.image.name"], pauseImageName);
  assert.ok(names.includes(`blobs/${index.manifests[0]!.digest.replace(":", "/")}`));
});
