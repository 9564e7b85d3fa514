// `/debug/`: log verbosity, and profiles of the running process.
import { Session } from "node:inspector/promises";
import type { Clock } from "#base";
import { type Query, type Reply, plainReply } from "#http";
import { type Contention, contentionPprof } from "#tracing";
import { text } from "./replies.ts";
import type { RouteHandler } from "./routes.ts";

const nosniff = { "x-content-type-options": "nosniff" };
const plain = { "content-type": "text/plain", "x-content-type-options": "nosniff" };
const maxNumberBytes = 100;
const maxProfileSeconds = 300;

export function verbosityFlag(setVerbosity: (level: number) => void): RouteHandler {
  return async ({ call }) => {
    if (call.method !== "PUT") return text(406, "unsupported http method\n", plain);
    const given = Buffer.from(await call.body(maxNumberBytes)).toString();
    if (!/^\d{1,10}$/.test(given))
      return text(400, `strconv.ParseUint: parsing ${JSON.stringify(given)}: invalid syntax\n`, plain);
    setVerbosity(Number(given));
    return text(200, `successfully set klog.logging.verbosity to ${given}\n`, plain);
  };
}

/**
 * Profiles in the formats of V8's tools: `profile` (CPU) and `heap`. The heap profile contains allocation
 * sites only, never heap contents, which would include every key and secret of the agent. Event loop delays,
 * if recorded, are returned in pprof format.
 */
export function profiles(clock: Clock, contention?: Contention): RouteHandler {
  return async ({ call, query, parts: { name = "" } }): Promise<Reply> => {
    switch (name) {
      case "cmdline":
        return text(200, process.argv.join("\0"), nosniff);
      case "symbol":
        return text(200, "num_symbols: 1\n", nosniff);
      case "goroutine":
        return text(200, waitingText(), nosniff);
      case "profile": {
        return attachment(
          "agent.cpuprofile",
          await processorProfile(clock, secondsOf(query, 30), call.signal),
        );
      }
      case "heap":
        return attachment("agent.heapprofile", await heapProfile(clock, secondsOf(query, 1), call.signal));
      case "block":
      case "mutex":
        return contention
          ? attachment(name, contentionPprof(contention, clock.now()))
          : plainReply(404, "Unknown profile");
      default:
        return plainReply(404, "Unknown profile");
    }
  };
}

/** Lists the resources the process waits for, the closest equivalent of goroutines. */
function waitingText(): string {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return `goroutine profile: total ${total}\n${[...counts].map(([kind, count]) => `${count} @ ${kind}\n`).join("")}`;
}

const fileHeaders = (name: string): Record<string, string> => ({
  "content-type": "application/octet-stream",
  "content-disposition": `attachment; filename="${name}"`,
});
const attachment = (name: string, body: string | Buffer): Reply => ({
  status: 200,
  headers: fileHeaders(name),
  body: typeof body === "string" ? Buffer.from(body) : body,
});

async function processorProfile(clock: Clock, seconds: number, signal: AbortSignal): Promise<string> {
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.start");
    await clock.sleep(seconds * 1000, signal).catch(() => undefined);
    const { profile } = await session.post("Profiler.stop");
    return JSON.stringify(profile);
  } finally {
    session.disconnect();
  }
}

async function heapProfile(clock: Clock, seconds: number, signal: AbortSignal): Promise<string> {
  const session = new Session();
  session.connect();
  try {
    await session.post("HeapProfiler.startSampling");
    await clock.sleep(seconds * 1000, signal).catch(() => undefined);
    const { profile } = await session.post("HeapProfiler.stopSampling");
    return JSON.stringify(profile);
  } finally {
    session.disconnect();
  }
}

const secondsOf = (query: Query, usual: number): number =>
  Math.min(maxProfileSeconds, Number(query.get("seconds") ?? usual) || usual);
