// What a container wants done right after its start and before its end.
import type { Container, LifecycleHandler, Pod } from "#api";
import type { ContainerRuntime } from "#cri";
import { type HttpGet, PlainAnswer, headersOf, httpGet, urlOf } from "../probes/http-get.ts";
import { portNumber } from "../probes/ask.ts";

export interface HookTarget {
  readonly pod: Pod;
  readonly container: Container;
  readonly containerId: string;
  readonly podIp: string;
}

export interface Hooks {
  /** Runs the hook to its end; rejects when it fails. */
  run(handler: LifecycleHandler, target: HookTarget, signal: AbortSignal): Promise<void>;
}

const longestRequestMilliseconds = 10 * 60_000;

export interface HooksOptions {
  readonly runtime: ContainerRuntime;
  readonly userAgent: string;
  /** Told when a server that was to speak TLS did not, and was asked without. */
  readonly onFallback?: (pod: Pod, host: string) => void;
}

export function hooks({ runtime, userAgent, onFallback }: HooksOptions): Hooks {
  return {
    run: async (handler, { pod, container, containerId, podIp }, signal) => {
      if (handler.exec) {
        const command = handler.exec.command ?? [];
        const { exitCode, stdout, stderr } = await runtime.execSync(containerId, command, 0, signal);
        if (exitCode === 0) return;
        const said = Buffer.concat([stdout ?? new Uint8Array(), stderr ?? new Uint8Array()])
          .subarray(0, 1024)
          .toString();
        throw new Error(`command ${JSON.stringify(command.join(" "))} exited with ${exitCode}: ${said}`);
      }
      if (handler.httpGet) {
        const { path, port, host, scheme, httpHeaders } = handler.httpGet;
        const get: HttpGet = {
          scheme: scheme === "HTTPS" ? "https" : "http",
          host: host || podIp,
          port: port === undefined || port === null || port === "" ? 80 : portNumber(port, container),
          path: path || "/",
          headers: headersOf(httpHeaders, userAgent),
        };
        try {
          await httpGet(get, longestRequestMilliseconds, signal);
        } catch (error) {
          if (!(error instanceof PlainAnswer)) throw error;
          // Hooks were asked for without TLS for years, whatever they said. What was meant for TLS alone stays behind.
          await httpGet({ ...get, scheme: "http", headers: withoutCredentials(get.headers) }, longestRequestMilliseconds, signal);
          onFallback?.(pod, new URL(urlOf(get)).host);
        }
        return;
      }
      throw new Error(`invalid handler: ${JSON.stringify(handler)}`);
    },
  };
}

const withoutCredentials = (headers: HttpGet["headers"]): HttpGet["headers"] =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== "authorization"));
