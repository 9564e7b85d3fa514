// Who wrote what, as audit events tell it, for the short while until the journal records the change.
import type { AuditEvent } from "#audit";
import type { JournalRecord } from "./journal-record.ts";

const verbsOf: Readonly<Record<JournalRecord["type"], readonly string[]>> = {
  Created: ["create", "update", "patch"],
  Changed: ["update", "patch", "delete", "create"],
  Deleted: ["delete", "deletecollection", "update", "patch"],
};
const verbs = new Set(Object.values(verbsOf).flat());
const mostWriters = 20_000;

export class Writers {
  /** By resource and object, the last user of each verb. */
  #users = new Map<string, Map<string, string>>();

  /** To be told every audit event; most say nothing about a write. */
  observe({ verb, stage, object, user, impersonatedUser, responseStatus }: AuditEvent): void {
    const code = responseStatus?.code ?? 0;
    const name = (impersonatedUser ?? user)?.name;
    if (stage !== "ResponseComplete" || !verbs.has(verb) || !object || name === undefined || code >= 400)
      return;
    if (this.#users.size >= mostWriters) return;
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

  /** What was recorded has found its writer. */
  forget(): void {
    if (this.#users.size > 0) this.#users = new Map();
  }
}

const keyOf = (group: string, resource: string, namespace: string, name: string): string =>
  `${group}/${resource}/${namespace}/${name}`;
