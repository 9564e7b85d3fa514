// What every write carries beside the object: who, through which version, under which options, and who hears
// warnings.
import type { AdmissionChain, UserInfo, AdmissionAttributes, Operation } from "#admission";
import { groupName } from "#dialect";
import type { YieldBudget } from "./yield-budget.ts";
import { dropRepeatedOwners } from "./object-meta.ts";
import type { Endpoint } from "./resource.ts";
import type { ApiObject, RequestContext, RegistrySettings } from "./strategy.ts";

export interface WriteRequest {
  readonly endpoint: Endpoint;
  readonly namespace: string;
  readonly subresource: string;
  readonly user: UserInfo;
  readonly now: Date;
  readonly dryRun: boolean;
  /** Who owns the fields this write sets. */
  readonly manager: string;
  readonly admission: AdmissionChain;
  readonly settings: RegistrySettings;
  /** What this write lets others have between its steps; a write of the server's own takes none. */
  readonly yieldBudget?: YieldBudget;
  /** The options as admission shows them. */
  readonly options: Readonly<Record<string, unknown>>;
  warn(text: string): void;
}

export const requestContext = (request: WriteRequest): RequestContext => ({
  dialect: request.endpoint.resource.dialect,
  now: request.now,
  user: request.user.name,
  identity: request.user,
  dryRun: request.dryRun,
  served: request.endpoint.served,
  settings: request.settings,
});

export const admissionAttributes = (
  request: WriteRequest,
  operation: Operation,
  name: string,
  object: ApiObject | undefined,
  old: ApiObject | (() => ApiObject) | undefined,
): AdmissionAttributes => new WriteAttempt(request, operation, name, object, old);

class WriteAttempt implements AdmissionAttributes {
  readonly operation: Operation;
  readonly resource: AdmissionAttributes["resource"];
  readonly kind: AdmissionAttributes["kind"];
  readonly name: string;
  readonly object: AdmissionAttributes["object"];
  readonly #request: WriteRequest;
  readonly #old: ApiObject | (() => ApiObject) | undefined;

  constructor(
    request: WriteRequest,
    operation: Operation,
    name: string,
    object: ApiObject | undefined,
    old: ApiObject | (() => ApiObject) | undefined,
  ) {
    const { group, version, resource } = request.endpoint;
    const { kind } = resource.hub;
    this.operation = operation;
    this.resource = { group, version, resource: resource.strategy.resource };
    this.kind = { group: groupName(resource.dialect, kind), version: kind.version, kind: kind.kind };
    this.name = name;
    this.object = object as AdmissionAttributes["object"];
    this.#request = request;
    this.#old = old;
  }

  get subresource(): string {
    return this.#request.subresource;
  }
  get namespace(): string {
    return this.#request.namespace;
  }
  get user(): UserInfo {
    return this.#request.user;
  }
  get dryRun(): boolean {
    return this.#request.dryRun;
  }
  get options(): WriteRequest["options"] {
    return this.#request.options;
  }
  /** Read when it is first looked at: most who are asked only want to know what kind of thing it is. */
  get oldObject(): AdmissionAttributes["oldObject"] {
    return (typeof this.#old === "function" ? this.#old() : this.#old) as AdmissionAttributes["oldObject"];
  }
  warn(text: string): void {
    this.#request.warn(text);
  }
}

/**
 * Repeated owners are dropped with a word to the client, before anybody looks and again after admission had
 * its say.
 */
export function normalizeOwnerReferences(request: WriteRequest, { metadata }: ApiObject): void {
  const repeated = dropRepeatedOwners(metadata);
  if (repeated.length > 0)
    request.warn(
      `metadata.ownerReferences names owners more than once; only the first mention is kept. Repeated: ${repeated.join(", ")}`,
    );
}

let lastSecond = { second: Number.NaN, text: "" };

/** The second as objects carry it, made once for all that are written in it. */
export function timestamp(date: Date): string {
  const second = Math.floor(date.getTime() / 1000);
  if (second !== lastSecond.second) lastSecond = { second, text: `${date.toISOString().slice(0, 19)}Z` };
  return lastSecond.text;
}
