// A container's termination message: from its message file, or from the end of its log if its policy allows
// that.
import { open, stat } from "node:fs/promises";
import type { ContainerStatus } from "#cri";
import type { RuntimeLabels } from "./runtime-labels.ts";

const maxMessageBytes = 4096;
const maxLogBytes = 2048;
const maxLogLines = 80;
/** Bytes of the log that are read to find its last lines; longer lines lose their start. */
const logTailBytes = 64 * 1024;

export async function terminationMessage(
  status: ContainerStatus,
  runtimeLabels: RuntimeLabels,
): Promise<string> {
  const path = runtimeLabels.terminationMessagePath;
  const file =
    path === ""
      ? undefined
      : status.mounts.find(({ containerPath }) => containerPath === path || containerPath === `/${path}`)
          ?.hostPath;
  const message = file === undefined ? "" : await tailOf(file, maxMessageBytes);
  if (
    message !== "" ||
    runtimeLabels.terminationMessagePolicy !== "FallbackToLogsOnError" ||
    status.exitCode === 0
  )
    return message;
  return fromLog(await tailOf(status.logPath, logTailBytes));
}

/** Returns the end of a file; empty if it cannot be read. */
async function tailOf(path: string, bytes: number): Promise<string> {
  try {
    // Most message files are empty.
    if ((await stat(path)).size === 0) return "";
    const file = await open(path, "r");
    try {
      const { size } = await file.stat();
      const buffer = Buffer.alloc(Math.min(size, bytes));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, Math.max(0, size - bytes));
      return buffer.subarray(0, bytesRead).toString();
    } finally {
      await file.close();
    }
  } catch {
    return "";
  }
}

/**
 * Returns the contents of the last log lines, `time stream F text`, where P instead of F marks a partial
 * line.
 */
export function fromLog(text: string): string {
  const lines = text.split("\n").slice(-(maxLogLines + 1));
  const message = lines
    .map((line) => /^\S+ (?:stdout|stderr) ([FP])\S* (.*)$/.exec(line))
    .map((found) => (found ? found[2]! + (found[1] === "F" ? "\n" : "") : ""))
    .join("");
  const bytes = Buffer.from(message);
  return bytes.subarray(Math.max(0, bytes.length - maxLogBytes)).toString();
}
