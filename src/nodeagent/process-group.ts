// Ends a program together with what it has started: it leads a process group of its own (`detached`), or those
// would go on and hold its output open.
import type { ChildProcess } from "node:child_process";

export function killGroup(leader: ChildProcess): void {
  if (leader.pid === undefined) return;
  try {
    process.kill(-leader.pid, "SIGKILL");
  } catch {
    leader.kill("SIGKILL");
  }
}
