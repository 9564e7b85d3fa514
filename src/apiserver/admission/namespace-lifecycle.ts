// The NamespaceLifecycle plug-in, reading namespaces from the cache.
import { type AdmissionPlugin, type NamespaceState, namespaceLifecycle } from "#admission";
import type { Namespace } from "#api";
import type { Dialect } from "#dialect";
import type { ResourceHandle } from "#registry";

export function lifecyclePlugin({ data }: Dialect, namespaces: ResourceHandle<Namespace>): AdmissionPlugin {
  return namespaceLifecycle(
    (name) => {
      const cached = namespaces.getCached(name);
      return cached ? stateOf(cached) : namespaces.get(name).then(stateOf);
    },
    ["default", data.systemNamespace, data.publicNamespace],
  );
}

function stateOf(namespace: Namespace | undefined): NamespaceState {
  if (!namespace) return "absent";
  return namespace.status?.phase === "Terminating" ? "terminating" : "active";
}
