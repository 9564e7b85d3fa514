// Discovers plugins by their sockets in the agent's directory: each is asked for its info, registered with
// the handler of its type, notified of the result, and retried after a failure.
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, type Log, makeFolderAsync } from "#base";
import { grpcChannel } from "#http";
import { grpcErrorText } from "../errors.ts";
import { type PluginInfo, registration } from "./registration-messages.ts";

/** Handles plugins of one type. */
export interface PluginHandler {
  /** Throws if the plugin is invalid. */
  validate(plugin: PluginInfo): void;
  register(plugin: PluginInfo, signal: AbortSignal): Promise<void>;
  deregister(plugin: PluginInfo): Promise<void>;
}

export interface PluginWatcherOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly directory: string;
  /** By plugin type. */
  readonly handlers: Readonly<Record<string, PluginHandler>>;
  /** Called after each scan with the sockets found, and those whose plugins are registered. */
  readonly onScan?: (found: readonly string[], registered: readonly string[]) => void;
  /** How often the directory is scanned, and the first retry delay of a failed plugin. */
  readonly pace?: { readonly scanMilliseconds: number; readonly firstRetryMilliseconds: number };
}

interface Watched {
  /** Distinguishes a socket from a later one at the same path. */
  readonly identity: string;
  /** Undefined until the plugin is registered. */
  readonly info?: PluginInfo;
  readonly failures: number;
  readonly retryAt: number;
}

const defaultPace = { scanMilliseconds: 1000, firstRetryMilliseconds: 500 };
const callMilliseconds = 1000;
const maxRetryMilliseconds = 122_000;
/** Maximum number of directory entries that are considered. */
const maxSockets = 1000;

/** Watches until the signal is aborted. */
export async function watchPlugins(options: PluginWatcherOptions, signal: AbortSignal): Promise<void> {
  const { clock, log, directory } = options;
  const { scanMilliseconds, firstRetryMilliseconds } = options.pace ?? defaultPace;
  const known = new Map<string, Watched>();
  await makeFolderAsync(directory, 0o750);
  while (!signal.aborted) {
    const found = await socketsBelow(directory);
    for (const [path, one] of known) if (found.get(path) !== one.identity) await forget(path, one);
    await Promise.all([...found].map(([path, identity]) => consider(path, identity)));
    options.onScan?.(
      [...found.keys()],
      [...known].flatMap(([path, { info }]) => (info ? [path] : [])),
    );
    await clock.sleep(scanMilliseconds, signal).catch(() => undefined);
  }

  async function forget(path: string, { info }: Watched): Promise<void> {
    known.delete(path);
    if (!info) return;
    log.info("plugin removed", { type: info.type, name: info.name });
    await options.handlers[info.type]
      ?.deregister(info)
      .catch((error: unknown) =>
        log.warn("failed to deregister plugin", { name: info.name, error: (error as Error).message }),
      );
  }

  async function consider(path: string, identity: string): Promise<void> {
    const was = known.get(path);
    if (was?.info || (was && clock.monotonic() < was.retryAt)) return;
    try {
      const info = await registerPlugin(path);
      known.set(path, { identity, info, failures: 0, retryAt: 0 });
      log.info("plugin registered", { type: info.type, name: info.name });
    } catch (error) {
      if (signal.aborted) return;
      const failures = (was?.failures ?? 0) + 1;
      const wait = Math.min(maxRetryMilliseconds, firstRetryMilliseconds * 2 ** (failures - 1));
      known.set(path, { identity, failures, retryAt: clock.monotonic() + wait });
      log.warn("failed to register plugin", { socket: path, error: grpcErrorText(error) });
    }
  }

  /**
   * Requests the plugin's info, validates and registers it, and notifies it of the result; rejects on
   * failure.
   */
  async function registerPlugin(path: string): Promise<PluginInfo> {
    const channel = grpcChannel({ endpoints: [`unix://${path}`], clock, maxMessageBytes: 1 << 20 });
    const limits = { deadlineMilliseconds: callMilliseconds, signal };
    try {
      const reported = await channel.unary(registration.info.call, {}, limits);
      const info = { ...reported, endpoint: reported.endpoint || path };
      const refusal = await handOver(path, info).then(
        () => undefined,
        (error: unknown) => `RegisterPlugin error -- ${grpcErrorText(error)}`,
      );
      const status = refusal === undefined ? { pluginRegistered: true } : { error: refusal };
      await channel.unary(registration.notify.call, status, limits).catch((error: unknown) => {
        if (refusal === undefined) throw error;
      });
      if (refusal !== undefined) throw new Error(refusal);
      return info;
    } finally {
      channel.close();
    }
  }

  async function handOver(path: string, info: PluginInfo): Promise<void> {
    const handler = Object.hasOwn(options.handlers, info.type) ? options.handlers[info.type] : undefined;
    if (!handler) throw new Error(`no handler registered for plugin type: ${info.type} at socket ${path}`);
    try {
      handler.validate(info);
    } catch (error) {
      throw new Error(`plugin validation failed with err: ${(error as Error).message}`, { cause: error });
    }
    await handler.register(info, signal).catch((error: unknown) => {
      throw new Error(`plugin registration failed with err: ${grpcErrorText(error)}`, { cause: error });
    });
  }
}

/**
 * Returns sockets by path, with an identity that distinguishes each from a later one; hidden ones are
 * ignored.
 */
async function socketsBelow(directory: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const entries = await readdir(directory, { withFileTypes: true, recursive: true }).catch(() => []);
  for (const entry of entries.slice(0, maxSockets)) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isSocket() || path.slice(directory.length).includes("/.")) continue;
    const at = await lstat(path).catch(() => undefined);
    if (at) found.set(path, `${at.ino} ${at.ctimeMs}`);
  }
  return found;
}
