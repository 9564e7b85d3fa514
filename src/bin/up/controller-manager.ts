// Controllers and scheduler in the process of `orch up`, as clients of the API server over one shared view.
import { closeSync, readFileSync } from "node:fs";
import { createLog, logSink, systemClock } from "#base";
import { apiClient, connectionOf, https, readClientConfig } from "#client";
import { clusterView } from "#controllerkit";
import { runControllerManager } from "#controllers";
import type { Dialect } from "#dialect";
import { runScheduler } from "#scheduler";
import { LogFile } from "./log-file.ts";

export interface ControlLoopOptions {
  /** The client config they speak with. */
  readonly config: string;
  readonly dialect: Dialect;
  /** The file with the authorities of the server's certificate, which every namespace gets. */
  readonly authorityFile: string;
  readonly logFile: string;
}

export interface RunningControllerManager {
  stop(): Promise<void>;
}

export function startControllerManager(options: ControlLoopOptions): RunningControllerManager {
  const { dialect } = options;
  const file = new LogFile(options.logFile);
  const descriptor = file.open();
  const leaveLog = file.keepSmall(systemClock);
  const log = createLog({ sink: logSink({ descriptor }) });
  const transport = https(connectionOf(readClientConfig(options.config)));
  const stopping = new AbortController();
  const client = apiClient(transport, dialect);
  const base = { client, clock: systemClock, signal: stopping.signal, dialect };
  const view = clusterView({ ...base, log });
  const running = Promise.allSettled([
    runControllerManager({
      ...base,
      view,
      log: log.with({ part: "controllers" }),
      settings: { rootCa: readFileSync(options.authorityFile, "utf8") },
    }),
    runScheduler({ ...base, view, log: log.with({ part: "scheduler" }) }),
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
