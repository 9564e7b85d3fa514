// The loops that a cluster needs beside its server: controllers and scheduler. They run in the process of
// `orch up`, as clients of the server.
import { closeSync, readFileSync } from "node:fs";
import { createLog, logSink, systemClock } from "#base";
import { apiClient, connectionOf, https, readClientConfig } from "#client";
import { runControllers } from "#controllers";
import type { Dialect } from "#dialect";
import { runScheduler } from "#scheduler";
import { LogFile } from "./log-file.ts";

export interface LoopsOptions {
  /** The client config they speak with. */
  readonly config: string;
  readonly dialect: Dialect;
  /** The file with the authorities of the server's certificate, which every namespace gets. */
  readonly authorityFile: string;
  readonly logFile: string;
}

export interface Loops {
  stop(): Promise<void>;
}

export function startLoops({ config, dialect, authorityFile, logFile }: LoopsOptions): Loops {
  const file = new LogFile(logFile);
  const descriptor = file.open();
  const leaveLog = file.keepSmall(systemClock);
  const log = createLog({ sink: logSink({ descriptor }) });
  const transport = https(connectionOf(readClientConfig(config)));
  const stopping = new AbortController();
  const shared = {
    client: apiClient(transport, dialect),
    clock: systemClock,
    signal: stopping.signal,
    dialect,
  };
  const running = Promise.allSettled([
    runControllers({
      ...shared,
      log: log.with({ part: "controllers" }),
      rootCa: readFileSync(authorityFile, "utf8"),
    }),
    runScheduler({ ...shared, log: log.with({ part: "scheduler" }) }),
  ]);
  return {
    stop: async () => {
      stopping.abort();
      transport.close();
      await running;
      log.flush();
      leaveLog();
      closeSync(descriptor);
    },
  };
}
