// Lets the node agent do what an agent needs, by a role binding of its own.
import { apiClient, connectionOf, https, kinds, readClientConfig } from "#client";
import { ApiError } from "#base";
import { type Dialect, groupName } from "#dialect";

/** Binds the node's user to the role of nodes, unless that was done before. */
export async function admitAgent(adminConfig: string, dialect: Dialect, nodeName: string): Promise<void> {
  const transport = https(connectionOf(readClientConfig(adminConfig)));
  const apiGroup = groupName(dialect, { group: "rbac.authorization", branded: true });
  try {
    await apiClient(transport, dialect)
      .of(kinds.clusterRoleBindings)
      .create({
        metadata: { name: `up:node:${nodeName}` },
        roleRef: { apiGroup, kind: "ClusterRole", name: "system:node" },
        subjects: [{ apiGroup, kind: "User", name: `system:node:${nodeName}` }],
      });
  } catch (error) {
    if (!(error instanceof ApiError && error.reason === "AlreadyExists")) throw error;
  } finally {
    transport.close();
  }
}
