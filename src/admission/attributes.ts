// The attributes of a request that admission sees before it takes effect.
import type { FieldError } from "#base";
import type { Span } from "#tracing";

export type Operation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

/** The user of a request. */
export interface UserInfo {
  readonly name: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** A resource as in request paths; the group is the one on the wire. */
export interface ResourceName {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

export interface KindName {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Another version or group under which the same objects are served. */
export interface Equivalent {
  readonly resource: ResourceName;
  readonly kind: KindName;
}

/** The objects of a request in one version. */
export interface VersionedObjects {
  readonly object: Record<string, unknown> | undefined;
  readonly oldObject: Record<string, unknown> | undefined;
}

export interface AdmissionAttributes {
  readonly operation: Operation;
  /** The requested resource. */
  readonly resource: ResourceName;
  /** The kind of the stored version. */
  readonly kind: KindName;
  /** The kind of the requested version. */
  readonly requestKind: KindName;
  /** All versions and groups that serve the resource, the requested one included. */
  readonly equivalents: readonly Equivalent[];
  /** Whether the kind is that of a custom resource. */
  readonly custom?: boolean | undefined;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Name in the path of the request: empty for one sent to a collection, whatever the object's name. */
  readonly pathName?: string | undefined;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** The object to be stored; mutating plugins modify it in place. Absent on deletion. */
  readonly object: Record<string, unknown> | undefined;
  readonly oldObject: Record<string, unknown> | undefined;
  readonly options: Readonly<Record<string, unknown>>;
  /** State that hooks of the same write share. */
  readonly state: WriteState;
  /** The trace span of the request. */
  readonly span?: Span | undefined;
  /** Deadline of the response in milliseconds since the epoch. */
  readonly deadline?: number | undefined;
  /** Sends a warning to the client. */
  warn(text: string): void;
  /**
   * Adds an annotation to the audit event of the request; the first value of a key is kept. With a level, only
   * events of this level and above show it.
   */
  annotate(key: string, value: string, level?: "Request"): void;
  /**
   * Returns copies of the object and the old object in the given version; a promise only where a webhook
   * converts between versions.
   */
  versioned(apiVersion: string): VersionedObjects | Promise<VersionedObjects>;
  /**
   * Replaces the object by one given in a served version, after decoding and defaulting it. Returns a promise
   * only where a webhook converts between versions.
   */
  replace(object: Record<string, unknown>, apiVersion: string): Promise<void> | undefined;
}

/** Returns a function that copies the objects in each version once, for readers that do not change them. */
export function sharedVersions(attributes: AdmissionAttributes): AdmissionAttributes["versioned"] {
  const versions = new Map<string, ReturnType<AdmissionAttributes["versioned"]>>();
  return (apiVersion) => versions.getOrInsertComputed(apiVersion, () => attributes.versioned(apiVersion));
}

/** A typed key of the state of a write. */
export interface Slot<T> {
  readonly name: string;
  /** Never set; carries the type parameter. */
  readonly type?: T;
}

export const slot = <T>(name: string): Slot<T> => ({ name });

/** State that one hook of a write leaves for a later one. */
export class WriteState {
  #values: Map<Slot<unknown>, unknown> | undefined;

  get<T>(key: Slot<T>): T | undefined {
    return this.#values?.get(key) as T | undefined;
  }

  set<T>(key: Slot<T>, value: T): void {
    (this.#values ??= new Map()).set(key, value);
  }
}

/**
 * Returns the attributes of a request that stores nothing: its object is modified in place. If it is served
 * in several versions, they differ only in name.
 */
export function virtualAttributes(
  given: Omit<AdmissionAttributes, "requestKind" | "equivalents" | "state" | "versioned" | "replace"> &
    Partial<Pick<AdmissionAttributes, "equivalents">>,
): AdmissionAttributes {
  const { resource, kind, object, oldObject } = given;
  const shown = (one: typeof object, apiVersion: string): typeof object =>
    one && { ...structuredClone(one), ...("apiVersion" in one && { apiVersion }) };
  return {
    ...given,
    requestKind: kind,
    equivalents: given.equivalents ?? [{ resource, kind }],
    state: new WriteState(),
    versioned: (apiVersion) => ({
      object: shown(object, apiVersion),
      oldObject: shown(oldObject, apiVersion),
    }),
    replace: (next) => {
      const kept = "apiVersion" in object! && { apiVersion: object["apiVersion"] };
      replaceContents(object!, { ...next, ...kept });
      return undefined;
    },
  };
}

/** Replaces the content of an object in place, so that all references to it see the change. */
export function replaceContents(object: Record<string, unknown>, next: Record<string, unknown>): void {
  for (const key of Object.keys(object)) if (!Object.hasOwn(next, key)) delete object[key];
  Object.assign(object, next);
}

/** Casts an object to the kind of its resource, which the plugin has matched. */
export const typed = <Kind>(object: Record<string, unknown> | undefined): Kind => object as unknown as Kind;

export interface AdmissionPlugin {
  readonly name: string;
  readonly handles: readonly Operation[];
  /** Plural names of the resources it handles, in any group; all if absent. */
  readonly resources?: readonly string[];
  /** Resources it never handles. */
  readonly ignores?: ReadonlySet<string>;
  /** Whether its errors omit a placeholder for the name of an object that has none yet. */
  readonly omitsPlaceholderName?: boolean;
  /**
   * Changes the object of the attributes, or throws an ApiError to refuse the request. Returns undefined if
   * it completed synchronously.
   */
  mutate?(attributes: AdmissionAttributes): Promise<void> | undefined;
  /** Validates without changing anything: field errors are returned as Invalid, an ApiError as is. */
  validate?(attributes: AdmissionAttributes): Promise<readonly FieldError[]> | readonly FieldError[];
}
