// Child programs of a replay job. They end with the job: they share its process group, which is killed with it.
import { spawn } from "node:child_process";
import { get } from "node:https";

/** Starts a program that runs until the job ends; its output is kept in case it fails. */
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

/** Runs a program with inherited output and returns its exit code. */
export const runToEnd = (program, args, options = {}) =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "inherit", "inherit"], ...options });
    child.once("error", reject);
    child.once("exit", resolve);
  });

/** Waits until an API server is ready. */
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
