// /debug/pprof/: profiles of the process in pprof format or, with ?format=devtools, in the formats of browser
// developer tools.
import type { Reply } from "#http";
import { Readable } from "node:stream";
import type { ApiCall, PathHandler } from "#endpoints";
import { ApiError, type Clock, badRequest } from "#base";
import { type Contention, type PprofProfile, contentionPprof, encodePprof } from "#tracing";
import { type CpuProfile, type HeapProfile, cpuStacks, heapStacks } from "./v8-profiles.ts";

export interface ProfilingOptions {
  readonly clock: Clock;
  /** Sets the log verbosity. */
  readonly setVerbosity?: (level: number) => void;
  /** Event loop delays; absent if they are not recorded. */
  readonly contention?: Contention | undefined;
}

const pages = {
  profile: "processor time over ?seconds=30",
  heap: "what was allocated over ?seconds=5 and is still held",
  allocs: "what was allocated over ?seconds=5, held or not",
  block: "delays of the event loop since the start, with --contention-profiling",
  heapsnapshot: "everything in memory, as .heapsnapshot; the server stands still while it is taken",
  active: "what keeps the event loop alive, counted",
} as const;
const maxSeconds = 300;

export function profilingPaths(options: ProfilingOptions): PathHandler {
  let busy = false;
  return (call) => {
    const { path } = call.target;
    if (path === "/debug/flags/v") return setVerbosity(call, options);
    if (path === "/debug/flags" || path === "/debug/flags/")
      return page("/debug/flags/", { v: "PUT sets how much is logged" });
    if (path === "/debug/pprof")
      return {
        status: 302,
        headers: { location: "/debug/pprof/", "content-type": "text/html; charset=utf-8" },
      };
    const profile = /^\/debug\/pprof\/([a-z]*)$/.exec(path)?.[1];
    switch (profile) {
      case "":
        return page("/debug/pprof/", pages);
      case "active":
        return text(countByName(process.getActiveResourcesInfo()));
      case "symbol":
        return text("num_symbols: 1\n");
      case "profile":
        return exclusive(() => processorProfile(recordingOf(call, 30, options.clock)));
      case "heap":
        return exclusive(() => heapProfile(recordingOf(call, 5, options.clock), "inuse"));
      case "allocs":
        return exclusive(() => heapProfile(recordingOf(call, 5, options.clock), "alloc"));
      case "block":
      case "mutex":
        return options.contention
          ? file(profile, contentionPprof(options.contention, options.clock.now()))
          : unknownProfile("switched on by --contention-profiling");
      case "goroutine":
      case "threadcreate":
      case "trace":
        return unknownProfile("this runtime has nothing of the kind");
      case "heapsnapshot":
        return exclusive(heapSnapshot);
      default:
        return undefined;
    }
  };

  async function exclusive(take: () => Promise<Reply>): Promise<Reply> {
    if (busy)
      throw new ApiError(409, "Conflict", "another profile is being taken; try again when it is done");
    busy = true;
    try {
      return await take();
    } finally {
      busy = false;
    }
  }
}

const text = (body: string): Reply => ({
  status: 200,
  headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
  body: Buffer.from(body),
});

/** Returns an HTML index of the pages below a path. */
function page(path: string, pages: Readonly<Record<string, string>>): Reply {
  const rows = Object.entries(pages).map(([name, what]) => `<li><a href="${name}">${name}</a>: ${what}</li>`);
  const body = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${path}</title></head><body><h1>${path}</h1><ul>${rows.join("")}</ul></body></html>\n`;
  return {
    status: 200,
    headers: { "content-type": "text/html; charset=utf-8", "x-content-type-options": "nosniff" },
    body: Buffer.from(body),
  };
}

function countByName(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${count}\t${name}\n`).join("");
}

function secondsOf(call: ApiCall, defaultSeconds: number): number {
  const requested = call.query.get("seconds");
  const seconds = requested === undefined || requested === "" ? defaultSeconds : Number(requested);
  if (!(seconds > 0 && seconds <= maxSeconds))
    throw badRequest(`seconds must be above 0 and at most ${maxSeconds}`);
  return seconds;
}

/** Parameters of a profile. */
interface Recording {
  readonly seconds: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly devtools: boolean;
}

const recordingOf = (call: ApiCall, defaultSeconds: number, clock: Clock): Recording => ({
  seconds: secondsOf(call, defaultSeconds),
  clock,
  signal: call.call.signal,
  devtools: call.query.get("format") === "devtools",
});

type Post = (method: string, parameters?: object) => Promise<unknown>;

async function record<P>(
  { seconds, clock, signal }: Recording,
  session: { start(post: Post): Promise<unknown>; stop(post: Post): Promise<{ readonly profile: P }> },
): Promise<P> {
  const { Session } = await import("node:inspector/promises");
  const inspector = new Session();
  inspector.connect();
  const post: Post = (method, parameters) =>
    inspector.post(method as "Profiler.enable", parameters as undefined);
  try {
    await session.start(post);
    await clock.sleep(seconds * 1000, signal).catch(() => undefined);
    return (await session.stop(post)).profile;
  } finally {
    inspector.disconnect();
  }
}

const sampledEveryMicroseconds = 1000;
const sampledEveryBytes = 65536;
const nanoseconds = "nanoseconds";

async function processorProfile(recording: Recording): Promise<Reply> {
  const profile = await record<CpuProfile>(recording, {
    start: async (post) => {
      await post("Profiler.enable");
      await post("Profiler.setSamplingInterval", { interval: sampledEveryMicroseconds });
      await post("Profiler.start");
    },
    stop: (post) => post("Profiler.stop") as Promise<{ profile: CpuProfile }>,
  });
  if (recording.devtools) return file("profile.cpuprofile", Buffer.from(JSON.stringify(profile)));
  return pprof("profile", recording, {
    types: [
      { type: "samples", unit: "count" },
      { type: "cpu", unit: nanoseconds },
    ],
    period: { type: "cpu", unit: nanoseconds, every: sampledEveryMicroseconds * 1000 },
    samples: cpuStacks(profile),
  });
}

async function heapProfile(recording: Recording, which: "inuse" | "alloc"): Promise<Reply> {
  const collected = which === "alloc";
  const profile = await record<HeapProfile>(recording, {
    start: (post) =>
      post("HeapProfiler.startSampling", {
        samplingInterval: sampledEveryBytes,
        includeObjectsCollectedByMajorGC: collected,
        includeObjectsCollectedByMinorGC: collected,
      }),
    stop: (post) => post("HeapProfiler.stopSampling") as Promise<{ profile: HeapProfile }>,
  });
  const name = collected ? "allocs" : "heap";
  if (recording.devtools) return file(`${name}.heapprofile`, Buffer.from(JSON.stringify(profile)));
  return pprof(name, recording, {
    types: [
      { type: `${which}_objects`, unit: "count" },
      { type: `${which}_space`, unit: "bytes" },
    ],
    period: { type: "space", unit: "bytes", every: sampledEveryBytes },
    samples: heapStacks(profile),
  });
}

const pprof = (
  name: string,
  { clock, seconds }: Pick<Recording, "clock" | "seconds">,
  profile: Pick<PprofProfile, "types" | "period" | "samples">,
): Reply => file(name, encodePprof({ ...profile, at: clock.now(), durationMilliseconds: seconds * 1000 }));

const file = (name: string, body: Buffer): Reply => ({ status: 200, headers: download(name), body });

const unknownProfile = (why: string): Reply => ({ ...text(`Unknown profile: ${why}\n`), status: 404 });

async function heapSnapshot(): Promise<Reply> {
  const { getHeapSnapshot } = await import("node:v8");
  const snapshot = getHeapSnapshot();
  return {
    status: 200,
    headers: download("heap.heapsnapshot"),
    body: {
      stream: async (sink) => {
        for await (const chunk of Readable.from(snapshot) as AsyncIterable<Uint8Array>) {
          if (sink.closed.aborted) return;
          sink.write(chunk);
          if (sink.backlogBytes > 1024 * 1024) await sink.drained();
        }
      },
    },
  };
}

const download = (name: string): Record<string, string> => ({
  "content-type": "application/octet-stream",
  "content-disposition": `attachment; filename="${name}"`,
  "x-content-type-options": "nosniff",
});

async function setVerbosity(
  call: ApiCall,
  { setVerbosity: set }: ProfilingOptions,
): Promise<Reply | undefined> {
  if (!set) return undefined;
  if (call.method !== "PUT") return flagReply(406, "unsupported http method\n");
  const given = Buffer.from(await call.call.body(64))
    .toString()
    .trim();
  if (!/^\d{1,3}$/.test(given))
    return flagReply(400, `the verbosity must be a number, not ${JSON.stringify(given)}\n`);
  set(Number(given));
  return flagReply(200, `successfully set log verbosity to ${given}\n`);
}

const flagReply = (status: number, body: string): Reply => ({
  status,
  headers: { "content-type": "text/plain", "x-content-type-options": "nosniff" },
  body: Buffer.from(body),
});
