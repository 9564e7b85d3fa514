import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { dialects } from "#dialect";
import { settle } from "#options";
import { proxyOptions } from "./network-options.ts";
import { cleanUpProxy } from "./proxy-work.ts";

for (const dialect of Object.values(dialects))
  test(`a cleanup in the dialect ${dialect.name} keeps the chains of other programs`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "orch-proxy-work-"));
    const path = process.env["PATH"];
    t.after(() => {
      process.env["PATH"] = path;
      rmSync(folder, { recursive: true });
    });
    const programs = {
      nft: "exit 1",
      ip: "exit 0",
      // Lists the chains of an agent and of an earlier proxy, and has no jumps.
      iptables:
        'case " $* " in *" -C "*) exit 1;; *) echo "-N KUBE-FIREWALL"; echo "-N ORCH-SERVICES";; esac',
      "iptables-restore": `cat >> '${join(folder, "written")}'`,
      ip6tables: "exit 1",
    };
    for (const [name, line] of Object.entries(programs)) {
      writeFileSync(join(folder, name), `#!/bin/sh\n${line}\n`);
      chmodSync(join(folder, name), 0o755);
    }
    process.env["PATH"] = `${folder}:${path}`;
    assert.equal(await cleanUpProxy(settle(proxyOptions(dialect), []).values), 0);
    const removed = readFileSync(join(folder, "written"), "utf8").match(/^-X .*$/gm);
    assert.deepEqual(removed, ["-X ORCH-SERVICES", "-X ORCH-SERVICES"]);
  });
