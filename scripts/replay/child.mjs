// Programs that a job of the replay starts: they end with the job, and a job that is killed takes them along
// because they share its process group.
import { spawn } from "node:child_process";
import { get } from "node:https";

/** Starts a program that runs until the job ends; what it prints is kept for the case that it fails. */
export function startServer(program, args, options = {}) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk) => (said = (said + chunk).slice(-4000)));
  const ended = new Promise((resolve) => child.once("exit", resolve));
  return {
    said: () => said,
    running: () => child.exitCode === null && child.signalCode === null,
    async stop() {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** Runs a program to its end with our output; its exit code. */
export const runToEnd = (program, args, options = {}) =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "inherit", "inherit"], ...options });
    child.once("error", reject);
    child.once("exit", resolve);
  });

/** Waits until the API server that a program runs says that it is ready. */
export async function ready(what, server, port) {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline && server.running();) {
    if ((await readyStatus(port)) === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${what} did not become ready:\n${server.said()}`);
}

const readyStatus = (port) =>
  new Promise((resolve) => {
    const options = { host: "127.0.0.1", port, path: "/readyz", rejectUnauthorized: false, agent: false };
    get(options, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on("error", () => resolve(undefined));
  });
