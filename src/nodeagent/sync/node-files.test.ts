import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { hostDns } from "./node-files.ts";

test("without a resolver file the host contributes no name servers", () => {
  assert.deepEqual(hostDns(""), { servers: [], searches: [], options: [] });
});

test("an unreadable resolver file is an error", () => {
  assert.throws(() => hostDns("/nowhere/resolv.conf"), {
    message: "open /nowhere/resolv.conf: no such file or directory",
  });
});

test("the resolver file is read on each use", () => {
  const folder = mkdtempSync(join(tmpdir(), "orch-resolver-"));
  try {
    const path = join(folder, "resolv.conf");
    writeFileSync(path, "nameserver 192.0.2.1\n");
    assert.deepEqual(hostDns(path).servers, ["192.0.2.1"]);
    writeFileSync(path, "nameserver 192.0.2.2\nsearch example.org\n");
    assert.deepEqual([hostDns(path).servers, hostDns(path).searches], [["192.0.2.2"], ["example.org"]]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
