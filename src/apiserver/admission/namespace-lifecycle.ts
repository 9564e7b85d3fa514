// NamespaceLifecycle over the cached namespaces.
import { type AdmissionPlugin, namespaceLifecycle } from "#admission";
import type { Namespace } from "#api";
import type { Dialect } from "#dialect";
import type { ResourceHandle } from "#registry";

export function lifecyclePlugin({ data }: Dialect, namespaces: ResourceHandle<Namespace>): AdmissionPlugin {
  return namespaceLifecycle(
    async (name) => {
      const namespace = await namespaces.get(name);
      if (!namespace) return "absent";
      return namespace.status?.phase === "Terminating" ? "terminating" : "active";
    },
    ["default", data.systemNamespace, data.publicNamespace],
  );
}
