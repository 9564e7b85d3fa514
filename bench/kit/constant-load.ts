// Sends the same request to a server for a while and prints the CPU time per request.
//
//   node constant-load.ts URL SERVER-PID
import { connect } from "node:http2";
import { cpuMicros } from "./process-cost.ts";

const [url = "", pid] = process.argv.slice(2);
const sessions = Array.from({ length: 4 }, () => connect(url, { rejectUnauthorized: false }));
const once = (lane: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const stream = sessions[lane % sessions.length]!.request({
      ":path": "/",
      authorization: "Bearer bench-token",
      accept: "application/json",
    });
    stream
      .on("data", () => undefined)
      .on("end", resolve)
      .on("error", reject);
  });
const run = async (milliseconds: number): Promise<number> => {
  const end = performance.now() + milliseconds;
  let count = 0;
  await Promise.all(
    Array.from({ length: 64 }, async (_, lane) => {
      for (; performance.now() < end; count++) await once(lane);
    }),
  );
  return count;
};
await run(1000);
const before = cpuMicros(Number(pid));
const count = await run(3000);
process.stdout.write(`${(cpuMicros(Number(pid)) - before) / count}\n`);
for (const session of sessions) session.destroy();
