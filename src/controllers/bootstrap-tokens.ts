// Bootstrap tokens: controllers that sign the public cluster info with them and delete expired ones.
import { createHmac } from "node:crypto";
import type { Secret } from "#api";
import { millisOfTime } from "#base";
import { type AnyObject, kinds } from "#client";
import { type Controller, type ControllerContext, ignoreReasons, queueFor } from "#controllerkit";
import { keyOf, splitKey } from "./pods.ts";

type SeenSecret = Secret & AnyObject;

export interface BootstrapToken {
  readonly id: string;
  readonly secret: string;
  readonly mayBeUsedForSigning: boolean;
  /**
   * Unix time in milliseconds; undefined if the token never expires, NaN if the expiration cannot be parsed.
   */
  readonly expires: number | undefined;
}

const namePrefix = "bootstrap-token-";

/** Returns the bootstrap token in a secret, or undefined if the secret does not contain a valid one. */
export function tokenIn({ metadata, data }: SeenSecret): BootstrapToken | undefined {
  const text = (key: string): string => Buffer.from(data?.[key] ?? "", "base64").toString();
  const [id, secret] = [text("token-id"), text("token-secret")];
  if (!/^[a-z0-9]{6}$/.test(id) || secret === "" || metadata.name !== namePrefix + id) return undefined;
  return {
    id,
    secret,
    mayBeUsedForSigning: text("usage-bootstrap-signing") === "true",
    expires: expirationIn(data),
  };
}

function expirationIn(data: SeenSecret["data"]): number | undefined {
  const text = Buffer.from(data?.["expiration"] ?? "", "base64").toString();
  if (text === "") return undefined;
  try {
    return millisOfTime(text);
  } catch {
    return Number.NaN;
  }
}

/** Returns the detached JWS signature of the content: header and signature with an empty payload. */
export function detachedSignature(content: string, { id, secret }: BootstrapToken): string {
  const header = Buffer.from(JSON.stringify({ alg: "HS256", kid: id })).toString("base64url");
  const payload = Buffer.from(content).toString("base64url");
  const signature = createHmac("sha256", secret).update(`${header}.${payload}`).digest("base64url");
  return `${header}..${signature}`;
}

export function bootstrapSignerController(context: ControllerContext): Controller {
  const { client, clock, view, dialect } = context;
  const { publicNamespace, systemNamespace } = dialect.data;
  const { clusterInfo, clusterInfoConfig, clusterInfoSignaturePrefix: prefix } = dialect.names.objects;
  const queue = queueFor(context, "bootstrap_signer", sync, { workers: 1 });
  const secrets = view.follow(
    kinds.secrets,
    () => queue.add(clusterInfo),
    tokensIn(context, systemNamespace),
  );
  const maps = view.follow(kinds.configMaps, ({ type, object }) => {
    if (
      type !== "deleted" &&
      object.metadata.name === clusterInfo &&
      object.metadata.namespace === publicNamespace
    )
      queue.add(clusterInfo);
  });
  return { stopped: queue.stopped };

  async function sync(): Promise<void> {
    const info = maps.get(publicNamespace, clusterInfo);
    const content = info?.data?.[clusterInfoConfig];
    if (!info || content === undefined) return;
    const wanted = new Map<string, string>();
    for (const secret of secrets.items()) {
      const token = tokenIn(secret);
      const isExpired = token?.expires !== undefined && !(token.expires > clock.now());
      if (token?.mayBeUsedForSigning && !isExpired)
        wanted.set(prefix + token.id, detachedSignature(content, token));
    }
    const data = { ...info.data };
    for (const key of Object.keys(data)) if (key.startsWith(prefix) && !wanted.has(key)) delete data[key];
    for (const [key, signature] of wanted) data[key] = signature;
    const isSame =
      Object.keys(data).length === Object.keys(info.data ?? {}).length &&
      Object.entries(data).every(([key, value]) => info.data?.[key] === value);
    if (!isSame) await ignoreReasons(["NotFound"], client.of(kinds.configMaps).update({ ...info, data }));
  }
}

export function tokenCleanerController(context: ControllerContext): Controller {
  const { client, clock, view, dialect } = context;
  const queue = queueFor(context, "token_cleaner", sync);
  const secrets = view.follow(
    kinds.secrets,
    ({ type, object }) => {
      if (type !== "deleted") queue.add(keyOf(object));
    },
    tokensIn(context, dialect.data.systemNamespace),
  );
  return { stopped: queue.stopped };

  async function sync(key: string): Promise<{ requeueAfterMilliseconds: number } | void> {
    const [namespace, name] = splitKey(key);
    const secret = secrets.get(namespace, name);
    const expires = expirationIn(secret?.data);
    if (!secret || expires === undefined) return;
    // An expiration that cannot be parsed counts as expired.
    const remaining = expires - clock.now();
    if (remaining > 0) return { requeueAfterMilliseconds: remaining };
    const { uid, resourceVersion } = secret.metadata;
    await ignoreReasons(
      ["NotFound", "Conflict"],
      client.of(kinds.secrets).delete(name, { namespace, uid: uid!, resourceVersion: resourceVersion! }),
    );
  }
}

const tokensIn = ({ dialect }: ControllerContext, namespace: string) => ({
  namespace,
  fieldSelector: `type=${dialect.names.secretTypes.bootstrapToken}`,
});
