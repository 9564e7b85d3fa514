// /debug/pprof/: what the process is busy with. Profiles are in the formats that browsers' developer tools
// open.
import type { Reply } from "#http";
import { Readable } from "node:stream";
import type { ApiCall, PathHandler } from "#endpoints";
import { ApiError, type Clock, badRequest } from "#base";

export interface ProfilingOptions {
  readonly clock: Clock;
  /** Sets how much is logged. */
  readonly setVerbosity?: (level: number) => void;
}

const pages = {
  profile: "processor time over ?seconds=30, as .cpuprofile",
  heap: "what was allocated over ?seconds=5 and is still held, as .heapprofile",
  heapsnapshot: "everything in memory, as .heapsnapshot; the server stands still while it is taken",
  cmdline: "the command line of the process",
  active: "what keeps the event loop alive, counted",
} as const;
const longestSeconds = 300;

export function profilingPaths(options: ProfilingOptions): PathHandler {
  let busy = false;
  return (call) => {
    const { path } = call.target;
    if (path === "/debug/flags/v") return setVerbosity(call, options);
    if (path === "/debug/pprof")
      return {
        status: 301,
        headers: { location: "/debug/pprof/", "content-type": "text/html; charset=utf-8" },
      };
    const page = /^\/debug\/pprof\/([a-z]*)$/.exec(path)?.[1];
    switch (page) {
      case "":
        return index();
      case "cmdline":
        return text(process.argv.join("\0"));
      case "active":
        return text(counted(process.getActiveResourcesInfo()));
      case "profile":
        return alone(() => processorProfile(secondsOf(call, 30), options.clock, call.call.signal));
      case "heap":
        return alone(() => heapProfile(secondsOf(call, 5), options.clock, call.call.signal));
      case "heapsnapshot":
        return alone(heapSnapshot);
      default:
        return undefined;
    }
  };

  async function alone(take: () => Promise<Reply>): Promise<Reply> {
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

function index(): Reply {
  const rows = Object.entries(pages).map(([name, what]) => `<li><a href="${name}">${name}</a>: ${what}</li>`);
  const body = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>/debug/pprof/</title></head><body><h1>/debug/pprof/</h1><ul>${rows.join("")}</ul></body></html>\n`;
  return {
    status: 200,
    headers: { "content-type": "text/html; charset=utf-8", "x-content-type-options": "nosniff" },
    body: Buffer.from(body),
  };
}

function counted(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${count}\t${name}\n`).join("");
}

function secondsOf(call: ApiCall, usual: number): number {
  const asked = call.query.get("seconds");
  const seconds = asked === undefined || asked === "" ? usual : Number(asked);
  if (!(seconds > 0 && seconds <= longestSeconds))
    throw badRequest(`seconds must be above 0 and at most ${longestSeconds}`);
  return seconds;
}

async function recorded(
  name: string,
  seconds: number,
  clock: Clock,
  signal: AbortSignal,
  session: {
    start: (post: Post) => Promise<unknown>;
    stop: (post: Post) => Promise<{ readonly profile: unknown }>;
  },
): Promise<Reply> {
  const { Session } = await import("node:inspector/promises");
  const inspector = new Session();
  inspector.connect();
  const post: Post = (method, parameters) =>
    inspector.post(method as "Profiler.enable", parameters as undefined);
  try {
    await session.start(post);
    await clock.sleep(seconds * 1000, signal).catch(() => undefined);
    const { profile } = await session.stop(post);
    return { status: 200, headers: download(name), body: Buffer.from(JSON.stringify(profile)) };
  } finally {
    inspector.disconnect();
  }
}

type Post = (method: string, parameters?: object) => Promise<unknown>;

const processorProfile = (seconds: number, clock: Clock, signal: AbortSignal): Promise<Reply> =>
  recorded("profile.cpuprofile", seconds, clock, signal, {
    start: async (post) => {
      await post("Profiler.enable");
      await post("Profiler.start");
    },
    stop: (post) => post("Profiler.stop") as Promise<{ profile: unknown }>,
  });

const heapProfile = (seconds: number, clock: Clock, signal: AbortSignal): Promise<Reply> =>
  recorded("heap.heapprofile", seconds, clock, signal, {
    start: (post) => post("HeapProfiler.startSampling", { samplingInterval: 65536 }),
    stop: (post) => post("HeapProfiler.stopSampling") as Promise<{ profile: unknown }>,
  });

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
  if (call.method !== "PUT") return { ...text("unrecognized http method\n"), status: 405 };
  const given = Buffer.from(await call.call.body(64))
    .toString()
    .trim();
  if (!/^\d{1,3}$/.test(given))
    return { ...text(`the verbosity must be a number, not ${JSON.stringify(given)}\n`), status: 400 };
  set(Number(given));
  return text(`the verbosity is now ${given}\n`);
}
