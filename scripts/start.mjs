// npm start: installs and builds if anything changed, then runs a whole cluster on this machine.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { build, fail, root, runtime } from "./setup.mjs";

if (!(await build())) fail("orch could not be built; see above");
const args = [join(root, "bin", "orch"), "up", ...process.argv.slice(2)];
if (process.execve) process.execve(runtime(), [runtime(), ...args], process.env);
const child = spawn(runtime(), args, { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.on(signal, () => (process.stdin.isTTY && signal === "SIGINT") || child.kill(signal));
child.on("exit", (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
