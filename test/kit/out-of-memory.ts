// A pod whose container was killed by the kernel's OOM killer.
import type { Pod } from "#api";
import type { PodHome } from "./pods.ts";

const mostTries = 3;

/**
 * Returns the pod after its end, Failed with the reason OOMKilled. The runtime learns of the kill and of the
 * exit from two sources; when the first arrives too late it never reports that reason for the container, and
 * another container is tried.
 */
export async function killedForMemory(home: PodHome, limit: string): Promise<Pod> {
  for (let tries = 1; ; tries++) {
    const name = await home.script("tail /dev/zero", { resources: { limits: { memory: limit } } });
    const pod = await home.ended(name);
    const terminated = pod.status?.containerStatuses?.[0]?.state.terminated;
    if (terminated?.reason === "OOMKilled") return pod;
    if (tries === mostTries) throw new Error(`no container was OOMKilled: ${JSON.stringify(terminated)}`);
  }
}
