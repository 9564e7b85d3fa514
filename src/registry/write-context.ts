// The context of one write: the request as hooks see it, the state they share, and the attributes for
// admission.
import {
  type AdmissionAttributes,
  type Equivalent,
  type Operation,
  type UserInfo,
  type VersionedObjects,
  WriteState,
  replaceContents,
} from "#admission";
import type { ObjectMeta } from "#api";
import { badRequest, deepCopy } from "#base";
import { groupName } from "#dialect";
import { applyDefaults, stringifyJson } from "#schema";
import { ConvertedObjects } from "./conversions.ts";
import { decodeJson } from "./encoding.ts";
import type { WriteRequest } from "./request.ts";
import type { Endpoint, Resource } from "./resource.ts";
import type { ApiObject, RequestContext } from "./strategy.ts";

/** Created once per write; shared by its hooks. */
export const writeContext = (request: WriteRequest): RequestContext => ({
  dialect: request.endpoint.resource.dialect,
  now: request.now,
  user: request.user.name,
  identity: request.user,
  dryRun: request.dryRun,
  served: request.endpoint.served,
  settings: request.settings,
  state: new WriteState(),
});

/**
 * An object that admission sees instead of the stored one, such as the scale of a workload. Mutating
 * admission sees the view that the client made, validating admission that of the object to be stored.
 */
export interface AdmissionView {
  readonly endpoint: Pick<Endpoint, "group" | "version" | "kind" | "schema">;
  /** During mutating admission: the requested view and the current one. */
  readonly requested: { object: ApiObject; readonly old: ApiObject } | undefined;
  /** Returns the view of a stored object. */
  show(object: ApiObject): ApiObject;
  /** Applies the view as mutating admission left it to the object. */
  settle(object: ApiObject, old: ApiObject): void;
}

/** Admission's view of a write. The registry replaces `object` when a later step builds another one. */
export class WriteAttributes implements AdmissionAttributes {
  readonly operation: Operation;
  readonly resource: AdmissionAttributes["resource"];
  readonly kind: AdmissionAttributes["kind"];
  name: string;
  object: AdmissionAttributes["object"];
  readonly #request: WriteRequest;
  readonly #context: RequestContext;
  readonly #old: ApiObject | (() => ApiObject) | undefined;
  readonly #view: AdmissionView | undefined;
  /** Set where a webhook converts between versions. */
  readonly #converted: ConvertedObjects | undefined;

  constructor(
    request: WriteRequest,
    context: RequestContext,
    operation: Operation,
    name: string,
    object: ApiObject | undefined,
    old: ApiObject | (() => ApiObject) | undefined,
    view?: AdmissionView,
  ) {
    const { group, version, resource } = request.endpoint;
    const { kind } = resource.hub;
    this.operation = operation;
    this.resource = { group, version, resource: resource.strategy.resource };
    this.kind = { group: groupName(resource.dialect, kind), version: kind.version, kind: kind.kind };
    this.name = name;
    this.object = object as AdmissionAttributes["object"];
    this.#request = request;
    this.#context = context;
    this.#old = old;
    this.#view = view;
    const { between } = resource.conversion ?? {};
    this.#converted = between && new ConvertedObjects(between);
  }

  get requestKind(): AdmissionAttributes["kind"] {
    const { group, version, kind } = this.#view?.endpoint ?? this.#request.endpoint;
    return { group, version, kind };
  }
  get equivalents(): readonly Equivalent[] {
    const { resource } = this.#request.endpoint;
    if (!this.#view) return equivalentsOf(resource);
    const { requestKind } = this;
    return scalable(resource).map((each) => ({ ...each, kind: requestKind }));
  }
  get custom(): boolean | undefined {
    return this.#request.endpoint.resource.strategy.custom;
  }
  get subresource(): string {
    return this.#request.subresource;
  }
  get namespace(): string {
    return this.#request.namespace;
  }
  get pathName(): string | undefined {
    return this.#request.pathName;
  }
  get user(): UserInfo {
    return this.#request.user;
  }
  get dryRun(): boolean {
    return this.#request.dryRun;
  }
  get options(): AdmissionAttributes["options"] {
    const kind = optionKinds[this.operation];
    if (!kind) return this.#request.options();
    const group = groupName(this.#request.endpoint.resource.dialect, { group: "meta", branded: true });
    return { kind, apiVersion: `${group}/v1`, ...this.#request.options() };
  }
  get span(): WriteRequest["span"] {
    return this.#request.span;
  }
  get deadline(): number | undefined {
    return this.#request.deadline;
  }
  get state(): WriteState {
    return this.#context.state;
  }
  /** Parsed on first access: most plugins read only the kind. */
  get oldObject(): AdmissionAttributes["oldObject"] {
    return (typeof this.#old === "function" ? this.#old() : this.#old) as AdmissionAttributes["oldObject"];
  }
  warn(text: string): void {
    this.#request.warn(text);
  }
  annotate(key: string, value: string, level?: "Request"): void {
    this.#request.annotate(key, value, level);
  }
  /** The object that mutating admission may change: the stored one, or the view instead of it. */
  get changeable(): ApiObject {
    return this.#view?.requested?.object ?? (this.object as unknown as ApiObject);
  }
  versioned(apiVersion: string): ReturnType<AdmissionAttributes["versioned"]> {
    const view = this.#view;
    if (view?.requested)
      return deepCopy({ object: view.requested.object, oldObject: view.requested.old }) as never;
    const show = view ? (object: ApiObject) => view.show(object) : this.#endpoint(apiVersion).fromHub;
    if (this.#converted && !view && apiVersion !== this.#request.endpoint.resource.hubVersion)
      return this.#convertedTo(apiVersion, this.#converted);
    const shown = (object: AdmissionAttributes["object"]): AdmissionAttributes["object"] =>
      object && this.#sent(show(deepCopy(object) as unknown as ApiObject));
    return { object: shown(this.object), oldObject: shown(this.oldObject) };
  }
  async #convertedTo(apiVersion: string, converted: ConvertedObjects): Promise<VersionedObjects> {
    const shown = async (object: AdmissionAttributes["object"]): Promise<AdmissionAttributes["object"]> =>
      object && this.#sent(await converted.get(object as unknown as ApiObject, apiVersion));
    return { object: await shown(this.object), oldObject: await shown(this.oldObject) };
  }
  /** A new custom resource has no creation timestamp until it is assigned one. */
  #sent(object: ApiObject): Record<string, unknown> {
    const { custom } = this.#request.endpoint.resource.strategy;
    if (custom && this.operation === "CREATE" && !object.metadata.creationTimestamp)
      delete (object.metadata as Partial<ObjectMeta>).creationTimestamp;
    return object as never;
  }
  replace(object: Record<string, unknown>, apiVersion: string): Promise<void> | undefined {
    if (!this.object) throw new Error(`a ${this.operation} has no object to replace`);
    if (this.#view?.requested) {
      this.#view.requested.object = decodeJson(this.#view.endpoint.schema, stringifyJson(object));
      return undefined;
    }
    const { schema, resource, toHub } = this.#endpoint(apiVersion);
    const decoded = decodeJson(schema, stringifyJson(object));
    applyDefaults(schema, decoded as never);
    if (this.#converted && apiVersion !== resource.hubVersion)
      return this.#replaceConverted(this.object, decoded, this.#converted);
    const hub = toHub(decoded);
    resource.strategy.defaults?.(hub, this.#context);
    replaceContents(this.object, hub as unknown as Record<string, unknown>);
    return undefined;
  }
  async #replaceConverted(
    object: Record<string, unknown>,
    next: ApiObject,
    converted: ConvertedObjects,
  ): Promise<void> {
    const { hub, hubVersion } = this.#request.endpoint.resource;
    const read = (made: ApiObject): ApiObject => decodeJson(hub, stringifyJson(made));
    replaceContents(object, { ...(await converted.from(next, hubVersion, read)) });
  }
  #endpoint(apiVersion: string): Endpoint {
    const { resource } = this.#request.endpoint;
    const endpoint = resource.endpoints.find((each) => each.apiVersion === apiVersion);
    if (!endpoint) throw badRequest(`${resource.strategy.resource} are not served in version ${apiVersion}`);
    return endpoint;
  }
}

const optionKinds: Partial<Record<Operation, string>> = {
  CREATE: "CreateOptions",
  UPDATE: "UpdateOptions",
  DELETE: "DeleteOptions",
};

/** The served versions that have a scale. */
const scalable = ({ endpoints, strategy }: Resource): readonly Equivalent[] =>
  equivalentsOf({
    strategy,
    endpoints: endpoints.filter(({ apiVersion }) => strategy.scale?.replicasPaths?.[apiVersion] !== null),
  });

const equivalentsOf = ({
  endpoints,
  strategy,
}: Pick<Resource, "endpoints" | "strategy">): readonly Equivalent[] =>
  endpoints.map(({ group, version, kind }) => ({
    resource: { group, version, resource: strategy.resource },
    kind: { group, version, kind },
  }));
