// The users who made changes, from audit events, kept briefly until the journal records the change.
import type { AuditEvent } from "#audit";
import type { JournalRecord } from "./journal-record.ts";

const verbsOf: Readonly<Record<JournalRecord["type"], readonly string[]>> = {
  Created: ["create", "update", "patch"],
  Changed: ["update", "patch", "delete", "create"],
  Deleted: ["delete", "deletecollection", "update", "patch"],
};
const verbs = new Set(Object.values(verbsOf).flat());
const maxWriters = 20_000;

export class Writers {
  /** The last user of each verb, by resource and object. */
  #users = new Map<string, Map<string, string>>();

  /** Must be called with every audit event; most do not describe a write. */
  observe({ verb, stage, object, user, impersonatedUser, responseStatus }: AuditEvent): void {
    const code = responseStatus?.code ?? 0;
    const name = (impersonatedUser ?? user)?.name;
    if (stage !== "ResponseComplete" || !verbs.has(verb) || !object || name === undefined || code >= 400)
      return;
    if (this.#users.size >= maxWriters) return;
    const place = verb === "deletecollection" ? "" : object.name;
    this.#users
      .getOrInsertComputed(keyOf(object.apiGroup, object.resource, object.namespace, place), () => new Map())
      .set(verb, name);
  }

  of(change: Omit<JournalRecord, "sequence">): string | undefined {
    if (this.#users.size === 0) return undefined;
    const { group, resource, namespace, name, type } = change;
    const one = this.#users.get(keyOf(group, resource, namespace, name));
    const all = this.#users.get(keyOf(group, resource, namespace, ""));
    for (const verb of verbsOf[type]) {
      const user = one?.get(verb) ?? (verb === "deletecollection" ? all?.get(verb) : undefined);
      if (user !== undefined) return user;
    }
    return undefined;
  }

  /** Drops the users whose changes have been recorded. */
  forget(): void {
    if (this.#users.size > 0) this.#users = new Map();
  }
}

const keyOf = (group: string, resource: string, namespace: string, name: string): string =>
  `${group}/${resource}/${namespace}/${name}`;
