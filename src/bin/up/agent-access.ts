// Takes away a right of the node's user that earlier versions gave: the Node authorizer gives it what it needs,
// for its own node only.
import { apiClient, connectionOf, https, kinds, readClientConfig } from "#client";
import { ApiError } from "#base";
import type { Dialect } from "#dialect";

export async function dropNodeBinding(
  adminConfig: string,
  dialect: Dialect,
  nodeName: string,
): Promise<void> {
  const transport = https(connectionOf(readClientConfig(adminConfig)));
  try {
    await apiClient(transport, dialect).of(kinds.clusterRoleBindings).delete(`up:node:${nodeName}`);
  } catch (error) {
    if (!(error instanceof ApiError && error.reason === "NotFound")) throw error;
  } finally {
    transport.close();
  }
}
