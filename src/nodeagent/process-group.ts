// Kills a program together with its child processes. The program must lead a separate process group
// (`detached`); otherwise the children would keep running and hold its output open.
import type { ChildProcess } from "node:child_process";

export function killGroup(leader: ChildProcess): void {
  if (leader.pid === undefined) return;
  try {
    process.kill(-leader.pid, "SIGKILL");
  } catch {
    leader.kill("SIGKILL");
  }
}
