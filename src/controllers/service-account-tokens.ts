// Service account token secrets: fills in missing data, and deletes the secrets of deleted accounts.
import { type TokenKey, issueLegacyToken } from "#authn";
import { type AnyObject, kinds } from "#client";
import type { Secret, ServiceAccount } from "#api";
import {
  type Controller,
  type ControllerContext,
  ignoreReasons,
  orUndefined,
  patchObject,
  queueFor,
  replaceObject,
} from "#controllerkit";
import { keyOf, splitKey } from "./pods.ts";

type SeenSecret = Secret & AnyObject;

export interface TokenSettings {
  readonly key: TokenKey;
  readonly rootCa: string | undefined;
}

const encoded = (text: string): string => Buffer.from(text).toString("base64");

export function serviceAccountTokenController(
  context: ControllerContext,
  settings: TokenSettings,
): Controller {
  const { client, view, dialect } = context;
  const { serviceAccountName, serviceAccountUid } = dialect.names.annotations;
  const type = dialect.names.secretTypes.serviceAccountToken;
  const secretClient = client.of(kinds.secrets);
  const queue = queueFor(context, "serviceaccount_tokens_secret", sync);
  const accounts = view.follow(kinds.serviceAccounts, ({ object }) => {
    for (const secret of secrets.inNamespace(object.metadata.namespace ?? ""))
      if (secret.metadata.annotations?.[serviceAccountName] === object.metadata.name)
        queue.add(keyOf(secret));
  });
  const secrets = view.follow(kinds.secrets, ({ object }) => queue.add(keyOf(object)), {
    fieldSelector: `type=${type}`,
  });
  return { stopped: queue.stopped };

  async function sync(key: string): Promise<void> {
    const [namespace, name] = splitKey(key);
    const secret = secrets.get(namespace, name);
    if (!secret) return await removeReferences(namespace, name);
    if (secret.type !== type || secret.metadata.deletionTimestamp) return;
    const accountName = secret.metadata.annotations?.[serviceAccountName] ?? "";
    const wantedUid = secret.metadata.annotations?.[serviceAccountUid];
    let account: (ServiceAccount & AnyObject) | undefined = accounts.get(namespace, accountName);
    const isValid = (each: typeof account): boolean =>
      each !== undefined && (!wantedUid || wantedUid === each.metadata.uid);
    // The informer cache may be stale: confirm with the API server that the account is gone.
    if (!isValid(account) && accountName !== "")
      account = await orUndefined(client.of(kinds.serviceAccounts).get(accountName, { namespace }));
    if (!isValid(account)) return await remove(secret);
    await fill(secret, account!);
  }

  /** Removes a deleted secret from the lists of accounts, where it may have been entered by a user. */
  async function removeReferences(namespace: string, secretName: string): Promise<void> {
    const others = (account: ServiceAccount) =>
      (account.secrets ?? []).filter(({ name }) => name !== secretName);
    for (const account of accounts.inNamespace(namespace)) {
      if (others(account).length === (account.secrets ?? []).length) continue;
      // Another secret of the same name may exist by now.
      if (await orUndefined(secretClient.get(secretName, { namespace }))) return;
      const secretsLeft = others(account);
      await ignoreReasons(
        ["NotFound"],
        replaceObject(client.of(kinds.serviceAccounts), account, {
          secrets: secretsLeft.length > 0 ? secretsLeft : null,
        }),
      );
    }
  }

  async function remove({ metadata }: SeenSecret): Promise<void> {
    const { name, namespace, uid, resourceVersion } = metadata;
    await ignoreReasons(
      ["NotFound", "Conflict"],
      secretClient.delete(name!, { namespace: namespace!, uid: uid!, resourceVersion: resourceVersion! }),
    );
  }

  async function fill(secret: SeenSecret, { metadata }: AnyObject): Promise<void> {
    const { name, namespace } = secret.metadata;
    const data: Record<string, string> = {};
    const current = secret.data ?? {};
    if (settings.rootCa !== undefined && current["ca.crt"] !== encoded(settings.rootCa))
      data["ca.crt"] = encoded(settings.rootCa);
    if (current["namespace"] !== encoded(namespace!)) data["namespace"] = encoded(namespace!);
    if (!current["token"]) {
      const account = { name: metadata.name!, uid: metadata.uid! };
      const contents = { namespace: namespace!, account, secret: name! };
      data["token"] = encoded(await issueLegacyToken({ key: settings.key, dialect }, contents));
    }
    const annotations =
      secret.metadata.annotations?.[serviceAccountUid] === metadata.uid
        ? undefined
        : { [serviceAccountUid]: metadata.uid };
    if (Object.keys(data).length === 0 && !annotations) return;
    await ignoreReasons(
      ["NotFound"],
      patchObject(
        secretClient,
        secret,
        { data, ...(annotations && { metadata: { annotations } }) },
        { ifUnchanged: true },
      ),
    );
  }
}
