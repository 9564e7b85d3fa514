// Records the usage of a quota's namespace, conditional on the resource version that was read.
import type { QuotaOptions } from "#admission";
import type { ResourceQuota } from "#api";
import { ApiError, notFound } from "#base";
import { type WriteRequest, update, type ServerObjects } from "#registry";

export const chargeQuota =
  (server: ServerObjects): QuotaOptions["write"] =>
  async ({ metadata: { namespace, name, resourceVersion } }, used) => {
    const resource = server.resources.resourceQuotas.resource;
    const endpoint = resource.endpoints[0]!;
    const request: WriteRequest = { ...server.writer.request(endpoint, namespace), subresource: "status" };
    try {
      await update(request, name!, {
        transform: (old) => {
          if (!old) throw notFound(resource.nameIn(endpoint), name!);
          const quota = old as unknown as ResourceQuota;
          quota.status = { ...quota.status, used: { ...used } };
          quota.metadata.resourceVersion = resourceVersion;
          return old;
        },
      });
      return true;
    } catch (error) {
      if (error instanceof ApiError && (error.reason === "Conflict" || error.reason === "NotFound"))
        return false;
      throw error;
    }
  };
