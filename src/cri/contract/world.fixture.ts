// Creates pods and containers for the runtime contract cases, on the runtime under test.
import { readFileSync } from "node:fs";
import { GrpcError } from "#http";
import { namespaceMode } from "../messages/common.ts";
import { type ContainerConfig, type ContainerStatus, containerState } from "../messages/container.ts";
import type { PodSandboxConfig } from "../messages/sandbox.ts";
import type { ContainerRuntime } from "../runtime.ts";

export interface RuntimeUnderTest {
  readonly runtime: ContainerRuntime;
  /** An image on the node that has a shell, and one that can be pulled but is not on the node. */
  readonly image: string;
  readonly pullable: string;
  /** Directory for logs and mounts. */
  readonly folder: string;
  readonly cgroupRoot: string;
  stop(): Promise<void>;
}

export type ContractCase = [name: string, run: () => Promise<void>];
export type ContractWorld = ReturnType<typeof contractWorld>;

export const containerNamespaces = { namespaceOptions: { pid: namespaceMode.container } };
export const failsWith =
  (...codes: string[]) =>
  (error: unknown): boolean =>
    error instanceof GrpcError && codes.includes(error.code);

/** Returns helpers for the cases; `at` returns the runtime under test once it is open. */
export function contractWorld(at: () => RuntimeUnderTest) {
  let pods = 0;
  const runtime = (): ContainerRuntime => at().runtime;
  const sandboxConfig = (): PodSandboxConfig => {
    const uid = `uid-${++pods}`;
    return {
      metadata: { name: `pod-${pods}`, uid, namespace: "contract", attempt: 0 },
      hostname: `pod-${pods}`,
      logDirectory: `${at().folder}/logs/${uid}`,
      labels: { pod: uid, app: "contract" },
      annotations: { note: "kept" },
      linux: { cgroupParent: `${at().cgroupRoot}/${uid}`, securityContext: containerNamespaces },
    };
  };
  const containerConfig = (script: string, more: ContainerConfig = {}): ContainerConfig => ({
    metadata: { name: "main", attempt: 0 },
    image: { image: at().image },
    command: ["sh", "-c", script],
    labels: { container: "main" },
    annotations: { hash: "1" },
    logPath: "main/0.log",
    linux: { securityContext: containerNamespaces },
    ...more,
  });
  const pod = async (): Promise<{ readonly id: string; readonly config: PodSandboxConfig }> => {
    const config = sandboxConfig();
    return { id: await runtime().runPodSandbox(config), config };
  };
  const started = async (
    script: string,
    more: ContainerConfig = {},
  ): Promise<{ readonly sandbox: string; readonly config: PodSandboxConfig; readonly id: string }> => {
    const { id: sandbox, config } = await pod();
    const id = await runtime().createContainer(sandbox, containerConfig(script, more), config);
    await runtime().startContainer(id);
    return { sandbox, config, id };
  };
  const ended = async (id: string): Promise<ContainerStatus> => {
    for (;;) {
      const { status } = await runtime().containerStatus(id);
      if (status.state === containerState.exited) return status;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const remove = async (sandbox: string): Promise<void> => {
    await runtime().stopPodSandbox(sandbox);
    await runtime().removePodSandbox(sandbox);
  };
  /** Waits until the container's log contains the line. */
  const lineIn = async (id: string, text: string): Promise<void> => {
    const { logPath } = (await runtime().containerStatus(id)).status;
    for (;;) {
      try {
        const lines = readFileSync(logPath, "utf8").split("\n");
        if (lines.some((line) => line.endsWith(` F ${text}`))) return;
      } catch {
        // The log does not exist yet.
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  return { at, runtime, lineIn, sandboxConfig, containerConfig, pod, started, ended, remove };
}
