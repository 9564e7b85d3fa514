// The behavior of a kind. Every hook is optional; without it the generic behavior applies.
import type { UserInfo, WriteState } from "#admission";
import type { FieldError, Steps } from "#base";
import type { ObjectMeta, TableRowCondition } from "#api";
import type { Dialect } from "#dialect";
import type { JsonObject, KindName, Message, TimesComparison } from "#schema";
import type { Reservation, Revision } from "#store";
import type { NameRule } from "./names.ts";

export interface ApiObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}
export type KindSchema = Message & { readonly kind: KindName };

/** A version under which the kind is served. Without conversions it is the stored version itself. */
export interface Served<T extends ApiObject = ApiObject> {
  readonly schema: KindSchema;
  toHub?(served: ApiObject, dialect: Dialect): T;
  fromHub?(hub: T, dialect: Dialect): ApiObject;
  /** Warning sent to every client that uses this version. */
  readonly warning?: string;
  /**
   * Clients of a deprecated version are warned: the release of its deprecation, that of its removal, and the
   * replacement.
   */
  readonly deprecated?: { readonly since: string; readonly until: string; readonly instead: string };
}

/** What hooks can learn about the request. */
export interface RequestContext {
  readonly dialect: Dialect;
  readonly now: Date;
  readonly user: string;
  /** The user with groups, UID and extra fields. */
  readonly identity: UserInfo;
  readonly dryRun: boolean;
  /** The served version the client uses; few hooks need it. */
  readonly served: Served;
  /** Server settings that affect validation. */
  readonly settings: RegistrySettings;
  /** State that one hook of the write leaves for a later one. */
  readonly state: WriteState;
}
export interface RegistrySettings {
  readonly allowPrivileged: boolean;
  readonly eventTtlSeconds: number;
  /** Whether webhooks may have match conditions. */
  readonly matchConditions?: boolean;
  /** Minor release whose expression functions are available; default 27. */
  readonly expressionRelease?: number;
  /** Whether the resources of a pod's containers may change while it runs. */
  readonly podResize?: boolean;
  /** Whether network policies have a writable status. */
  readonly networkPolicyStatus?: boolean;
  /** Whether pods may use user namespaces. */
  readonly userNamespaces?: boolean;
  /** Whether containers may use an unmasked /proc mount. */
  readonly procMount?: boolean;
  /** Whether CSI drivers may declare that they mount volumes with SELinux labels. */
  readonly seLinuxMounts?: boolean;
  /** Whether claims may have data sources in other namespaces. */
  readonly foreignSources?: boolean;
  /** False if claims name their data source in a single field only. */
  readonly sourceReferences?: boolean;
  /** False if ReadWriteOncePod volumes are disabled. */
  readonly oncePodVolumes?: boolean;
  /** False if AppArmor annotations of pods are dropped. */
  readonly appArmor?: boolean;
  /** Whether AppArmor profiles are stated by fields. */
  readonly appArmorFields?: boolean;
  /** False if pods are limited to six DNS search paths. */
  readonly expandedDns?: boolean;
  /** False if the pod deletion cost annotation is ignored. */
  readonly deletionCosts?: boolean;
  /** Whether pods may use resource claims, which drivers allocate. */
  readonly resourceClaims?: boolean;
  /** Whether autoscalers may scale to zero pods. */
  readonly scaleToZero?: boolean;
  /** Whether stateful sets may set the maximum number of unavailable pods during an update. */
  readonly statefulUnavailable?: boolean;
  /** False if a claim without a storage class cannot be assigned one later. */
  readonly retroactiveClass?: boolean;
  /** Whether a claim may request less again until it has been expanded. */
  readonly expansionRecovery?: boolean;
  /** Whether names of environment variables may have any printable character but `=`. */
  readonly relaxedVariables?: boolean;
  /** Whether expressions of policies, and of webhooks, are charged for functions of libraries. */
  readonly strictPolicyCosts?: boolean;
  readonly strictWebhookCosts?: boolean;
  /** Whether only services of type LoadBalancer have ingress addresses of load balancers. */
  readonly ownBalancerStatus?: boolean;
  /** Whether limited priority levels may have zero shares. */
  readonly zeroShares?: boolean;
  /** Whether hooks may sleep for zero seconds. */
  readonly zeroSleeps?: boolean;
  /** False if the completions of an indexed job are immutable. */
  readonly elasticJobs?: boolean;
  /** Whether indexes of a job may fail without the whole job. */
  readonly failedIndexes?: boolean;
  /** Whether jobs have a policy of when to replace pods, and count their terminating pods. */
  readonly podReplacement?: boolean;
  /** Whether jobs may succeed before all of their indexes have. */
  readonly jobSuccess?: boolean;
  /** Whether jobs may have other controllers, whose status updates are validated strictly. */
  readonly managedJobs?: boolean;
  /** Whether environment variables may refer to all addresses of the node. */
  readonly hostIps?: boolean;
  /** Whether ingress addresses of load balancers state how traffic arrives. */
  readonly balancerModes?: boolean;
  /** Whether persistent volumes record when their phase changed. */
  readonly phaseTimes?: boolean;
  /** False if evicted pods get no condition with the reason. */
  readonly disruptionConditions?: boolean;
  /**
   * False if the garbage collector is off: then a deletion leaves dependents alone, whatever policy it
   * requests.
   */
  readonly garbageCollection?: boolean;
  /** Called for each certificate issued to a client that requested a duration. */
  readonly certificateIssued?: (signerName: string, honored: boolean) => void;
  /** Called for each update with whether only timestamps of managed fields differ. */
  readonly timesCompared?: (outcome: TimesComparison, seconds: number) => void;
}

export interface Column<T> {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string;
  readonly doc: string;
  /** Rows have the cell, but no column is declared for it; kube-apiserver does this for one kind. */
  readonly undeclared?: boolean;
  /** Columns of priority 0 are always shown, others with `-o wide`. */
  readonly priority?: number;
  /** Null leaves the cell empty. */
  cell(obj: T, now: Date): string | number | bigint | boolean | null;
}

/** A write that goes through `…/name/<subresource>` and touches only part of the object. */
export interface PartSubresource<T extends ApiObject> {
  /** Builds the object to store from what the client sent and the stored object. */
  merge(sent: T, old: T, ctx: RequestContext): T;
  validate?(obj: T, old: T, ctx: RequestContext): FieldError[];
  /** Validation that can take long: other work runs between the steps. */
  validateInSteps?(obj: T, old: T, ctx: RequestContext, earlier: readonly FieldError[]): Steps<FieldError[]>;
  readonly verbs?: readonly ("get" | "update" | "patch")[];
  /** The kind in discovery, if it differs from the object's kind. */
  readonly kind?: string;
  readonly kindGroup?: { readonly group: string; readonly version: string };
  /**
   * Fields (such as `spec` or `metadata.labels`) that a write of the subresource resets, so that its manager
   * never owns them.
   */
  readonly resets?: readonly string[];
  /** How often metadata is validated again here; overrides the kind's metaChecks. */
  readonly metaChecks?: Pick<MetaChecks, "asNew" | "asChange">;
  /** Responses of this subresource are never rendered as a table. */
  readonly untabled?: boolean;
}

export interface MetaChecks {
  /** On creation; default 1. With 0 any valid path segment is accepted as a name. */
  readonly onCreate?: 0 | 1 | 2;
  /** On an update, as if the object were new; default 0. */
  readonly asNew?: 0 | 1 | 2;
  /** On an update, against the old object; default 1. */
  readonly asChange?: 0 | 1;
  /**
   * On an update, the whole object is validated twice as if it were new, before metadata is compared with the
   * old one.
   */
  readonly wholeTwice?: boolean;
  /** Finalizers need not be qualified names. */
  readonly anyFinalizer?: boolean;
}

/** Reservations held for a write that is still pending. */
export interface PendingReservations {
  /** Deleted by the write itself. */
  readonly consumes: readonly Reservation[];
  /** Reports the outcome: the revision of the write, or undefined if it did not happen. */
  settle(revision?: Revision): void;
}

export interface Strategy<T extends ApiObject = ApiObject> {
  /**
   * Defined at run time: there is no binary form and no strategic merge patch, list items carry their type,
   * and discovery lists verbs and subresources in the order of definitions.
   */
  readonly custom?: boolean;
  /** Whether the kind itself is being deleted: then no objects can be created. */
  terminating?(): boolean;
  /** Plural, lower case, as in paths. */
  readonly resource: string;
  readonly singular: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly scope: "Namespaced" | "Cluster";
  /** The schema of the stored version. */
  readonly hub: KindSchema;
  readonly served?: readonly Served<T>[];
  /** The feature gate that enables the kind. */
  readonly gate?: string;
  /** Neither stored nor cached unless enabled by --runtime-config. */
  readonly onlyIfServed?: boolean;
  /** Path of the keys in the store if it differs from the resource's name. */
  readonly storagePath?: string;
  readonly verbs?: readonly Verb[];
  /** A PUT to a name that does not exist creates it. */
  readonly createOnUpdate?: boolean;
  /** An update without a resourceVersion is refused. */
  readonly conditionalUpdate?: boolean;
  /** Changes other than of metadata and status increment metadata.generation. */
  readonly generation?: boolean;
  /** Status changes increment it as well: the kind has no status subresource. */
  readonly generationCountsStatus?: boolean;
  /**
   * The kind has a status that only `/status` writes: whether creation clears or keeps a status that was
   * sent.
   */
  readonly status?: "cleared" | "kept";
  /** Fields that a write of the object itself resets; by default the status, if the kind has one. */
  readonly resets?: readonly string[];
  /** The group in validation errors, if it differs from the requested group. */
  readonly errorGroup?: string;
  /**
   * How often kube-apiserver validates metadata of this kind again in the strategy, in addition to the
   * generic registry: it reports such errors more than once, and clients compare them.
   */
  readonly metaChecks?: MetaChecks;
  /** A deletion returns the object instead of a Status. */
  readonly returnsDeleted?: boolean;
  /** Admission of a deletion sees the object's UID among the preconditions. */
  readonly deletedByUid?: boolean;

  /**
   * Applies defaults; also to stored objects, which another program or an older release with fewer defaults
   * may have written.
   */
  defaults?(obj: T, ctx: Pick<RequestContext, "dialect" | "settings">): void;
  /** Versions that are no longer served but may be stored, and how JSON of them is converted. */
  readonly formerVersions?: Readonly<Record<string, (stored: JsonObject) => JsonObject>>;
  /**
   * Restores, after an object was read, fields that the binary form omits and that other servers of this API
   * do not store.
   */
  restore?(obj: T): void;
  /** Called before a new object is prepared, for work that has to be awaited. */
  beforeCreate?(ctx: RequestContext): Promise<void>;
  prepareForCreate?(obj: T, ctx: RequestContext): void;
  prepareForUpdate?(obj: T, old: T, ctx: RequestContext): void;
  /**
   * Reserves exclusive resources of the prepared object, such as addresses and ports. Not called in a dry
   * run.
   */
  reserve?(obj: T, old: T | undefined, ctx: RequestContext): Promise<PendingReservations | undefined>;
  /**
   * Validates whether requested resources are available; its errors are returned alone, before any other
   * validation.
   */
  precheck?(obj: T, old: T | undefined, ctx: RequestContext): readonly FieldError[];
  /** Validates a new object beyond its metadata and its schema. */
  validate?(obj: T, ctx: RequestContext): FieldError[];
  /** Validates a change; without it, a changed object is validated like a new one. */
  validateUpdate?(obj: T, old: T, ctx: RequestContext): FieldError[];
  /**
   * Validation of new and changed objects that can take long: other work runs between the steps. It knows the
   * errors found earlier, such as those of the metadata.
   */
  validateInSteps?(
    obj: T,
    old: T | undefined,
    ctx: RequestContext,
    earlier: readonly FieldError[],
  ): Steps<FieldError[]>;
  /** Called after a change of the object was stored. */
  updated?(obj: T, old: T, ctx: RequestContext): void;
  warnings?(obj: T, old: T | undefined, ctx: RequestContext): string[];
  /** Rule for names. Default: a DNS subdomain. */
  readonly validateName?: NameRule;
  /** `generateName` is used as the name, without a suffix. */
  readonly plainGeneratedNames?: boolean;
  /** Rule for names that depends on the object. */
  nameRule?(obj: T): NameRule;
  /**
   * Returns the grace period of a deletion in seconds, from the requested one and the object; undefined
   * deletes immediately.
   */
  graceSeconds?(obj: T, requested: number | undefined, ctx: RequestContext): number | undefined;
  /**
   * Set if the first deletion only marks the object, which is deleted once nothing blocks it: makes further
   * changes of the marked object. Called with the finalizers the deletion requests.
   */
  beginDeletion?(obj: T, ctx: RequestContext, finalizers: readonly string[] | undefined): void;
  /** Whether something other than metadata.finalizers blocks the deletion of an object. */
  deletionBlocked?(obj: T): boolean;
  /** Deletions without a propagation policy orphan dependents; clients are warned with the text. */
  readonly orphansDependents?: { readonly warning?: string };
  /** Objects of this kind have no dependents, so deletions need no propagation policy. */
  readonly withoutDependents?: boolean;
  /** Fields for field selectors, in addition to metadata.name and metadata.namespace. */
  fields?(obj: T): Record<string, string>;
  /**
   * Those of the fields whose selectors match few of many objects: indexed from the start if there are many
   * objects.
   */
  readonly indexedFields?: readonly string[];
  /**
   * Replaces the object in error texts that would show it: responses and the audit log must not contain it.
   */
  readonly redacted?: string;
  /** There may be a million objects: they are not cached in memory if the store supports direct reads. */
  readonly veryMany?: boolean;
  /**
   * kube-apiserver serves the kind without a watch cache: its watches send no bookmarks, and `limit` holds
   * even at resourceVersion=0.
   */
  readonly uncachedSemantics?: boolean;
  /** By neutral group: the names of fields in that group, and their names in `fields()`. */
  readonly fieldAliases?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  ttlSeconds?(obj: T, ctx: RequestContext): number;
  readonly columns?: readonly Column<T>[];
  /** Returns conditions of the object's row in a table. */
  rowConditions?(obj: T): readonly TableRowCondition[] | undefined;
  /** Returns why the object of this name cannot be deleted. */
  deletionForbidden?(name: string): string | undefined;
  /** Order of the rows in a table; by name without it. */
  rowOrder?(one: T, other: T): number;
  /** Annotations internal to the server: omitted from tables and metadata-only responses. */
  readonly ownAnnotations?: readonly string[];
  readonly subresources?: Readonly<Record<string, PartSubresource<T>>>;
  readonly scale?: ScaleView<T>;
}

/** Desired and observed replicas, for kinds that can be scaled. */
export interface ScaleView<T extends ApiObject> {
  /** Path of the number of replicas; default `spec`, `replicas`. */
  readonly replicasPath?: readonly string[];
  /** The path in all versions of the kind, by API version; null in versions without scale. */
  readonly replicasPaths?: Readonly<Record<string, readonly string[] | null>>;
  /** The kind validates the number itself; otherwise it must not be negative. */
  readonly ownRules?: boolean;
  /** Returns undefined if the object has none: then replicas can be set, but not read. */
  replicas(obj: T): number | undefined;
  setReplicas(obj: T, replicas: number): void;
  observed(obj: T): number;
  /** Returns the label selector of the counted objects, as text. */
  selector(obj: T): string;
}

export type Verb = "create" | "delete" | "deletecollection" | "get" | "list" | "patch" | "update" | "watch";
export const allVerbs: readonly Verb[] = [
  "create",
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "update",
  "watch",
];

/** Declares a strategy with its type parameter checked, and erases the parameter for lists of strategies. */
export const strategy = <T extends ApiObject>(given: Strategy<T>): Strategy => given;
