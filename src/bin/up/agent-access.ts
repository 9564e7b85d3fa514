// Removes a role binding of the node's user that earlier versions created: the Node authorizer grants the
// required access, restricted to the node.
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
