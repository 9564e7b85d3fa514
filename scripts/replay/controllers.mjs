// A replay job: a share of the controllers' and the scheduler's cases, in a separate cluster without nodes.
//   node controllers.mjs DIALECT PORT SHARD AREAS      in the copy of the recording
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../setup.mjs";
import { ready, runToEnd, startServer } from "./child.mjs";

const stepLimitSeconds = "40";
const [dialect, port, shard, areas] = process.argv.slice(2);
const data = mkdtempSync(join(tmpdir(), "recorded-cluster-"));
const config = join(data, "admin.conf");
const cluster = startServer(join(root, "bin", "orch"), [
  "up",
  "--agent=false",
  `--dialect=${dialect}`,
  `--data-dir=${data}`,
  `--port=${port}`,
]);
try {
  await ready("the cluster", cluster, port);
  process.exitCode = await runToEnd(process.execPath, [
    "controllers/replay.mjs",
    "--config",
    config,
    "--dialect",
    dialect,
    "--only",
    areas,
    "--shard",
    shard,
    "--limit",
    stepLimitSeconds,
    "--retries",
    "1",
  ]);
} finally {
  await cluster.stop();
  rmSync(data, { recursive: true, force: true });
}
