// What a container wants done right after its start and before its end.
import type { Container, LifecycleHandler } from "#api";
import type { ContainerRuntime } from "#cri";
import { headersOf, httpGet } from "../probes/http-get.ts";
import { portNumber } from "../probes/ask.ts";

export interface HookTarget {
  readonly container: Container;
  readonly containerId: string;
  readonly podIp: string;
}

export interface Hooks {
  /** Runs the hook to its end; rejects when it fails. */
  run(handler: LifecycleHandler, target: HookTarget, signal: AbortSignal): Promise<void>;
}

const longestRequestMilliseconds = 10 * 60_000;

export function hooks({ runtime, userAgent }: { readonly runtime: ContainerRuntime; readonly userAgent: string }): Hooks {
  return {
    run: async (handler, { container, containerId, podIp }, signal) => {
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
        const get = {
          host: host || podIp,
          port: port === undefined || port === null || port === "" ? 80 : portNumber(port, container),
          path: path || "/",
          headers: headersOf(httpHeaders, userAgent),
        };
        await httpGet({ ...get, scheme: scheme === "HTTPS" ? "https" : "http" }, longestRequestMilliseconds, signal);
        return;
      }
      throw new Error(`invalid handler: ${JSON.stringify(handler)}`);
    },
  };
}
