// Runs jobs in parallel in the copy of the recording, within a time limit, and counts matches.
import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { noTime } from "./floors.mjs";
import { backendShift, portRange, release } from "./ports.mjs";

/**
 * Runs all jobs, a few at a time. Returns the outcome of each: for its parts the number of matching cases and of all
 * cases, and the reason if it was stopped by a time limit.
 */
export async function runJobs(jobs, { recording, logs, atOnce, seconds, jobSeconds, echo = false }) {
  const deadline = performance.now() + seconds * 1000;
  const queue = [...jobs];
  const outcomes = [];
  const worker = async () => {
    for (let job = queue.shift(); job; job = queue.shift()) {
      const left = deadline - performance.now();
      const ran = left > 0 ? await runJob(job, Math.min(left, jobSeconds * 1000)) : { text: "", late: true };
      const late = ran.late && (left <= jobSeconds * 1000 ? noTime : `over ${jobSeconds} s`);
      const counts = Object.fromEntries(
        Object.entries(job.parts).map(([part, pattern]) => [part, countsIn(ran.text, pattern)]),
      );
      outcomes.push({ job, counts, late });
      if (!late) console.log(`replay: ${job.name.slice(0, 90)} (${Math.round(ran.seconds)} s)`);
    }
  };
  const runJob = async (job, milliseconds) => {
    const [port, shift] = [await portRange(), await backendShift()];
    const given = { port: String(port) };
    const command = typeof job.command === "function" ? job.command(given) : job.command;
    const env = { ...process.env, ...job.env(given), BACKEND_PORT_SHIFT: String(shift) };
    const log = join(logs, `replay-${job.name.replaceAll(/[^a-z0-9]+/g, "-").slice(0, 80)}.log`);
    try {
      return await run(command, { cwd: recording, env, log, milliseconds, echo });
    } finally {
      release(port, shift);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return outcomes;
}

function countsIn(text, pattern) {
  const sums = [...text.matchAll(pattern)];
  const total = (place) => sums.reduce((sum, match) => sum + Number(match[place]), 0);
  return { matching: total(1), all: total(2) };
}

/** Runs a command, and kills its process group on timeout. */
async function run([program, ...args], { cwd, env, log, milliseconds, echo }) {
  const began = performance.now();
  const child = spawn(program === "node" ? process.execPath : program, args, { cwd, env, detached: true });
  const copy = createWriteStream(log);
  let text = "";
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    process.kill(-child.pid, "SIGKILL");
  }, milliseconds);
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
      copy.write(chunk);
      if (echo) process.stdout.write(chunk);
    });
  }
  await new Promise((done) => child.on("close", done));
  clearTimeout(timer);
  copy.end();
  return { text, late, seconds: (performance.now() - began) / 1000 };
}
