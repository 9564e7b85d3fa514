// Ensures that every active namespace has a service account named "default".
import { kinds } from "#client";
import { type Controller, type ControllerContext, ignoreReasons, queueFor } from "#controllerkit";

const name = "default";

export function serviceAccountController(context: ControllerContext): Controller {
  const { client, view } = context;
  const queue = queueFor(context, "service accounts", work);
  const namespaces = view.follow(kinds.namespaces, ({ type, object }) => {
    if (type !== "deleted") queue.add(object.metadata.name!);
  });
  const accounts = view.follow(kinds.serviceAccounts, ({ type, object }) => {
    if (type === "deleted" && object.metadata.name === name) queue.add(object.metadata.namespace!);
  });
  return { stopped: queue.stopped };

  async function work(namespace: string): Promise<void> {
    if (!isActive(namespaces.get(undefined, namespace)) || accounts.get(namespace, name)) return;
    await ignoreReasons(
      ["AlreadyExists", "NotFound"],
      client.of(kinds.serviceAccounts).create({ metadata: { name, namespace } }),
    );
  }
}

/** Reports whether objects may be created in the namespace. */
export const isActive = (
  namespace: { readonly status: { readonly phase?: string | undefined } } | undefined,
): boolean => namespace !== undefined && namespace.status.phase !== "Terminating";
