// Cleaner of legacy service account tokens: secrets that were generated for an account and were not used during a
// period are marked as invalid, and deleted when the mark is older than the period.
import type { Pod, Secret, ServiceAccount } from "#api";
import { podReferences } from "#authz";
import { type AnyObject, kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  ignoreReasons,
  orUndefined,
  queueFor,
} from "#controllerkit";
import type { Dialect } from "#dialect";

type SeenSecret = Secret & AnyObject;

const dayMilliseconds = 86_400_000;

export interface TokenFacts {
  readonly secrets: readonly SeenSecret[];
  readonly account: (namespace: string, name: string) => ServiceAccount | undefined;
  readonly podsIn: (namespace: string) => readonly Pod[];
  readonly dialect: Dialect;
  readonly now: number;
  /** How long a token must be unused. */
  readonly periodMilliseconds: number;
}

const dayOf = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 10);
const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`));

/** Returns the secrets to mark as invalid and those to delete. */
export function decide(facts: TokenFacts): {
  readonly mark: readonly SeenSecret[];
  readonly remove: readonly SeenSecret[];
} {
  const { secrets, podsIn, dialect, now, periodMilliseconds } = facts;
  const { legacyTokenLastUsed, legacyTokenInvalidSince } = dialect.names.labels;
  const oldest = now - periodMilliseconds;
  const mounted = new Map<string, ReadonlySet<string>>();
  const isMounted = ({ metadata: { namespace = "", name = "" } }: SeenSecret): boolean =>
    mounted
      .getOrInsertComputed(
        namespace,
        () => new Set(podsIn(namespace).flatMap((pod) => [...podReferences(pod).secrets])),
      )
      .has(name);
  const unused = secrets.filter((secret) => {
    const { labels = {}, creationTimestamp, deletionTimestamp } = secret.metadata;
    if (secret.type !== dialect.names.secretTypes.serviceAccountToken || deletionTimestamp) return false;
    if (!creationTimestamp || Date.parse(creationTimestamp) >= oldest) return false;
    const lastUsed = labels[legacyTokenLastUsed];
    if (lastUsed !== undefined && (!isDay(lastUsed) || lastUsed >= dayOf(oldest))) return false;
    return wasGenerated(secret, facts) && !isMounted(secret);
  });
  const invalidSince = ({ metadata }: SeenSecret): string => metadata.labels?.[legacyTokenInvalidSince] ?? "";
  return {
    mark: unused.filter((secret) => !isDay(invalidSince(secret))),
    remove: unused.filter((secret) => isDay(invalidSince(secret)) && invalidSince(secret) < dayOf(oldest)),
  };
}

/** Reports whether the account lists the secret, which older releases generated for it. */
function wasGenerated({ metadata }: SeenSecret, { account, dialect }: TokenFacts): boolean {
  const { serviceAccountName, serviceAccountUid } = dialect.names.annotations;
  const found = account(metadata.namespace ?? "", metadata.annotations?.[serviceAccountName] ?? "");
  const uid = metadata.annotations?.[serviceAccountUid];
  if (!found || (uid && uid !== found.metadata.uid)) return false;
  return (found.secrets ?? []).some(({ name }) => name === metadata.name);
}

export function legacyTokenCleaner(context: ControllerContext, periodMilliseconds: number): Controller {
  const { client, clock, view, dialect, log } = context;
  const secretClient = client.of(kinds.secrets);
  const queue = queueFor(context, "legacy_service_account_token_cleaner", sync, { workers: 1 });
  const secrets = view.follow(kinds.secrets, () => undefined, {
    fieldSelector: `type=${dialect.names.secretTypes.serviceAccountToken}`,
  });
  const accounts = view.follow(kinds.serviceAccounts, () => undefined);
  const pods = view.follow(kinds.pods, () => undefined);
  queue.add("tokens");
  return { stopped: queue.stopped };

  async function sync(): Promise<{ requeueAfterMilliseconds: number }> {
    const now = clock.now();
    if (now >= (await trackedSince()) + periodMilliseconds) {
      const found = decide({
        secrets: [...secrets.items()],
        account: (namespace, name) => accounts.get(namespace, name),
        podsIn: (namespace) => [...pods.inNamespace(namespace)],
        dialect,
        now,
        periodMilliseconds,
      });
      for (const secret of found.mark) await mark(secret, dayOf(now));
      for (const secret of found.remove) await remove(secret);
    }
    return { requeueAfterMilliseconds: dayMilliseconds };
  }

  /** Returns the start of the day after the one on which servers began to record uses; Infinity if unknown. */
  async function trackedSince(): Promise<number> {
    const { objects } = dialect.names;
    const map = await orUndefined(
      client
        .of(kinds.configMaps)
        .get(objects.legacyTokenTracking, { namespace: dialect.data.systemNamespace }),
    );
    const since = map?.data?.["since"] ?? "";
    return isDay(since) ? Date.parse(`${since}T00:00:00Z`) + dayMilliseconds : Infinity;
  }

  async function mark({ metadata }: SeenSecret, day: string): Promise<void> {
    const { name, namespace, uid } = metadata;
    const labels = { [dialect.names.labels.legacyTokenInvalidSince]: day };
    log.info("unused service account token marked as invalid", { namespace, secret: name });
    const patch = { metadata: { uid, labels } };
    await ignoreReasons(
      ["NotFound", "Conflict"],
      secretClient.patch(name!, "merge", patch, { namespace: namespace! }),
    );
  }

  async function remove({ metadata }: SeenSecret): Promise<void> {
    const { name, namespace, uid, resourceVersion } = metadata;
    log.info("unused service account token deleted", { namespace, secret: name });
    await ignoreReasons(
      ["NotFound", "Conflict"],
      secretClient.delete(name!, { namespace: namespace!, uid: uid!, resourceVersion: resourceVersion! }),
    );
  }
}
