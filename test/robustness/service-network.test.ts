// Proxy and DNS server are killed under load, and so is the API server: see service-network.ts, which runs in
// a separate network namespace.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { needs } from "#kit";

const forms: [form: string, isOneProcess: "0" | "1"][] = [
  ["proxy and DNS server are", "0"],
  ["both in one process are", "1"],
];
for (const [form, isOneProcess] of forms)
  test(
    `services answer and lead to their endpoints while ${form} killed`,
    { ...needs("root", "unshare", "nft"), timeout: 400_000 },
    () => {
      const scenario = join(import.meta.dirname, "service-network.ts");
      const { status, stdout, stderr } = spawnSync(
        "unshare",
        ["--net", process.execPath, "--conditions=orch-source", scenario],
        {
          env: { ...process.env, ORCH_NETWORK_ONE_PROCESS: isOneProcess },
          encoding: "utf8",
          timeout: 380_000,
          killSignal: "SIGTERM",
        },
      );
      assert.equal(status, 0, `${stdout}\n${stderr}`);
    },
  );
