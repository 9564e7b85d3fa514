// A pod whose container the kernel killed for its memory.
import type { Pod } from "#api";
import type { PodHome } from "./pods.ts";

const mostTries = 3;

/**
 * The pod after its end, Failed with the reason OOMKilled. The runtime hears of the kill and of the end from two
 * sources; when the first comes too late it never tells the reason of that container, and another is tried.
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
