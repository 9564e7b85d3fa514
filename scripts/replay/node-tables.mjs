// A replay job: the node agent's pure rules on the recorded tables. The adapter is TypeScript, so the pinned Node
// runs it.
import { join } from "node:path";
import { root, runtime } from "../setup.mjs";
import { runToEnd } from "./child.mjs";

const adapter = join(root, "src", "nodeagent", "recorded-tables.fixture.ts");
const args = ["--conditions=orch-source", "node/part2/check-tables.mjs", "--adapter", adapter];
process.exitCode = await runToEnd(runtime(), args);
