// What admission sees of a request, before it takes effect.
import type { FieldError } from "#base";
import type { Span } from "#tracing";

export type Operation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

/** The identity behind a request. */
export interface UserInfo {
  readonly name: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** A resource as paths name it; the group is the name on the wire. */
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

/** Another name under which the same objects are served. */
export interface Equivalent {
  readonly resource: ResourceName;
  readonly kind: KindName;
}

export interface AdmissionAttributes {
  readonly operation: Operation;
  /** What the client named in the path. */
  readonly resource: ResourceName;
  /** The kind as it is stored. */
  readonly kind: KindName;
  /** The kind in the version the client speaks. */
  readonly requestKind: KindName;
  /** All versions and groups that serve the resource, the requested one included. */
  readonly equivalents: readonly Equivalent[];
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** The object as it would be stored; mutating plugins change it in place. Absent on deletion. */
  readonly object: Record<string, unknown> | undefined;
  readonly oldObject: Record<string, unknown> | undefined;
  readonly options: Readonly<Record<string, unknown>>;
  /** What hooks of the same write leave for each other. */
  readonly state: WriteState;
  /** The operation that the write belongs to. */
  readonly span?: Span | undefined;
  /** Milliseconds since the epoch by which the client wants an answer. */
  readonly deadline?: number | undefined;
  /** Says something to the client without refusing. */
  warn(text: string): void;
  /** Adds to the audit event of the request; the first value of a key stays. */
  annotate(key: string, value: string): void;
  /** Copies of the object and the old one, as the given version shows them. */
  versioned(apiVersion: string): {
    readonly object: Record<string, unknown> | undefined;
    readonly oldObject: Record<string, unknown> | undefined;
  };
  /** Puts an object, given in a served version, in the object's place: decoded and with its defaults. */
  replace(object: Record<string, unknown>, apiVersion: string): void;
}

/** A typed key into the state of a write. */
export interface Slot<T> {
  readonly name: string;
  /** Never set; it only carries the type. */
  readonly type?: T;
}

export const slot = <T>(name: string): Slot<T> => ({ name });

/** What one hook of a write leaves for a later one. */
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
 * Attributes of a request that stores nothing: its object is changed in place. Where it is served in several versions, they differ in
 * their names alone.
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
    replace: (next) =>
      replaceContents(object!, {
        ...next,
        ...("apiVersion" in object! && { apiVersion: object["apiVersion"] }),
      }),
  };
}

/** Makes one object say what the other says, so that whoever refers to it sees the change. */
export function replaceContents(object: Record<string, unknown>, next: Record<string, unknown>): void {
  for (const key of Object.keys(object)) if (!Object.hasOwn(next, key)) delete object[key];
  Object.assign(object, next);
}

/** An object of a request as the kind that its resource promises: plugins know it from the names they matched. */
export const typed = <Kind>(object: Record<string, unknown> | undefined): Kind => object as unknown as Kind;

export interface AdmissionPlugin {
  readonly name: string;
  readonly handles: readonly Operation[];
  /** Plural names of the resources it looks at, in whichever group; all when absent. */
  readonly resources?: readonly string[];
  /** Resources it never looks at. */
  readonly ignores?: ReadonlySet<string>;
  /** Its refusals do not name what has no name yet. */
  readonly namesNothing?: boolean;
  /** Changes the attempt's object, or throws an ApiError to refuse. One that need not wait gives no promise. */
  mutate?(attributes: AdmissionAttributes): Promise<void> | undefined;
  /** Looks without changing: field errors refuse as Invalid, an ApiError as itself. */
  validate?(attributes: AdmissionAttributes): Promise<readonly FieldError[]> | readonly FieldError[];
}
