// Counts pods of other agents on a shared runtime: an agent joining them would share their network, images
// and limits, so `orch up` does not start one there.
import { type ContainerRuntime, grpcRuntime } from "#cri";
import { type DialectName, dialects } from "#dialect";

export async function foreignPods(endpoint: string, agentRoot: string): Promise<number> {
  const runtime = grpcRuntime({ endpoint, timeoutMilliseconds: 5000 });
  try {
    return await countForeignPods(runtime, agentRoot);
  } catch {
    // An unresponsive runtime is reported elsewhere.
    return 0;
  } finally {
    runtime.close();
  }
}

export async function countForeignPods(
  runtime: Pick<ContainerRuntime, "listPodSandboxes">,
  agentRoot: string,
): Promise<number> {
  const { ownerOf, ownership, podUidsBelow, runtimeLabelNames } = await import("#nodeagent");
  const uids = new Set(await podUidsBelow(agentRoot));
  const all = Object.keys(dialects).map((name) => dialects[name as DialectName]);
  const sandboxes = await runtime.listPodSandboxes();
  return sandboxes.filter(({ labels }) => {
    const named = all.filter((dialect) => labels[runtimeLabelNames(dialect).podUid] !== undefined);
    return named.some((dialect) => !ownership(dialect, ownerOf(agentRoot, dialect), uids)(labels));
  }).length;
}
