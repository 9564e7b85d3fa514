// The server as a library: it runs in this process, can be called without a socket, and leaves nothing
// behind.
import { type Clock, type Log, silentLog, systemClock } from "#base";
import {
  type ApiClient,
  type ClientConfig,
  type Transport,
  apiClient,
  inProcess,
  singleContext,
} from "#client";
import { type DialectName, dialectNamed, dialects } from "#dialect";
import type { Injected, Injection } from "#http";
import { MemoryStore } from "#store";
import { type OwnCredentials, ownCredentials } from "./library/credentials.ts";
import { type Kit, kitOf } from "./library/kit.ts";
import { settingsFor } from "./library/settings.ts";
import { type StartedServer, start } from "./server.ts";

/** Where objects are stored: in memory only, in an embedded store in a directory, or in etcd. */
export type LibraryStore = "memory" | { readonly dir: string } | { readonly etcd: readonly string[] };

export interface ServerOptions {
  readonly store: LibraryStore;
  readonly dialect?: DialectName;
  /** Flags of the program, such as `--event-ttl=10m`. They override what the library sets. */
  readonly flags?: readonly string[];
  readonly clock?: Clock;
  /** Port on the loopback interface; 0 chooses a free one. If undefined, the server opens no socket. */
  readonly port?: number;
  /** Defaults to a log that discards everything. */
  readonly log?: Log;
}

export interface RunningServer extends AsyncDisposable {
  /** `https://127.0.0.1:port`; empty without a port. */
  readonly url: string;
  /** A client with administrator identity that needs no socket. */
  readonly client: ApiClient;
  /** Sends one request without a socket, as an administrator unless the request names another user. */
  readonly inject: (request: Injection) => Promise<Injected>;
  /** Test utilities: clock, fault injection and snapshots. */
  readonly kit: Kit;
  /** Client config with which other programs reach the port as an administrator. */
  readonly clientConfig: ClientConfig;
  /** Stops everything the server started. Idempotent. */
  stop(): Promise<void>;
}

/** The identity of an in-process client. */
export interface Caller {
  readonly name: string;
  readonly groups: readonly string[];
}

const administrator: Caller = { name: "admin", groups: ["system:masters", "system:authenticated"] };

/**
 * How long to wait for the store at start. Short, because a library caller has a store ready, and a mistyped
 * address should be reported quickly.
 */
const storeWaitMilliseconds = 5000;

/** Starts a server. Several servers may run in one process. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  return await launch(
    options,
    options.store === "memory" ? new MemoryStore({ clock: options.clock ?? systemClock }) : undefined,
    ownCredentials(),
  );
}

async function launch(
  options: ServerOptions,
  memory: MemoryStore | undefined,
  own: OwnCredentials,
): Promise<RunningServer> {
  const dialect = dialectNamed(options.dialect ?? "orch");
  if (!dialect)
    throw new Error(
      `"${options.dialect}" is not a dialect; known are ${Object.keys(dialects).join(" and ")}`,
    );
  const clock = options.clock ?? systemClock;
  const started = await start({
    dialect,
    settings: settingsFor(dialect, options),
    ...(memory && { store: memory }),
    clock,
    log: options.log ?? silentLog,
    listen: options.port !== undefined,
    storeWaitMilliseconds,
    own,
  });
  const connect = (caller: Caller = administrator): Transport => inProcess(started.handle, caller);
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= stopServer(started, memory));
  return {
    url: started.url,
    client: apiClient(connect(), dialect),
    inject: (request) => started.inject(request),
    kit: kitOf({
      dialect,
      clock,
      connect,
      memory,
      caughtUp: () => started.caughtUp(),
      fork: (store) => launch(options.port === undefined ? options : { ...options, port: 0 }, store, own),
    }),
    clientConfig: singleContext({
      name: "local",
      server: started.url,
      ca: started.certificate,
      token: own.token,
    }),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function stopServer(started: StartedServer, memory: MemoryStore | undefined): Promise<void> {
  await started.stop();
  await memory?.close();
}
