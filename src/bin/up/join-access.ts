// What an `orch up` cluster provides to joining machines: the cluster info, signed with every bootstrap
// token, and the permissions of token holders and nodes.
import type { Dialect } from "#dialect";
import {
  type ApiClient,
  apiClient,
  connectionOf,
  https,
  kinds,
  readClientConfig,
  singleContext,
} from "#client";
import { nodesGroup } from "#authn";
import { ignoreReasons, orUndefined } from "#controllerkit";

export interface JoinAccess {
  /** The address at which other machines reach the API server. */
  readonly server: string;
  readonly authority: string;
}

const bootstrappers = "system:bootstrappers";

/** Creates missing objects and updates the cluster info. */
export async function prepareJoin(adminConfig: string, dialect: Dialect, access: JoinAccess): Promise<void> {
  const transport = https(connectionOf(readClientConfig(adminConfig)));
  try {
    const client = apiClient(transport, dialect);
    await makeBindings(client, dialect);
    await publishClusterInfo(client, dialect, access);
  } finally {
    transport.close();
  }
}

async function makeBindings(client: ApiClient, dialect: Dialect): Promise<void> {
  const { roles, objects } = dialect.names;
  const apiGroup = `rbac.authorization.${dialect.wire.groupSuffix}`;
  const namespace = dialect.data.publicNamespace;
  const subjects = (kind: string, name: string) => [{ kind, apiGroup, name }];
  const bindings: [name: string, group: string, role: string][] = [
    ["up:node-bootstrapper", bootstrappers, "system:node-bootstrapper"],
    ["up:node-certificates", bootstrappers, roles.nodeClientCsr],
    ["up:node-certificate-rotation", nodesGroup, roles.selfNodeClientCsr],
    // Proxies and name servers use the credentials of their node.
    ["up:node-proxier", nodesGroup, "system:node-proxier"],
  ];
  for (const [name, group, role] of bindings)
    await ignoreExisting(
      client.of(kinds.clusterRoleBindings).create({
        metadata: { name },
        roleRef: { apiGroup, kind: "ClusterRole", name: role },
        subjects: subjects("Group", group),
      }),
    );
  const name = "up:cluster-info";
  await ignoreExisting(
    client.of(kinds.roles).create({
      metadata: { name, namespace },
      rules: [
        { apiGroups: [""], resources: ["configmaps"], resourceNames: [objects.clusterInfo], verbs: ["get"] },
      ],
    }),
  );
  await ignoreExisting(
    client.of(kinds.roleBindings).create({
      metadata: { name, namespace },
      roleRef: { apiGroup, kind: "Role", name },
      subjects: subjects("User", "system:anonymous"),
    }),
  );
}

async function publishClusterInfo(
  client: ApiClient,
  dialect: Dialect,
  { server, authority }: JoinAccess,
): Promise<void> {
  const { clusterInfo, clusterInfoConfig } = dialect.names.objects;
  const namespace = dialect.data.publicNamespace;
  const config = {
    ...singleContext({ name: "", server, ca: authority }),
    users: [],
    contexts: [],
    "current-context": "",
  };
  const data = { [clusterInfoConfig]: JSON.stringify(config) };
  const maps = client.of(kinds.configMaps);
  const present = await orUndefined(maps.get(clusterInfo, { namespace }));
  if (!present) await maps.create({ metadata: { name: clusterInfo, namespace }, data });
  else if (present.data?.[clusterInfoConfig] !== data[clusterInfoConfig])
    await maps.update({ ...present, data: { ...present.data, ...data } });
}

const ignoreExisting = (creation: Promise<unknown>): Promise<void> =>
  ignoreReasons(["AlreadyExists"], creation);
