// A container's termination message: from its message file, or from the end of its log if its policy allows
// that.
import type { ContainerStatus } from "#cri";
import { fsErrorText } from "../errors.ts";
import { openLog, unresolvedText } from "../server/cri-log.ts";
import type { RuntimeLabels } from "./runtime-labels.ts";

const maxMessageBytes = 4096;
const maxLogBytes = 2048;
const maxLogLines = 80;
/** Bytes of the log that are read to find its last lines; longer lines lose their start. */
const logTailBytes = 64 * 1024;

/** Reason of a container that could not be started at all, which has no log. */
const cannotRun = "ContainerCannotRun";

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
  try {
    const message = file === undefined ? "" : await tailOf(file, maxMessageBytes);
    if (message !== "") return message;
  } catch (error) {
    if (!isMissing(error)) return `Error on reading termination log ${file}: ${fsErrorText(error as Error)}`;
  }
  if (
    runtimeLabels.terminationMessagePolicy !== "FallbackToLogsOnError" ||
    status.exitCode === 0 ||
    status.reason === cannotRun
  )
    return "";
  try {
    return fromLog(await tailOf(status.logPath, logTailBytes));
  } catch (error) {
    return `Error on reading termination message from logs: ${unresolvedText(status.logPath, error as Error)}`;
  }
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ENOENT";

/** Returns the end of a file. */
async function tailOf(path: string, bytes: number): Promise<string> {
  await using file = await openLog(path);
  const { size } = await file.stat();
  // Most message files are empty.
  if (size === 0) return "";
  const buffer = Buffer.alloc(Math.min(size, bytes));
  const { bytesRead } = await file.read(buffer, 0, buffer.length, Math.max(0, size - bytes));
  return buffer.subarray(0, bytesRead).toString();
}

/**
 * Returns the contents of the last log lines, `time stream F text`, where P instead of F marks a partial
 * line.
 */
export function fromLog(text: string): string {
  const lines = text.split("\n").slice(-(maxLogLines + 1));
  const message = lines
    .map((line) => /^\S+ (?:stdout|stderr) ([FP])\S* (.*)$/s.exec(line))
    .map((found) => (found ? found[2]! + (found[1] === "F" ? "\n" : "") : ""))
    .join("");
  const bytes = Buffer.from(message);
  return bytes.subarray(Math.max(0, bytes.length - maxLogBytes)).toString();
}
